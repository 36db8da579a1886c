"""The user's functions that were traced, which Python values they saw then, and whether what was traced ran again."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import graphs_inside
from whygrad.source.position import CodeOwner, file_owner, owner_of, user_frame

_KEPT_NAMES = 64  # of one graph
_KEPT_PARTS = 16  # numbers of one object
_DEPTH = 2  # of objects in objects
_WITHOUT_USERS = ("builtins", "numpy")
_LOOKED_AT = 64  # elements of a dict or list, numbers or not
_SETTINGS = ("types", "argparse")  # the homes of `SimpleNamespace` and `Namespace`


class SeenName(NamedTuple):
    """A Python number or a network as it was when a function was traced that mentions its name."""

    code: CodeType
    holder: dict[str, Any]  # the function's globals, or the attributes of its `self`
    name: str
    value: int | float | weakref.ref[Any]
    attribute: bool

    @property
    def is_network(self) -> bool:
        return isinstance(self.value, weakref.ref)

    @property
    def is_changed(self) -> bool:
        if isinstance(self.value, weakref.ref):
            now = self.holder.get(self.name)
            return now is not self.value() and _is_network(now)
        return bool(self.holder.get(self.name, self.value) != self.value)


class SeenPart(NamedTuple):
    """A Python number in a dict, a list or an object of the user's own, which a traced function reaches by a name."""

    code: CodeType
    holder: dict[str, Any]
    name: str
    key: str | int  # of the number in its object
    value: int | float
    owner: Callable[[], Any]
    attribute: bool

    @property
    def is_rebound(self) -> bool:
        """The name holds another object by now."""
        return self.holder.get(self.name) is not self.owner()

    @property
    def is_changed(self) -> bool:
        return _number_in(self.holder.get(self.name), self.key, self.value) != self.value

    @property
    def text(self) -> str:
        """As it is written: `settings.rate`, `settings['rate']`."""
        return (
            f"{self.name}[{self.key!r}]"
            if type(self.holder.get(self.name)) in (dict, list)
            else f"{self.name}.{self.key}"
        )


class Held(NamedTuple):
    """What an object held when a function that uses it had been traced: it may be gone when that is asked."""

    number: int  # the object's
    kind: type
    numbers: frozenset[str]
    tensors: frozenset[str]  # symbolic ones
    objects: dict[str, Held]  # of classes of the user's


class Tracing(NamedTuple):
    """How one function was traced last."""

    place: Any
    owner: weakref.ref[Any] | None  # the object whose method it is
    scope: dict[str, Any]  # its globals, alive
    graph: weakref.ref[Any] | None
    cells: dict[str, tuple[float, CellType]]  # closed-over names that held a number: that number, and where it was
    closed: dict[str, Held]  # closed-over names that held an object of a class of the user's
    held: Held | None = None  # from the first run on

    def changed_cells(self) -> Iterator[str]:
        """Closed-over names that hold another number now."""
        for name, (before, cell) in self.cells.items():
            now = _content(cell)
            if is_number(now) and not isinstance(now, bool) and now != before:
                yield name


@dataclass(slots=True)
class _Runs:
    """How often a graph ran, and the Python values that were seen while it was traced."""

    names: list[SeenName]
    parts: list[SeenPart]
    count: int = 1


