"""The only place where whygrad meets a framework.

`start` arms the capture without importing anything: what is already imported is hooked now, the rest when the
program imports it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from whygrad.diagnostics import Words
from whygrad.errors import UsageError
from whygrad.notice import warn
from whygrad.source.position import add_machinery

if TYPE_CHECKING:
    from whygrad.backends.api import Api
    from whygrad.backends.kept_steps import KeptStep
    from whygrad.fixes.spelling import Modules
    from whygrad.graph import Failure, Held, Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What is done beyond looking on."""

    find_nan: bool = False  # keep what every compiled step needs to be replayed, whatever it costs
    keep: str | None = None  # the folder in which steps that go bad are kept; None: nowhere
    terms: bool = False  # measure what each term of a loss gives to each variable, by one more backward pass a term
    on_step: Callable[[float | None], None] | None = None  # at each request or compiled call, with the loss if seen
    # asked when a request or update of a new kind was seen, or a NaN; what it returns is raised in the user's call
    on_news: Callable[[], Exception | None] | None = None
    on_optimizer: Callable[[Any, Any], None] | None = None  # given the hooks and a class of optimizers, before ours


class Backend(Protocol):
    """What `watch` needs of a framework."""

    def start(self) -> None: ...
    def join(self, module: ModuleType) -> None: ...
    def stop(self) -> None: ...
    def record(self, failure: Failure | None = None) -> Recording: ...
    def held_in(self, value: object) -> tuple[Held, ...] | None: ...
    def has_failed(self) -> bool: ...
    def paused(self) -> AbstractContextManager[None]: ...


# Where a backend lives, by the framework module whose import calls for it: its `capture.Capture` watches, and its
# `vocabulary.WORDS` are plain data. Companions join later.
FRAMEWORKS = {"tensorflow": "whygrad.backends.tensorflow"}
COMPANIONS = {"keras": "tensorflow", "tf_keras": "tensorflow"}
CHILDREN_OF = "multiprocessing.process"  # the module that child processes are started by
WATCHED = (*FRAMEWORKS, *COMPANIONS, CHILDREN_OF)  # modules whose import there is something to see of
DISTRIBUTIONS = ("tensorflow", "tensorflow-cpu", "keras", "tf-keras")  # that these are installed by
# Whose frames are never the user's: frameworks and what they are built on, here so that it is known before any is met.
add_machinery(*FRAMEWORKS, *COMPANIONS, "torch", "jax", "jaxlib", "optree", "absl", "wrapt", "ml_dtypes")


def require_framework() -> None:
    """A `UsageError` where none of the frameworks is installed."""
    if all(importlib.util.find_spec(name) is None for name in FRAMEWORKS):
        raise UsageError(
            "TensorFlow is not installed", help="pip install tensorflow (or tensorflow-cpu, where there is no GPU)"
        )


def capabilities(framework: str) -> tuple[int, dict[str, str]]:
    """How many private names of a framework were looked up, and what is lost by each that is missing; imports it."""
    home = FRAMEWORKS[framework]
    importlib.import_module(f"{home}.compat")
    found = importlib.import_module(f"{home}.capability")
    return len(found.names), {path.replace(":", "."): str(name.loss) for path, name in found.missing.items()}


def replay_step(step: KeptStep) -> Recording:
    """What a kept step says when it is run again, by the framework that kept it."""
    recording: Recording = importlib.import_module("whygrad.backends.tensorflow.nonfinite.kept.rerun").replay(step)
    return recording


def words_of(framework: str) -> Words:
    """What a framework calls the things that advice speaks of: plain data, read without the framework itself."""
    home = FRAMEWORKS.get(framework)
    return {} if home is None else importlib.import_module(f"{home}.vocabulary").WORDS


def api_of(framework: str) -> Api:
    """The public names of a framework, as lint knows them: plain data, read without the framework itself."""
    api: Api = importlib.import_module(f"{FRAMEWORKS[framework]}.api").API
    return api


def modules_of(framework: str) -> Modules:
    """The modules that the first names in the words of a framework stand for, and ours: `tf` is `tensorflow`."""
    from whygrad.fixes.spelling import Modules

    home = FRAMEWORKS.get(framework)
    if home is None:
        return Modules({})
    vocabulary = importlib.import_module(f"{home}.vocabulary")
    return Modules({**vocabulary.MODULES, "wg": "whygrad"}, vocabulary.OTHER_WORDS)


class Watcher(importlib.abc.MetaPathFinder):
    """Hooks a framework as soon as the program has imported it."""

    def __init__(
        self,
        on_settled: Callable[[], None] | None = None,
        options: WatchOptions | None = None,
        on_import: Mapping[str, Callable[[ModuleType], None]] | None = None,
    ) -> None:
        self.backends: dict[str, Backend] = {}
        self._on_import = on_import or {}  # what else is told of a module, by its name
        self._on_settled = on_settled
        self._options = options or WatchOptions()
        self._finding: set[str] = set()

    def start(self) -> None:
        sys.meta_path.insert(0, self)
        for name in (*FRAMEWORKS, *COMPANIONS, *self._on_import):
            module = sys.modules.get(name)
            if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
                self._arrived(module)

    def stop(self) -> None:
        """Put everything back; safe to call twice."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for backend in self.backends.values():
            backend.stop()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        known = fullname in FRAMEWORKS or fullname in COMPANIONS or fullname in self._on_import
        if not known or fullname in self._finding:
            return None
        self._finding.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._finding.discard(fullname)
        if spec is not None and spec.loader is not None:
            _call_after_loading(spec.loader, self._arrived)
        return spec

    def _arrived(self, module: ModuleType) -> None:
        name = module.__name__
        if name in self._on_import:
            self._on_import[name](module)
            return
        framework = COMPANIONS.get(name, name)
        backend = self.backends.get(framework)
        if name in FRAMEWORKS and backend is None:
            home = importlib.import_module(f"{FRAMEWORKS[name]}.capture")
            backend = self.backends[name] = home.Capture(self._on_settled, self._options)
            backend.start()
        elif backend is not None:
            backend.join(module)


def _call_after_loading(loader: object, then: Callable[[ModuleType], None]) -> None:
    """Let this one loader tell when its module is complete; the loader itself is made anew for each import."""
    execute = loader.exec_module  # type: ignore[attr-defined]

    def exec_module(module: ModuleType) -> None:
        execute(module)
        try:
            then(module)
        except Exception as error:
            warn(f"cannot watch {module.__name__}: {error}; the run goes on unwatched")

    loader.exec_module = exec_module  # type: ignore[attr-defined]
