"""Series in compressed blocks: many steps of a few numbers, without loss.

Of a float only the upper byte (sign and most of the exponent) is much alike from step to step; the rest is close to
noise, which a compressor hardly shortens and takes long to try. So the bytes of all numbers are sorted by significance,
the upper ones compressed and the others stored as they are. Series that never change, that have no lower bytes, or that
are the same as another one, as the norm before and after a clipping that never clips, are not stored again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np

from whygrad.bounded import decompress
from whygrad.store.rows import Array

_MAX_NUMBERS: Final = 2**27  # in one block, 64 times what is written into one

_CONSTANT: Final = 0
_SHORT: Final = 1  # all but the upper two bytes are zero, as of small whole numbers
_FULL: Final = 2
_SAME: Final = 16  # + the channel that it is the same as


def sealed(data: bytes) -> bytes:
    """The data with its checksum: a number out of a damaged file would be worse than none."""
    return zlib.crc32(data).to_bytes(4, "little") + data


def unsealed(data: bytes) -> bytes:
    if zlib.crc32(data[4:]) != int.from_bytes(data[:4], "little"):
        raise ValueError("a stretch of numbers does not match its checksum")
    return data[4:]


def check_size(count: int, series: int) -> None:
    """Series that never change take no room in a file: their length alone must not fill the memory."""
    if not 0 <= count * series <= _MAX_NUMBERS:
        raise ValueError(f"a stretch claims to have {series} series of {count} numbers")


def encode_many(values: Array) -> Iterator[bytes]:
    """[n, m, c] -> m blobs, each holding c series of n numbers."""
    # bits is [m, c, n], planes [m, c, byte, n]
    turned = np.ascontiguousarray(values.transpose(1, 2, 0))
    width = turned.dtype.itemsize
    bits = turned.view(f"u{width}").astype(f"<u{width}", copy=False)
    planes = np.ascontiguousarray(np.moveaxis(bits.view(np.uint8).reshape(*bits.shape, width), -1, 2))
    kinds = _kinds(bits)
    blobs: dict[int, bytes] = {}
    for pattern in np.unique(kinds, axis=0):
        members = np.flatnonzero((kinds == pattern).all(-1))
        blobs.update(zip(members.tolist(), _pack(pattern, bits[members], planes[members]), strict=True))
    for member in range(len(kinds)):
        yield blobs[member]


def encode(series: Array) -> bytes:
    """[n, c] -> one blob."""
    return next(encode_many(series[:, np.newaxis, :]))


def _kinds(bits: Array) -> Array:
    """[m, c]: how each series is stored."""
    width = bits.dtype.itemsize
    low = bits & np.array((1 << (8 * (width - 2))) - 1, bits.dtype)
    kinds = np.where((bits == bits[..., :1]).all(-1), _CONSTANT, np.where(low.any(-1), _FULL, _SHORT)).astype(np.uint8)
    for channel in range(1, bits.shape[1]):
        for earlier in range(channel):
            alike = (kinds[:, channel] == _FULL) & (bits[:, channel, 0] == bits[:, earlier, 0])
            rows = np.flatnonzero(alike)  # few, but for channels that are the same
            same = rows[(bits[rows, channel] == bits[rows, earlier]).all(-1)]
            kinds[same, channel] = _SAME + earlier
    return kinds


def _pack(kinds: Array, bits: Array, planes: Array) -> Iterator[bytes]:
    """The blobs of series that are all stored in the same way."""
    top = planes.shape[2] - 1
    head = kinds.tobytes()
    constants = np.ascontiguousarray(bits[:, kinds == _CONSTANT, 0])
    short = np.ascontiguousarray(planes[:, kinds == _SHORT, top - 1])
    full = np.ascontiguousarray(planes[:, kinds == _FULL, :top])
    upper = np.ascontiguousarray(planes[:, (kinds == _SHORT) | (kinds == _FULL), top])
    for i in range(len(planes)):
        parts = (head, constants[i].tobytes(), short[i].tobytes(), full[i].tobytes())
        yield sealed(b"".join((*parts, _compressed(upper[i].tobytes()))))


def _compressed(data: bytes) -> bytes:
    """Runs and frequencies only: for upper bytes shorter than a search for repetitions, and faster."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    return compressor.compress(data) + compressor.flush()


def decode(blob: bytes, count: int, channels: int, dtype: str) -> Array:
    """[c, n]: the series of a blob."""
    check_size(count, channels)
    blob = unsealed(blob)
    width = np.dtype(dtype).itemsize
    top = width - 1
    kinds = np.frombuffer(blob, np.uint8, channels)
    constant, short, full = (int((kinds == kind).sum()) for kind in (_CONSTANT, _SHORT, _FULL))
    ends = np.cumsum([channels, constant * width, short * count, full * top * count]).tolist()
    planes = np.zeros((channels, width, count), np.uint8)
    planes[kinds == _SHORT, top - 1] = np.frombuffer(blob[ends[1] : ends[2]], np.uint8).reshape(short, count)
    planes[kinds == _FULL, :top] = np.frombuffer(blob[ends[2] : ends[3]], np.uint8).reshape(full, top, count)
    upper = np.frombuffer(decompress(blob[ends[3] :], (short + full) * count), np.uint8).reshape(short + full, count)
    planes[(kinds == _SHORT) | (kinds == _FULL), top] = upper
    bits = np.ascontiguousarray(np.moveaxis(planes, 1, -1)).view(f"<u{width}")[..., 0]
    bits[kinds == _CONSTANT] = np.frombuffer(blob[ends[0] : ends[1]], f"<u{width}")[:, np.newaxis]
    for channel in np.flatnonzero(kinds >= _SAME):
        bits[channel] = bits[kinds[channel] - _SAME]
    return bits.view(f"<f{width}")
