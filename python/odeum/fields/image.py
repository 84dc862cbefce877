"""Small pictures without a library for them."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from odeum._convert import Floats

# Viridis at equal distances, from low to high.
_COLOURS = np.array(
    [
        (68, 1, 84),
        (71, 44, 122),
        (59, 81, 139),
        (44, 113, 142),
        (33, 144, 141),
        (39, 173, 129),
        (92, 200, 99),
        (170, 220, 50),
        (253, 231, 37),
    ]
)
_SOLID = (190, 190, 190)


def colours(values: Floats) -> NDArray[np.uint8]:
    """Colours [..., 3] of values from the least to the largest; grey where there is none."""
    known = np.isfinite(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
    place = np.where(known, values - low, 0.0) / (high - low if high > low else 1.0) * (len(_COLOURS) - 1)
    stops = np.arange(len(_COLOURS))
    rgb = np.stack([np.interp(place, stops, _COLOURS[:, channel]) for channel in range(3)], axis=-1)
    rgb[~known] = _SOLID
    return rgb.round().astype(np.uint8)


def png(rgb: NDArray[np.uint8]) -> bytes:
    """A picture [rows, columns, 3] as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = rgb.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # Each row begins with its filter: none.
    rows = b"".join(b"\0" + row.tobytes() for row in rgb)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def tag(values: Floats, title: str, width: int = 200) -> str:
    """An ``<img>`` of a plane [rows, columns], the first row below."""
    data = base64.b64encode(png(colours(values[::-1]))).decode()
    style = f"width:{width}px;image-rendering:pixelated"
    return f'<img alt="{title}" style="{style}" src="data:image/png;base64,{data}">'


def line(values: Floats, title: str, width: int = 200, height: int = 90) -> str:
    """An ``<svg>`` of values along an axis."""
    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 0.0)
    span = high - low if high > low else 1.0
    x = np.linspace(0, width, len(values))
    y = height - 5 - (values - low) / span * (height - 10)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    drawn = f'<polyline points="{points}" fill="none" stroke="rgb{tuple(_COLOURS[3].tolist())}" stroke-width="1.5"/>'
    return f'<svg role="img" aria-label="{title}" width="{width}" height="{height}">{drawn}</svg>'