class TracedFunctions:
    def __init__(self) -> None:
        self.began = 0  # the clock when something was traced first
        self.of: dict[CodeType, Tracing] = {}
        self.changed: dict[tuple[CodeType, str, bool], SeenName] = {}  # names that stood for others at a later run
        self.changed_parts: dict[tuple[CodeType, str], SeenPart] = {}
        self._codes: weakref.WeakKeyDictionary[Any, set[CodeType]] = weakref.WeakKeyDictionary()
        self._names: weakref.WeakKeyDictionary[Any, list[SeenName]] = weakref.WeakKeyDictionary()
        self._parts: weakref.WeakKeyDictionary[Any, list[SeenPart]] = weakref.WeakKeyDictionary()
        self._runs: weakref.WeakKeyDictionary[Any, _Runs] = weakref.WeakKeyDictionary()

    def look(
        self, op: FrameType, user: FrameType | None, graph: Any, now: int, place_of: Callable[[FrameType], Any]
    ) -> None:
        """An op is traced into a graph, from a frame of the user's."""
        if compat.is_scratch(graph):
            return
        self.began = self.began or now or 1
        codes = self._codes.setdefault(graph, set())
        while user is not None and user.f_code not in codes and _is_traced(op, user):
            codes.add(user.f_code)
            self._look_in(user, graph, place_of)
            op, user = user, user_frame(user.f_back)

    def _look_in(self, user: FrameType, graph: Any, place_of: Callable[[FrameType], Any]) -> None:
        names = self._names.setdefault(graph, [])
        parts = self._parts.setdefault(graph, [])
        if len(names) < _KEPT_NAMES and len(parts) < _KEPT_NAMES:
            names.extend(_seen_names(user))
            parts.extend(_seen_parts(user))
        known, function = self.of.get(user.f_code), _outermost(graph)
        if known is None or known.graph is None or known.graph() is not function:
            owner = _weakly(user.f_locals.get("self"))
            self.of[user.f_code] = Tracing(
                place_of(user), owner, user.f_globals, _weakly(function), _cells(user), _closed(user)
            )

    def ran(self, graphs: Iterable[Any]) -> None:
        for graph in graphs:
            runs = self._runs.get(graph)
            if runs is None:
                inside = [each for each, _ in graphs_inside(graph)]
                for code in {code for each in inside for code in self._codes.get(each, ())}:
                    self._look_at_owner(code)
                names = [seen for each in inside for seen in self._names.get(each, ())]
                found = [part for each in inside for part in self._parts.get(each, ())]
                # What changed while the function was traced, it did itself.
                parts = [part for part in found if not part.is_changed and not part.is_rebound]
                self._runs[graph] = _Runs(names, parts)
                continue
            runs.count += 1
            for seen in runs.names:
                if seen.is_changed:
                    self.changed.setdefault((seen.code, seen.name, seen.attribute), seen)
            for part in runs.parts:
                if part.is_changed:
                    self.changed_parts.setdefault((part.code, part.text), part)

    def _look_at_owner(self, code: CodeType) -> None:
        traced = self.of[code]
        owner = None if traced.owner is None else traced.owner()
        if owner is not None:
            self.of[code] = traced._replace(held=_held_by(owner))

    def has_values(self, graph: Any) -> bool:
        """Whether Python values were seen while a graph was traced that may be others at its next run."""
        runs = self._runs.get(graph)
        return runs is None or bool(runs.names or runs.parts)

    def repeated(self) -> set[CodeType]:
        """The functions whose Python ran while tracing only, and whose graph ran again after that."""
        found = set[CodeType]()
        for graph, runs in list(self._runs.items()):
            if runs.count > 1:
                found.update(code for each, _ in graphs_inside(graph) for code in self._codes.get(each, ()))
        for graph, codes in list(self._codes.items()):
            if "Dataset" in str(getattr(graph, "name", "")):  # run by the pipeline, once for each element
                found |= codes
        return found


def _held_by(owner: Any, depth: int = _DEPTH) -> Held:
    held = list(getattr(owner, "__dict__", {}).items())
    inner = held[:_LOOKED_AT] if depth else []
    objects = {name: _held_by(value, depth - 1) for name, value in inner if files_of(type(value))}
    tensors = (name for name, value in held if compat.is_tensor(value) and not compat.has_values(value))
    numbers = (name for name, value in held if is_number(value))
    return Held(id(owner), type(owner), frozenset(numbers), frozenset(tensors), objects)


def files_of(kind: type) -> list[tuple[str, str]]:
    """The classes of the user's that a class is and inherits from, each with the file that its methods are in."""
    found = []
    for each in kind.__mro__ if kind.__module__ not in _WITHOUT_USERS else ():
        code = next((value.__code__ for value in vars(each).values() if isinstance(value, FunctionType)), None)
        if code is not None and owner_of(code) is CodeOwner.USER:
            found.append((each.__name__, code.co_filename))
    return found


def is_number(value: Any) -> bool:
    """A number of Python's own."""
    return isinstance(value, (int, float)) and not hasattr(value, "dtype")


def _is_network(value: Any) -> bool:
    """Something that holds weights: a layer, a model, an optimizer."""
    kind = type(value)
    return hasattr(kind, "trainable_variables") or hasattr(kind, "apply_gradients")


def _seen_names(frame: FrameType) -> Iterator[SeenName]:
    code, scope, own = frame.f_code, frame.f_globals, frame.f_locals.get("self")
    holder = getattr(own, "__dict__", None)
    for name in _names_behind(code, scope, type(own)):
        for values in (scope, holder) if isinstance(holder, dict) else (scope,):
            value: Any = values.get(name)
            if is_number(value):
                yield SeenName(code, values, name, value, values is holder)
            elif _is_network(value):
                yield SeenName(code, values, name, weakref.ref(value), values is holder)


