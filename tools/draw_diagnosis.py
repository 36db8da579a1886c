"""Draw docs/pictures/diagnosis.svg: what a terminal shows of a real run, in its colours.

python tools/draw_diagnosis.py [COMMAND] [PICTURE]
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text
from shown_output import ROOT, said_by

WIDTH = 100


def colored(command: str) -> str:
    """The report of a command, with the codes that colour it."""
    said = said_by(command, FORCE_COLOR="1", COLUMNS=str(WIDTH))
    begun = re.search(r"^(?:\x1b\[[\d;]*m)*(?:error|warning)\b", said, re.MULTILINE)
    return said[begun.start() if begun is not None else 0 :].rstrip()


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "whygrad run examples/broken_vae.py"
    picture = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs" / "pictures" / "diagnosis.svg"
    with open(os.devnull, "w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, force_terminal=True)
        console.print(Text(f"$ {command}\n", "bold"), Text.from_ansi(colored(command)), sep="\n")
    svg = console.export_svg(title="whygrad", unique_id="diagnosis")
    # the picture must look the same without a network
    svg = re.sub(r"\s*<!-- Generated.*?-->", "", svg)
    picture.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
