"""Count what must not grow again: import cycles, crowded folders, events that are verdicts, private names.

python tools/count_house.py [--check] [ROOT]

`TYPE_CHECKING` imports count like any other. With `--check` the exit code is 1 where a number is above its limit. A
limit that is above its goal is where the house stands today: it may only be lowered.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "whygrad"
COMPAT = f"{PACKAGE}.backends.tensorflow.compat"
# Rooms that talk to the framework: an underscore attribute there that we do not define is the framework's.
MEETING_A_FRAMEWORK = (f"{PACKAGE}.backends", f"{PACKAGE}.training", f"{PACKAGE}.testing", f"{PACKAGE}.integrations")


@dataclass(frozen=True, slots=True)
class Count:
    """One number of the house, the most it may be today, and where it should get to."""

    name: str
    value: int
    limit: int
    goal: int
    examples: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        return self.value <= self.limit


class House:
    """The parsed modules of the package, by dotted name."""

    def __init__(self, source: Path) -> None:
        self.trees: dict[str, ast.Module] = {}
        self.lines = 0
        for file in sorted((source / PACKAGE).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            self.lines += text.count("\n")
            self.trees[_dotted(file.relative_to(source))] = ast.parse(text)
        self.packages = {name.rpartition(".")[0] for name in self.trees}

    def imports(self) -> dict[str, set[str]]:
        """Which modules each module imports, also inside functions and for type checkers only."""
        return {name: set(self._imported(tree)) - {name} for name, tree in self.trees.items()}

    def _imported(self, tree: ast.Module) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.trees)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    if inner in self.trees:
                        yield inner
                    elif node.module in self.trees:
                        yield node.module


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def largest_cycle(imports: dict[str, set[str]]) -> list[str]:
    """The largest set of modules that all reach one another (Tarjan), or one module alone."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    largest: list[str] = []

    def visit(name: str) -> None:
        nonlocal largest
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(imports[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            cut = stack.index(name)
            found, stack[cut:] = stack[cut:], []
            if len(found) > len(largest):
                largest = found

    sys.setrecursionlimit(10_000)
    for name in sorted(imports):
        if name not in index:
            visit(name)
    return sorted(largest)


def crowded(house: House) -> dict[str, int]:
    """How many modules lie in each folder, its `__init__` not counted."""
    found: dict[str, int] = defaultdict(int)
    for name in house.trees:
        if name not in house.packages:
            found[name.rpartition(".")[0]] += 1
    return found


def event_types(house: House) -> list[str]:
    """The members of the union `Event`."""
    for tree in house.trees.values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["Event"]:
                return sorted(each.id for each in ast.walk(node.value) if isinstance(each, ast.Name))
    return []


def verdicts(house: House) -> list[str]:
    """Events that a single rule consumes: what it concludes was concluded before.

    What rules share is a question, not a consumer: it counts as the rules that ask it.
    """
    rooms = {name: tree for name, tree in house.trees.items() if name.startswith(f"{PACKAGE}.rules.")}
    rules = {name for name, tree in rooms.items() if any(map(_is_rule, ast.walk(tree)))}
    imports = house.imports()
    users: dict[str, set[str]] = {event: set() for event in event_types(house)}
    for name, tree in rooms.items():
        asking = {name} if name in rules else {rule for rule in rules if name in imports[rule]}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in users:
                users[node.id] |= asking
    return [f"{event}: {', '.join(sorted(names)) or 'no rule'}" for event, names in users.items() if len(names) < 2]


def _is_rule(node: ast.AST) -> bool:
    """Whether it is a function under `@rule(...)`."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(each, ast.Call) and ast.unparse(each.func) == "rule" for each in node.decorator_list
    )


def private_names(house: House) -> list[str]:
    """Underscore attributes that are read or set outside of `compat`, and that no code of ours defines."""
    own = _own_names(house)
    found = []
    for name, tree in house.trees.items():
        if name.startswith(COMPAT) or not name.startswith(MEETING_A_FRAMEWORK):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_ours(node, own):
                found.append(f"{name}:{node.lineno} .{node.attr}")
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr"):
                named = node.args[1] if len(node.args) > 1 else None
                if (
                    isinstance(named, ast.Constant)
                    and _is_private(str(named.value))
                    and named.value not in own - THEIRS
                ):
                    found.append(f"{name}:{node.lineno} {named.value!r}")
    return found


THEIRS = frozenset({"_value", "_iterations", "_learning_rate", "_losses", "_keras_mask"})  # although we use them too
_STANDARD = frozenset(
    {"_initializing", "_getframe", "_replace", "_asdict", "_fields", "_make", "_exit"}
)  # of Python's own library


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _STANDARD


def _is_ours(node: ast.Attribute, own: set[str]) -> bool:
    """Whether an attribute is one that our code defines, on an object that may be ours."""
    if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return True
    return node.attr in own and node.attr not in THEIRS


def _own_names(house: House) -> set[str]:
    """Names with an underscore that our classes and modules define."""
    found = set()
    for tree in house.trees.values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id == "self":
                    found.add(node.attr)
            elif isinstance(node, ast.ImportFrom):
                found.update(alias.asname or alias.name for alias in node.names)
    return found


def counts(house: House) -> list[Count]:
    """Every number, with its limit and its goal."""
    cycle = largest_cycle(house.imports())
    folders = crowded(house)
    fullest = max(folders, key=lambda name: folders[name])
    events, lonely, private = event_types(house), verdicts(house), private_names(house)
    return [
        Count("modules in the largest import cycle", len(cycle), 1, 1, tuple(cycle)),
        Count("modules in the fullest folder", folders[fullest], 20, 20, (fullest,)),
        Count("types of event", len(events), 12, 12, tuple(events)),
        Count("events that one rule alone consumes", len(lonely), 1, 0, tuple(lonely)),
        Count("private names of a framework outside of compat", len(private), 0, 0, tuple(private)),
        Count("lines of source", house.lines, 71_839, 33_700),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[1], help="the checkout")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is passed")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="show N things that were counted")
    options = parser.parse_args()
    found = counts(House(options.root / "src"))
    for count in found:
        goal = "" if count.limit == count.goal else f", goal {count.goal}"
        print(f"{'   ' if count.is_kept else '!! '}{count.value:6}  {count.name} (at most {count.limit}{goal})")
        for example in count.examples[: options.examples]:
            print(f"             {example}")
    return int(options.check and not all(count.is_kept for count in found))


if __name__ == "__main__":
    sys.exit(main())
