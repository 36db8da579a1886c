"""Files that may come from somebody else: never read, unpacked or parsed beyond an agreed size.

Everything here raises ValueError with the reason; who reads says which file it was.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any, Final

MAX_JSON: Final = 256 * 2**20  # characters; a step of 100,000 ops takes about a tenth of it
MAX_UNPACKED: Final = 2**30  # bytes of one compressed piece


def read_file(path: Path, most: int) -> bytes:
    """The content of a regular file: no pipe or device, which may never end."""
    if not path.is_file():
        raise ValueError(f"there is no file `{path.name}`")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"`{path.name}` is larger than {most} bytes")
    return content


def parse_json(text: str | bytes) -> Any:
    if len(text) > MAX_JSON:
        raise ValueError(f"JSON of more than {MAX_JSON} characters")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None


def decompress(data: bytes, most: int = MAX_UNPACKED) -> bytes:
    machine = zlib.decompressobj()
    content = machine.decompress(data, most + 1)
    if len(content) > most:
        raise ValueError(f"compressed data of more than {most} bytes")
    if not machine.eof:
        raise ValueError("compressed data that ends too early")
    return content
