"""The first NaN or Inf of a recording: which rule explains it, and the words they share."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import OpKind, Recording, VariableId
from whygrad.graph.nonfinite import NonfiniteBorn, NonfiniteSpread, Occurrence, ValueFacts
from whygrad.rules.rule import Finding
from whygrad.rules.wording import listing, text_of, variable_name
from whygrad.source import SourceSpan, source_line

NORMS = frozenset({"norm", "norm_v2", "reduce_euclidean_norm", "euclidean_norm", "l2_norm", "pairwise_distance"})
DEVIATIONS = frozenset({"reduce_std", "std", "stddev", "reduce_stddev"})
OVERFLOWING = frozenset({OpKind.ELEMENTWISE, OpKind.CONTRACT, OpKind.REDUCE, OpKind.MOVE, OpKind.CAST})


def cause_of(born: NonfiniteBorn) -> str:
    """The rule that a birth belongs to; exactly one."""
    if born.is_masked:
        return "nan-where"
    if born.finite_when_wider:
        return "nan-float16"
    if born.kind is OpKind.REDUCE and any(facts.size == 0 for facts in born.inputs):
        return "nan-empty-reduce"
    if born.kind in (OpKind.SQRT, OpKind.DIVIDE, OpKind.REDUCE, OpKind.ELEMENTWISE, OpKind.POWER):
        called = functions_at(born.where)
        if called & DEVIATIONS:
            return "nan-std"
        if called & NORMS or born.name == "EuclideanNorm":
            return "nan-norm"
    if born.kind in _BY_KIND:
        return _BY_KIND[born.kind]
    if born.name in _BY_NAME:
        return _BY_NAME[born.name]
    if born.kind in OVERFLOWING and born.output is not None and (not born.output.nans or _is_huge(born)):
        grown = "exploding-gradient" if born.when.step > 1 else "nan-overflow"
        return "nan-exp" if born.fed_by is OpKind.EXP else grown
    return "nan-op"


def _is_huge(born: NonfiniteBorn) -> bool:
    """Whether a product of the inputs is too large for its dtype: infinities of both signs then add up to NaN."""
    sizes = [max(abs(facts.low or 0.0), abs(facts.high or 0.0)) for facts in born.inputs]
    return max(sizes, default=0.0) > _HUGE


_HUGE = 1e15


_AT_ZERO = frozenset({OpKind.SQRT, OpKind.LOG, OpKind.DIVIDE, OpKind.POWER})
_BY_KIND = {
    OpKind.LOG: "nan-log",
    OpKind.SQRT: "nan-sqrt",
    OpKind.DIVIDE: "nan-division",
    OpKind.POWER: "nan-pow",
    OpKind.EXP: "nan-exp",
    OpKind.INVERSE_TRIG: "nan-acos",
    OpKind.SOFTMAX: "nan-exp",
}
_BY_NAME = {
    **dict.fromkeys(("Expm1", "Sinh", "Cosh"), "nan-exp"),
    **dict.fromkeys(("FloorMod", "Mod", "Atan2"), "nan-division"),
}


def functions_at(span: SourceSpan | None) -> frozenset[str]:
    """The last names of the function called at a span; of all calls of its line where columns are not known."""
    if span is None:
        return frozenset()
    if span.column is None or span.end_column is None:
        tree = _parsed((source_line(span.file, span.line) or "").strip().removesuffix(":"))
        nodes = [] if tree is None else list(ast.walk(tree))
    else:
        lines = [source_line(span.file, number) or "" for number in range(span.line, span.last_line + 1)]
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        tree = _parsed("(" + "\n".join(lines) + "\n)")
        first = tree.body[0] if tree is not None and tree.body else None
        nodes = [first.value] if isinstance(first, ast.Expr) else []
    return frozenset(_last_name(node.func) for node in nodes if isinstance(node, ast.Call))


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def births(recording: Recording, rule: str) -> Iterator[NonfiniteBorn]:
    """The births that one rule explains."""
    return (born for born in recording.events_of(NonfiniteBorn) if cause_of(born) == rule)


def spread_of(recording: Recording, born: NonfiniteBorn) -> NonfiniteSpread | None:
    """The spread that carried a birth on to other variables."""
    ours = set(born.when.variables)
    return next((s for s in recording.events_of(NonfiniteSpread) if ours & set(s.culprits)), None)


def finding(
    recording: Recording,
    born: NonfiniteBorn,
    *,
    because: str,
    label: str,
    help: str,
    notes: tuple[str, ...] = (),
    related: tuple[Label, ...] = (),
) -> Finding:
    """The finding of one birth, with the evidence that every birth has."""
    asked = born.when.request
    return Finding(
        message=f"{symptom(recording, born.when)}: {'' if born.exact else 'likely '}{because}",
        primary=None if born.where is None else Label(born.where, label),
        variables=names(recording, born.when.variables),
        related=related if asked is None else (*related, Label(asked, "seen here")),
        notes=(*notes, *evidence(born)),
        help=help,
        steps=Steps(born.when.seen, max(born.when.of, born.when.seen)),
        severity=Severity.NOTE if born.when.went_on else None,
        certain=born.exact,
    )


def explain(
    recording: Recording, rule: str, words: Callable[[NonfiniteBorn], tuple[str, str, str]]
) -> Iterator[Finding]:
    """One finding for each birth of a rule; `words` gives why, what happens here, and what to write instead."""
    for born in births(recording, rule):
        because, label, help = words(born)
        yield finding(recording, born, because=because, label=label, help=help)


def symptom(recording: Recording, when: Occurrence) -> str:
    """What the user sees."""
    if when.loss_is_bad:
        return f"the loss is {when.symptom}"
    variables = names(recording, when.variables)
    return f"the gradient of {listing(variables)} is {when.symptom}" if variables else f"a gradient is {when.symptom}"


def names(recording: Recording, variables: tuple[VariableId, ...]) -> tuple[str, ...]:
    known = (recording.variables.get(variable) for variable in variables)
    return tuple(dict.fromkeys(variable_name(variable) for variable in known if variable is not None))


def evidence(born: NonfiniteBorn) -> tuple[str, ...]:
    """The numbers that went in, the examples, when."""
    found = []
    if born.inputs:
        what = "the gradient of" if born.backward else "here"
        found.append(f"{what} `{born.name}`: input {described(born.inputs[0])}" + _second(born))
    if born.kind in _AT_ZERO and any(facts.dtype == "float16" and facts.zeros for facts in born.inputs):
        found.append("float16 has no number between 0 and 6e-8: a smaller epsilon is zero there")
    if born.backward and not born.is_masked:
        found.append("the values on the way forward are finite, the derivative is not")
    if born.rows and born.batch is not None:
        found.append(f"to blame: {_rows(born)} of the batch")
    if born.layers:
        found.append(f"inside layer `{born.layers[-1]}`")
    if born.when.step > 1:
        found.append(f"first at gradient request {born.when.step} of this place")
    if not born.exact:
        found.append("found by running the step again, from a state that may not be quite the same")
    return (*found, *what_became(born.when))


def what_became(when: Occurrence) -> tuple[str, ...]:
    """Of bad gradients that were not applied."""
    if not when.skipped:
        return ()
    if when.went_on:
        return ("these gradients were not applied, and training went on",)
    return ("every step so far was bad and was skipped: the weights do not move at all",)


def _second(born: NonfiniteBorn) -> str:
    if len(born.inputs) < 2 or born.kind not in (OpKind.DIVIDE, OpKind.POWER):
        return ""
    return f", {'divisor' if born.kind is OpKind.DIVIDE else 'exponent'} {described(born.inputs[1])}"


def _rows(born: NonfiniteBorn) -> str:
    if len(born.rows) == born.batch and born.batch > 1:
        return "every example"
    rows = ", ".join(map(str, born.rows))
    more = ", ..." if len(born.rows) >= 8 else ""
    return f"example{'s' * (len(born.rows) > 1)} {rows}{more}"


def described(facts: ValueFacts) -> str:
    """`float32 (8, 1) from 0 to 28.5, 1 of 8 zero`."""
    if facts.size == 0:
        return f"{facts.dtype} {_shape(facts)}, which has no elements"
    if facts.low is None or facts.high is None:
        return f"{facts.dtype} {_shape(facts)} without a finite element"
    values = f"{facts.low:.4g}" if facts.low == facts.high else f"from {facts.low:.4g} to {facts.high:.4g}"
    counts = [f"{count} {word}" for count, word in ((facts.zeros, "zero"), (facts.negatives, "negative")) if count]
    tail = f", {' and '.join(counts)} of {facts.size}" if counts and facts.size > 1 else ""
    return f"{facts.dtype} {_shape(facts)} {values}{tail}"


def _shape(facts: ValueFacts) -> str:
    return "scalar" if not facts.shape else str(facts.shape)


def has_zero(born: NonfiniteBorn, position: int = 0) -> bool:
    return len(born.inputs) > position and born.inputs[position].zeros > 0


def has_negative(born: NonfiniteBorn, position: int = 0) -> bool:
    return len(born.inputs) > position and born.inputs[position].negatives > 0


def small(born: NonfiniteBorn, usual: str) -> str:
    """A number that keeps a value away from zero; what is usual is zero in float16."""
    return "1e-3" if any(facts.dtype == "float16" for facts in born.inputs) else usual


def expression(born: NonfiniteBorn) -> str:
    return text_of(born.where)
