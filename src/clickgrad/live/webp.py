"""An animated WebP from single ones: a container of chunks, nothing is decoded.

RIFF("WEBP", VP8X(flags, canvas), ANIM(background, loops), ANMF(place, size, duration, picture) ...), little-endian,
every chunk padded to an even length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

PICTURE = (b"ALPH", b"VP8 ", b"VP8L")
ANIMATED = 0x02


def animate(frames: Sequence[tuple[bytes, int]], size: tuple[int, int]) -> bytes:
    """`frames` are WebP pictures of that size, each with its duration in milliseconds. It plays for ever."""
    width, height = size
    body = b"WEBP"
    body += _chunk(b"VP8X", bytes([ANIMATED, 0, 0, 0]) + _three(width - 1) + _three(height - 1))
    body += _chunk(b"ANIM", b"\xff\xff\xff\xff" + struct.pack("<H", 0))
    for picture, duration_ms in frames:
        head = _three(0) * 2 + _three(width - 1) + _three(height - 1) + _three(duration_ms) + b"\x00"
        body += _chunk(
            b"ANMF", head + b"".join(_chunk(kind, data) for kind, data in read_chunks(picture) if kind in PICTURE)
        )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def read_chunks(webp: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk of a file."""
    if webp[:4] != b"RIFF" or webp[8:12] != b"WEBP":
        raise ValueError("not a WebP picture")
    at = 12
    while at + 8 <= len(webp):
        kind, length = webp[at : at + 4], struct.unpack("<I", webp[at + 4 : at + 8])[0]
        yield kind, webp[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)


def _three(number: int) -> bytes:
    return struct.pack("<I", number)[:3]
