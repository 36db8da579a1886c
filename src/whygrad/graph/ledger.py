"""Who wrote to which variable, where, and at which steps."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from whygrad.graph.node import VariableId
from whygrad.source import SourceSpan


class WriterKind(StrEnum):
    OPTIMIZER = "optimizer"
    CONSTRAINT = "constraint"  # of a weight, applied by the optimizer
    LAYER = "layer"  # statistics, counters, a layer's own state
    METRIC = "metric"
    RESTORE = "restore"  # a checkpoint, a file of weights
    EDIT = "edit"  # one of `wg.edit`
    CALLBACK = "callback"
    USER = "user"  # an expression of the user's own
    OTHER = "other"  # the framework, for itself


@dataclass(frozen=True, slots=True)
class Stretch:
    """Steps in a row: `first`, `first + every`, ... `last`. `every` is 0 where only some of them are meant."""

    first: int
    last: int
    every: int = 1

    def __contains__(self, step: int) -> bool:
        if not self.first <= step <= self.last:
            return False
        return self.every == 0 or (step - self.first) % self.every == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """All writes of one writer to one variable from one place."""

    variable: VariableId
    kind: WriterKind
    writer: str  # the optimizer's or layer's name, the user's call
    method: str  # `assign`, `assign_add`, `scatter_add`, ...
    where: SourceSpan | None = None  # the user's expression around it
    count: int = 0
    steps: tuple[Stretch, ...] = ()  # 0: before the first step
    compiled: bool = False  # traced once, counted by the runs of its function
    conditional: bool = False  # in a branch or loop of a compiled function: `count` is that of its runs

    def at(self, step: int) -> bool:
        """Whether it wrote at this step; of an irregular stretch, whether it may have."""
        return any(step in stretch for stretch in self.steps)

    def began_by(self, step: int) -> bool:
        """Whether some of these writes came before the end of this step."""
        return any(stretch.first <= step for stretch in self.steps)

    def updates_after(self, step: int) -> bool:
        """Whether these are an optimizer's, and some of them came after this step."""
        return self.kind is WriterKind.OPTIMIZER and any(stretch.last > step for stretch in self.steps)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every write that was seen; `ledger.of("decoder/kernel")` has those to one variable.

    A step is one update by an optimizer: what follows it, up to the next tape, belongs to it. In compiled code it is
    one run of the compiled function.
    """

    variables: Mapping[VariableId, str] = field(default_factory=dict)
    writes: tuple[Write, ...] = ()
    steps: int = 0  # how many there were
    dropped: int = 0  # writers beyond the number that is kept
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)  # the lines that the writes stand at

    def of(self, pattern: str) -> Ledger:
        """The writes to variables whose path, or a part of it between slashes, fits: `decoder/kernel`, `*bias`."""
        fitting = {number for number, name in self.variables.items() if _fits(name, pattern)}
        return self._where(lambda write: write.variable in fitting)

    def by(self, writer: str) -> Ledger:
        """The writes of one kind (`optimizer`, `user`, ...) or of writers whose name fits a pattern."""
        return self._where(lambda write: write.kind == writer or _fits(write.writer, writer))

    def at(self, step: int) -> Ledger:
        """The writes of one step."""
        return self._where(lambda write: write.at(step))

    def writers(self, pattern: str) -> tuple[str, ...]:
        """Who writes to a variable, each once: `optimizer adam`, `edit ClipWeights`, `user`."""
        return tuple(dict.fromkeys(f"{write.kind} {write.writer}".strip() for write in self.of(pattern)))

    def name_of(self, write: Write) -> str:
        return self.variables.get(write.variable, "?")

    def __iter__(self) -> Iterator[Write]:
        return iter(self.writes)

    def __len__(self) -> int:
        return len(self.writes)

    def _where(self, test: object) -> Ledger:
        assert callable(test)
        writes = tuple(write for write in self.writes if test(write))
        named = {write.variable for write in writes}
        return replace(
            self, writes=writes, variables={key: name for key, name in self.variables.items() if key in named}
        )


def _fits(name: str, pattern: str) -> bool:
    parts = name.split("/")
    stretches = {"/".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}
    return any(fnmatch.fnmatchcase(stretch, pattern) for stretch in stretches)