def _names_behind(code: CodeType, scope: dict[str, Any], kind: type) -> list[str]:
    """The names in a function, and in the functions and the methods of its object that it runs by these names."""
    names = list(code.co_names)
    for name in names:  # grows on the way
        for found in (scope.get(name), getattr(kind, name, None)):
            found = getattr(found, "fget", found)  # of a property
            inner = found.__code__ if isinstance(found, FunctionType) else None
            if inner is not None and owner_of(inner) is CodeOwner.USER:
                names.extend(each for each in inner.co_names if each not in names)
    return names


def _seen_parts(frame: FrameType) -> Iterator[SeenPart]:
    code, scope, own = frame.f_code, frame.f_globals, frame.f_locals.get("self")
    holder = getattr(own, "__dict__", None)
    closed = {name: _content(cell) for name, cell in _closure(frame).items()}
    for name in (*code.co_names, *closed):
        for values in (scope, holder, closed) if isinstance(holder, dict) else (scope, closed):
            value: Any = values.get(name)
            reference = _reference(value) if value is not None and value is not own else None
            if reference is not None:
                for key, number in itertools.islice(_numbers_of(value), _KEPT_PARTS):
                    yield SeenPart(code, values, name, key, number, reference, values is holder)


def _reference(value: Any) -> Callable[[], Any] | None:
    """A way back to something that may hold numbers; it is kept alive only where nothing else is possible."""
    if type(value) in (dict, list):
        return lambda: value
    return _weakly(value) if _is_plain(value) else None


def _is_plain(value: Any) -> bool:
    """An object of a class of the user's that holds no weights, or a plain holder of settings."""
    home = type(value).__module__
    file = getattr(sys.modules.get(home), "__file__", None)
    typed = home == "__main__" and file is None  # in a notebook, or at a prompt
    user = home in _SETTINGS or typed or (file is not None and file_owner(file) is CodeOwner.USER)
    return user and hasattr(value, "__dict__") and not _is_network(value) and not callable(getattr(value, "mro", None))


def _numbers_of(thing: Any) -> Iterator[tuple[str | int, int | float]]:
    """The numbers in a dict or list, those that an object holds, or that its class does for it."""
    held: Iterable[tuple[Any, Any]]
    if type(thing) is dict:
        held = thing.items()
    elif type(thing) is list:
        held = enumerate(thing)
    else:
        held = {**getattr(type(thing), "__dict__", {}), **getattr(thing, "__dict__", {})}.items()
    for key, value in itertools.islice(held, _LOOKED_AT):
        if type(key) in (str, int) and is_number(value) and not isinstance(value, bool):
            yield key, value


def _number_in(thing: Any, key: Any, missing: int | float) -> int | float:
    """The number that an object holds by now; `missing` where it holds none."""
    if type(thing) is dict:
        value = thing.get(key, missing)
    elif type(thing) is list:
        value = thing[key] if key < len(thing) else missing
    else:
        value = getattr(thing, "__dict__", {}).get(key, getattr(type(thing), "__dict__", {}).get(key, missing))
    return value if is_number(value) else missing


def _is_traced(op: FrameType, user: FrameType) -> bool:
    """Whether a frame of the user's runs while its function is traced; the one that called the function does not."""
    frame: FrameType | None = op
    while frame is not None and frame is not user:
        if compat.traces_function(frame.f_code):
            return False
        frame = frame.f_back
    return True


def _outermost(graph: Any) -> Any:
    """The function that is traced, for the graph of a branch or loop in it."""
    while compat.is_function_graph(getattr(graph, "outer_graph", None)):
        graph = graph.outer_graph
    return graph


def _cells(frame: FrameType) -> dict[str, tuple[float, CellType]]:
    """The numbers of a function's closed-over names."""
    held = {name: (_content(cell), cell) for name, cell in _closure(frame).items()}
    return {name: each for name, each in held.items() if is_number(each[0]) and not isinstance(each[0], bool)}


def _closed(frame: FrameType) -> dict[str, Held]:
    """The objects of a function's closed-over names."""
    held = {name: _content(cell) for name, cell in _closure(frame).items()}
    return {name: _held_by(each) for name, each in held.items() if files_of(type(each))}


def _closure(frame: FrameType) -> dict[str, CellType]:
    """A function's closed-over names: AutoGraph runs a copy, the function itself is further out."""
    names = set(frame.f_code.co_freevars)
    outer: FrameType | None = frame if names else None
    while outer is not None:
        function: Any = getattr(outer.f_locals.get("self"), "python_function", None)
        closure = getattr(function, "__closure__", None)
        if closure is not None and names & set(function.__code__.co_freevars):
            cells = zip(function.__code__.co_freevars, closure, strict=True)
            return {name: cell for name, cell in cells if name in names}
        outer = outer.f_back
    return {}


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _weakly(thing: Any) -> weakref.ref[Any] | None:
    try:
        return None if thing is None else weakref.ref(thing)
    except TypeError:
        return None
