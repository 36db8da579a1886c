"""A tab in TensorBoard: the same page, over the runs below its log directory. It changes nothing there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tensorboard.plugins import base_plugin

from whygrad.store.run_file import SUFFIX

_DEPTH: Final = 3  # folders below the log directory
_MOST: Final = 200  # folders that are looked at


def run_folders(logdir: str) -> list[Path]:
    """The log directory and what lies a few folders below it, where there are run files in it."""
    return [folder for folder in _below(Path(logdir), _DEPTH) if any(folder.glob(f"*{SUFFIX}"))][:_MOST]


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if not folder.is_dir():
        return
    yield folder
    for each in sorted(folder.iterdir()) if depth else ():
        yield from _below(each, depth - 1)


class WhygradPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Found by TensorBoard through the entry point `tensorboard_plugins`."""

    plugin_name = "whygrad"

    def __init__(self, context: Any) -> None:
        self._logdir = str(context.logdir or "")

    def get_plugin_apps(self) -> dict[str, Callable[..., Iterable[bytes]]]:
        from whygrad.web.access import EVERYONE, Access
        from whygrad.web.app import Application
        from whygrad.web.library import Library

        library = Library(lambda: run_folders(self._logdir), changeable=False)
        application = Application(library, Access(EVERYONE))
        prefix = f"/data/plugin/{self.plugin_name}"

        def below_prefix(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            path = environ["PATH_INFO"].partition(prefix)[2]
            return application({**environ, "PATH_INFO": path}, start_response)

        return {"/*": below_prefix}

    def is_active(self) -> bool:
        return bool(self._logdir) and bool(run_folders(self._logdir))

    def frontend_metadata(self) -> Any:
        return base_plugin.FrontendMetadata(es_module_path="/tensorboard.js", tab_name="whygrad")
