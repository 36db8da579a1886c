"""Names that hold a variable when they are bound to a value that was computed: `for v in variables: v = v * 2`.

Which name takes the value of an instruction is read from the bytecode; whether anybody reads the name afterwards is a
question to the source, and waits for the end.
"""

from __future__ import annotations

import dis
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from whygrad.graph.event import VariableStep
from whygrad.graph.node import OpKind, VariableId
from whygrad.observe.fact import OpFact
from whygrad.observe.place import Place, span

_MOST_CODES = 4096
_LOOKS = 16  # at one place: a name that held no variable so often is not looked at again


@dataclass(slots=True, eq=False)
class _Site:
    """An instruction whose value is bound to a name at once."""

    name: str
    place: Place = None
    looks: int = 0
    closed: bool = False
    held: Counter[int] = field(default_factory=Counter)  # variables that the name held, how often
    made: set[int] = field(default_factory=set)  # tensors of the evaluation that goes on: a call may run several ops


class BoundNames:
    def __init__(self, variable_of: Callable[[Any], int | None]) -> None:
        self._variable_of = variable_of
        self.sites: dict[int, dict[int, _Site]] = {}  # by the id of the code and the offset; mostly there are none
        self._codes: deque[CodeType] = deque()  # kept: another one could get the id of one that is gone

    def look(self, op: OpFact, frame: FrameType) -> None:
        """Called after each op that computes something, with the user's frame around it."""
        sites = self.sites.get(id(frame.f_code))
        if sites is None:
            sites = self._learn(frame.f_code)
        site = sites.get(frame.f_lasti)
        if site is None or site.closed:
            return
        if op.kind is OpKind.WRITE:  # `v = v.assign(...)` has done its work
            site.closed = True
            site.held.clear()
            return
        variable = self._variable_of(frame.f_locals.get(site.name))
        if variable is not None:
            if site.made.isdisjoint(op.inputs):
                site.place = op.place
                site.held[variable] += 1
                site.made.clear()
            site.made.update(fact.id for fact in op.outputs)
        elif not site.held:
            site.looks += 1
            site.closed = site.looks == _LOOKS

    def events(self) -> Iterator[VariableStep]:
        for sites in list(self.sites.values()):
            for site in dict.fromkeys(sites.values()):
                for variable, times in site.held.items():
                    yield VariableStep(
                        variable=VariableId(variable), where=span(site.place), seen=times, bound_to=site.name
                    )

    def _learn(self, code: CodeType) -> dict[int, _Site]:
        if len(self._codes) >= _MOST_CODES:
            del self.sites[id(self._codes.popleft())]
        self._codes.append(code)
        sites = self.sites[id(code)] = {}
        for offsets, name in names_bound(code).items():
            sites.update(dict.fromkeys(offsets, _Site(name)))
        return sites


def names_bound(code: CodeType) -> dict[range, str]:
    """The name that takes the value of each instruction, by the offsets at which a frame may be meanwhile.

    Only of names that may hold something before, and that are not read next: no need to look at the others.
    """
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    bindings = Counter([*arguments, *code.co_freevars])
    found: dict[range, str] = {}
    last: dict[str, tuple[range, tuple[int, int]]] = {}  # what each name was bound to last, and where
    before = 0
    for instruction in dis.get_instructions(code):
        if instruction.opname == "EXTENDED_ARG":
            continue
        where = instruction.positions
        at = (where.lineno or 0, where.col_offset or 0) if where is not None else (0, 0)
        for stores, name in _touched(instruction):
            offsets, bound = last.pop(name, (range(0), (0, 0)))
            if not stores and at > bound:
                found.pop(offsets, None)
            if stores:
                offsets = range(before, instruction.offset, 2)  # a call may stand at the caches behind it
                bindings[name] += 1
                found[offsets] = name
                last[name] = offsets, at
        before = instruction.offset
    return {offsets: name for offsets, name in found.items() if bindings[name] > 1}


def _touched(instruction: dis.Instruction) -> Iterator[tuple[bool, str]]:
    """The names that an instruction binds or reads; some versions of Python do two in one."""
    if _TOUCHING.fullmatch(instruction.opname):
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        verbs = [word for word in instruction.opname.split("_") if word in ("LOAD", "STORE")]
        yield from ((verb == "STORE", name) for verb, name in zip(verbs, names, strict=False))


_TOUCHING = re.compile(r"((LOAD|STORE)_(FAST|NAME|GLOBAL|DEREF)_?(CHECK|BORROW)?_?)+")
