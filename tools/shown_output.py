"""Write into README and docs what they show of programs: their text, what whygrad says of them, how two differ.

python tools/shown_output.py [--check] [PAGE ...]

A block that follows one of these comments is written again:
    <!-- output of: whygrad run examples/broken_vae.py -->   the report, without what the program itself prints
    <!-- printed by: whygrad run examples/broken_vae.py -->  what the program itself prints
    <!-- file: examples/broken_vae.py -->
    <!-- changes: examples/a_broken.py examples/a_fixed.py -->
"""

from __future__ import annotations

import argparse
import difflib
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"(<!-- (output of|printed by|file|changes): (.*?) -->\n(`{3,})(\w*)\n)(.*?)(\n?\4\n)", re.DOTALL)
_REPORT = re.compile(r"^(error|warning|note|whygrad)(\[\w+\])?: ", re.MULTILINE)

_KEPT = re.compile(r"^whygrad: step \d+ is kept: .*\n", re.MULTILINE)  # names the run, another one each time


def pages() -> list[Path]:
    """All pages that may have such blocks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def report(command: str) -> str:
    """What a whygrad command says, run in the root of the project."""
    return report_in(run(command).stderr)


def printed(command: str) -> str:
    """What the program itself prints to stdout."""
    return run(command).stdout.strip("\n")


def said_by(command: str, **more: str) -> str:
    """All that a command writes to stderr; `more` is added to its environment."""
    return run(command, **more).stderr


@functools.cache
def run(command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command, run once in the root of the project."""
    settings = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "COLUMNS": "100", **more}
    program, *arguments = command.split()
    return subprocess.run(
        [Path(sys.executable).parent / program, *arguments], cwd=ROOT, env=settings, capture_output=True, text=True
    )


def report_in(said: str) -> str:
    """The report at the end of what a program and whygrad wrote to stderr."""
    said = _KEPT.sub("", said)
    begun = _REPORT.search(said)
    return said[begun.start() if begun is not None else 0 :].strip("\n")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8").strip("\n")


def _changes(names: str) -> str:
    before, after = names.split()
    lines = difflib.unified_diff(_text(before).splitlines(), _text(after).splitlines(), before, after, "", "", 1, "")
    return "\n".join(lines)


def with_blocks(page: str, said: Callable[[str], str] = report, prints: Callable[[str], str] = printed) -> str:
    """A page with all of these blocks as they are today."""
    by_kind = {"output of": said, "printed by": prints, "file": _text, "changes": _changes}
    return _BLOCK.sub(lambda match: f"{match[1]}{by_kind[match[2]](match[3])}\n{match[4]}\n", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, default=pages())
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where a page is out of date")
    options = parser.parse_args()
    old = False
    for page in map(Path.resolve, options.pages):
        text = page.read_text(encoding="utf-8")
        new = with_blocks(text)
        if new != text:
            old = True
            print(f"{page.relative_to(ROOT)}: {'out of date' if options.check else 'written'}")
            if not options.check:
                page.write_text(new, encoding="utf-8")
    sys.exit(1 if old and options.check else 0)


if __name__ == "__main__":
    main()
