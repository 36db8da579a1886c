"""Files that are, for the import system and for tracebacks, as these texts say; on disk they stay what they are."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import linecache
import os
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

Overlay = Mapping[str, str]  # the absolute path of a file -> its text
_TEXTS: Final = "overlay.json"


class OverlayLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its text in the overlay, with no cached bytecode read or written."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, fullname: str) -> types.CodeType:
        return compile_text(self._text, self.path)

    def get_source(self, fullname: str) -> str:
        return self._text


class OverlayFinder(importlib.abc.MetaPathFinder):
    """Finds modules as the other finders do, and gives those of the overlay a loader of ours."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = {os.path.realpath(file): text for file, text in overlay.items()}
        self._finding: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in self._finding:
            return None
        self._finding.add(fullname)
        try:
            spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        finally:
            self._finding.discard(fullname)
        text = None if spec is None or spec.origin is None else self._overlay.get(os.path.realpath(spec.origin))
        if spec is None or spec.origin is None or text is None:
            return None
        spec.loader = OverlayLoader(fullname, spec.origin, text)
        return spec


def install(overlay: Overlay) -> None:
    """Have imports, tracebacks and `inspect` read these texts from now on."""
    if overlay:
        sys.meta_path.insert(0, OverlayFinder(overlay))
        _for_good.enter_context(shown_as(overlay))


def hand_on(overlay: Overlay, folder: Path) -> None:
    """Have the processes that `multiprocessing` spawns from this one read these texts, too.

    Each of them imports the module of ours in this folder before anything of the user's.
    """
    folder.mkdir()
    (folder / _TEXTS).write_text(json.dumps(dict(overlay)), encoding="utf-8")
    (folder / "sitecustomize.py").write_text(f"from {__name__} import receive\n\nreceive(__file__)\n", encoding="utf-8")
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([known] if known else [])])


def receive(customized: str) -> None:
    """Read the texts that were handed on; then do what is the user's own custom."""
    folder = Path(customized).parent
    overlay = json.loads((folder / _TEXTS).read_text(encoding="utf-8"))
    install(overlay)
    texts, opened = {os.path.realpath(file): text for file, text in overlay.items()}, io.open_code

    def open_code(path: str) -> IO[bytes]:
        """The main module of a spawned process is read in this way."""
        text = texts.get(os.path.realpath(path))
        return opened(path) if text is None else io.BytesIO(text.encode())

    io.open_code = open_code
    sys.path.remove(str(folder))
    del sys.modules["sitecustomize"]
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("sitecustomize")


_for_good = contextlib.ExitStack()  # what is never put back: the process runs one program and ends


@contextlib.contextmanager
def shown_as(overlay: Overlay) -> Iterator[None]:
    """Inside the block tracebacks and `inspect` read these texts."""
    read, before = linecache.updatecache, {file: linecache.cache.get(file) for file in overlay}
    lines = {file: re.findall(r"[^\n]*\n|[^\n]+\Z", re.sub(r"\r\n?", "\n", text)) for file, text in overlay.items()}

    def updatecache(filename: str, module_globals: dict[str, Any] | None = None) -> list[str]:
        """A framework that compiles functions from their source has the cache read files again."""
        if filename not in lines:
            return read(filename, module_globals)
        linecache.cache[filename] = (len(overlay[filename]), None, lines[filename], filename)
        return lines[filename]

    linecache.updatecache = updatecache
    for file in overlay:
        updatecache(file)
    try:
        yield
    finally:
        linecache.updatecache = read
        for file, entry in before.items():
            linecache.cache.pop(file, None)
            if entry is not None:
                linecache.cache[file] = entry


def compile_text(text: str, file: str) -> types.CodeType:
    code: types.CodeType = compile(text, file, "exec", dont_inherit=True)
    return code
