"""What went wrong loudly: an exception as facts. The text is the user's to read; rules ask for its kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.node import Action, VariableId
from whygrad.source import SourceSpan


class FailureKind(StrEnum):
    """What a framework's exception is about; the backend knows its wording."""

    TAPE_SPENT = "tape-spent"  # a second gradient was asked of a tape that is not persistent
    NO_DERIVATIVE = "no-derivative"  # an op has no derivative, and asking for it raises
    NO_GRADIENTS = "no-gradients"  # an optimizer was given nothing but None
    MISSING_USED = "missing-used"  # something that is None was computed with
    NO_LOSS = "no-loss"
    NOT_A_SOURCE = "not-a-source"  # a gradient was asked for something that is no tensor
    SYMBOLIC_SOURCE = "symbolic-source"  # a tape was to watch a tensor that has no value
    SYMBOLIC_INPUT = "symbolic-input"  # a function was given a tensor that has no value
    STATE_ADDED_LATE = "state-added-late"  # a layer made a variable or layer when it was called
    VARIABLE_IN_TRACE = "variable-in-trace"  # a function made a variable when it was traced again
    VARIABLE_OF_TRACED = "variable-of-traced"  # a variable was to hold a value that only the traced function has
    SPARSE_AS_DENSE = "sparse-as-dense"
    SHAPES_DIFFER = "shapes-differ"  # values of different shapes were to be added up, or one put in place of the other
    LABELS_LARGER = "labels-larger"  # a loss was given labels with more axes than predictions
    LABELS_MISFIT = "labels-misfit"  # a loss was given labels that its predictions have no place for
    LABELS_OF_OTHER_TYPE = "labels-of-other-type"  # whole numbers where fractions are computed with, or the other way
    ROWS_DIFFER = "rows-differ"  # inputs and targets are not as many
    NOT_NUMBERS = "not-numbers"  # data that are text or objects were to be computed with
    LENGTHS_DIFFER = "lengths-differ"  # lists of different lengths were gone through together
    WRAPPED_VARIABLE = "wrapped-variable"  # a tape was to watch a wrapper instead of the variable in it
    VARIABLE_CALLED = "variable-called"  # `variable.value()`
    LIST_CALLED = "list-called"  # `optimizer.variables()`
    OLD_OPTIMIZERS = "old-optimizers"
    OLD_FILE = "old-file"
    OLD_WEIGHTS_NAME = "old-weights-name"
    OLD_MODEL_NAME = "old-model-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A variable, or a value with gradients in it; a variable that gradients are collected in is both."""

    variable: VariableId | None = None
    gradient_of: frozenset[VariableId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """Something that the expression which raised was given."""

    expression: str
    held: tuple[Held, ...]  # one, or those of a list in their order
    is_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An exception that ended the run or a gradient request."""

    type_name: str
    message: str  # as the user would read it
    where: SourceSpan | None = None  # the innermost expression of user code
    kind: FailureKind | None = None  # None: none that the backend knows
    attribute: str | None = None  # the missing name
    object_type: str | None = None  # of a missing name, `module.Class` of the object asked
    object_bases: tuple[str, ...] = ()  # the same of the classes it is derived from
    argument: str | None = None  # the keyword that was refused
    function: str | None = None  # by which function
    called: str | None = None  # what the expression called, as `module.function`: the first frame beneath it
    similar: str | None = None  # a name that the object has, and that differs in case, underscores or a plural only
    outdated: str | None = None  # what the installed version of the framework does not have, where an older one had it
    instead: str | None = None  # what that version is to be given instead
    op: str | None = None  # the op that it is about, in the framework's own word
    action: Action | None = None  # what the op that refused its inputs would have computed
    label: tuple[int, int] | None = None  # one that was refused, and how many classes there are
    shapes: tuple[tuple[int | None, ...], ...] = ()  # of the two values that do not fit; labels first, if one is
    operands: tuple[Operand, ...] = ()  # what the expression was given, of variables and gradients
