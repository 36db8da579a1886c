"""A kept step analysed in a process of its own, which TensorFlow may end where an op is given values that do not fit.

Run as `python -m whygrad.cli.replay_apart FOLDER FORMAT COLOR WIDTH`; nothing that it runs can write to a file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Final

from whygrad.errors import UsageError

_FAILED: Final = 3  # the sentence stands on stdout in place of a report


def replay_apart(path: str, output_format: str, *, color: bool, width: int) -> str:
    """The report on a kept step."""
    # -P: the folder where the command is typed may be somebody else's too, and is no place to import from.
    command = [sys.executable, "-P", "-X", "utf8", "-m", __name__, path, output_format, str(int(color)), str(width)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    sys.stderr.write(done.stderr)
    if done.returncode == _FAILED:
        message, _, help = done.stdout.partition("\0")
        raise UsageError(message, help=help or None)
    if done.returncode:
        raise UsageError(f"the replay of `{path}` ended with status {done.returncode}", help="the step may be damaged")
    return done.stdout


def main(path: str, output_format: str, color: str, width: str) -> int:
    _forbid_writing()
    from whygrad.report import Report, render
    from whygrad.rules import all_rules
    from whygrad.watch import diagnosed, replay

    try:
        report = Report(diagnostics=diagnosed(replay(path)))
    except UsageError as error:
        sys.stdout.write(f"{error.message}\0{error.help or ''}")
        return _FAILED
    rules = all_rules() if output_format == "sarif" else ()
    sys.stdout.write(render(report, output_format, color=color == "1", width=int(width), rules=rules))
    return 0


def _forbid_writing() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    tempfile.gettempdir()  # looked for by writing there, which packages do when they are imported
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # pipes have no size
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
