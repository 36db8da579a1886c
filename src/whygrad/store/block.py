"""Series in compressed blocks: many steps of a few numbers, without loss.

Of a float only the upper two bytes (sign, exponent, leading digits) are alike from step to step; the rest is noise that
no compressor shortens and that costs time to try. So the bytes of all numbers are sorted by significance, the upper two
compressed, the others stored as they are, and numbers that never change, or have no lower bytes, not stored again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_CONSTANT: Final = 0
_SHORT: Final = 1  # all but the upper two bytes are zero
_FULL: Final = 2
_UPPER: Final = 2  # bytes
_LEVEL: Final = 1  # of zlib: higher ones take three times as long for a few percent


def sealed(data: bytes) -> bytes:
    """The data with its checksum: a number out of a damaged file would be worse than none."""
    return zlib.crc32(data).to_bytes(4, "little") + data


def unsealed(data: bytes) -> bytes:
    if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
        raise ValueError("a stretch of numbers does not match its checksum")
    return data[4:]


def encode_many(values: Array) -> Iterator[bytes]:
    """[n, m, c] -> m blobs, each holding c series of n numbers."""
    turned = np.ascontiguousarray(values.transpose(1, 2, 0))
    width = turned.dtype.itemsize
    bits = turned.view(f"u{width}")
    low = bits & np.array((1 << (8 * (width - _UPPER))) - 1, bits.dtype)
    kinds = np.where((bits == bits[..., :1]).all(-1), _CONSTANT, np.where(low.any(-1), _FULL, _SHORT)).astype(np.uint8)
    planes = bits.astype(f"<u{width}", copy=False).view(np.uint8).reshape(*bits.shape, width)
    planes = np.ascontiguousarray(np.moveaxis(planes, -1, 2))  # [m, c, byte, n]
    for member, kind in enumerate(kinds):
        yield _pack(kind, turned[member], planes[member])


def encode(series: Array) -> bytes:
    """[n, c] -> one blob."""
    return next(encode_many(series[:, np.newaxis, :]))


def _pack(kinds: Array, series: Array, planes: Array) -> bytes:
    split = planes.shape[1] - _UPPER
    constants = series[kinds == _CONSTANT, 0].tobytes()
    lower = planes[kinds == _FULL, :split].tobytes()
    upper = zlib.compress(planes[kinds != _CONSTANT, split:].tobytes(), _LEVEL)
    return sealed(b"".join((kinds.tobytes(), constants, lower, upper)))


def decode(blob: bytes, count: int, channels: int, dtype: str) -> Array:
    """[c, n]: the series of a blob."""
    blob = unsealed(blob)
    width = np.dtype(dtype).itemsize
    kinds = np.frombuffer(blob, np.uint8, channels)
    constant, full = int((kinds == _CONSTANT).sum()), int((kinds == _FULL).sum())
    split = width - _UPPER
    lower_start = channels + constant * width
    upper_start = lower_start + full * split * count
    planes = np.zeros((channels, width, count), np.uint8)
    planes[kinds == _FULL, :split] = np.frombuffer(blob[lower_start:upper_start], np.uint8).reshape(full, split, count)
    upper = np.frombuffer(zlib.decompress(blob[upper_start:]), np.uint8)
    planes[kinds != _CONSTANT, split:] = upper.reshape(channels - constant, _UPPER, count)
    numbers = np.ascontiguousarray(np.moveaxis(planes, 1, -1)).view(f"<u{width}")[..., 0].view(f"<f{width}")
    numbers[kinds == _CONSTANT] = np.frombuffer(blob[channels:lower_start], f"<f{width}")[:, np.newaxis]
    return numbers
