"""Reads text in pictures, when the extra `ocr` is installed.

The models come inside the package: nothing is downloaded.
"""

import importlib.util
from functools import lru_cache
from statistics import median
from typing import Any

from connectors.files.pdf_text import Line

MISSING = "install the extra `ocr` (pip install 'zhixing[ocr]') to have it read"
# Longer side of a rendered page in pixels: small print is read, and no time lost on more.
TARGET_PIXELS = 1700
_MIN_SCORE = 0.6
_MIN_RUN = 3
_TYPE_OF_HEIGHT = 0.85


@lru_cache(maxsize=1)
def is_ocr_installed() -> bool:
    """Tell whether pictures can be read here."""
    return importlib.util.find_spec("rapidocr") is not None


def read_picture(image: Any, scale: float = 1.0) -> list[Line]:  # noqa: ANN401 - numpy array, RGB
    """Return the lines of a picture, in no order; coordinates are divided by `scale`."""
    output = _get_engine()(image)
    if output.boxes is None or output.txts is None:
        return []
    lines: list[Line] = []
    for box, text, score in zip(output.boxes, output.txts, output.scores, strict=True):
        if score < _MIN_SCORE or not text.strip():
            continue
        xs, ys = [point[0] / scale for point in box], [point[1] / scale for point in box]
        height = max(ys) - min(ys)
        is_upright = max(xs) - min(xs) >= height or len(text.strip()) < _MIN_RUN
        if is_upright:
            lines.append(
                Line(min(xs), max(xs), min(ys), max(ys), height * _TYPE_OF_HEIGHT, text.strip())
            )
    return _even_sizes(lines)


@lru_cache(maxsize=1)
def _get_engine() -> Any:  # noqa: ANN401 - rapidocr has no types
    from rapidocr import RapidOCR  # noqa: PLC0415 - an extra, and slow to import

    # One thread: files are read side by side, and waiting threads burn as much again.
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _even_sizes(lines: list[Line]) -> list[Line]:
    """Give lines of nearly one height one size: a box is as tall as the letters in it."""
    usual = median(line.size for line in lines) if lines else 0.0
    for line in lines:
        if 0.7 * usual <= line.size <= 1.3 * usual:
            line.size = usual
    return lines
