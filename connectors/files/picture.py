"""Pictures: their text is read by OCR."""

import io
import warnings

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from connectors.files.converted import Converted, Job
from connectors.files.ocr import MISSING, TARGET_PIXELS, is_ocr_installed, read_picture
from connectors.files.pdf_pages import PageText, write_pages
from core.errors import UnsupportedContentError

_MAX_PIXELS = 100_000_000
_MIN_SIDE = 16


def convert_picture(job: Job) -> Converted:
    """Read the text of a picture."""
    if not job.limits.ocr or not is_ocr_installed():
        reason = MISSING if job.limits.ocr else "its source has `ocr = false`"
        raise UnsupportedContentError(f"{job.name!r} is a picture; {reason}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(job.data)) as image:
                if image.width * image.height > _MAX_PIXELS:
                    raise UnsupportedContentError(
                        f"{job.name!r} has {image.width} x {image.height} pixels, too many to read"
                    )
                picture = ImageOps.exif_transpose(image).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise UnsupportedContentError(
            f"{job.name!r} is a damaged picture ({error}); save it again"
        ) from error
    if min(picture.size) < _MIN_SIDE:
        raise UnsupportedContentError(f"{job.name!r} is too small a picture to hold text")
    picture.thumbnail((2 * TARGET_PIXELS, 2 * TARGET_PIXELS))
    lines = read_picture(np.asarray(picture))
    page = PageText(number=1, width=picture.width, height=picture.height, lines=lines, is_ocr=True)
    markdown = write_pages([page], marks_pages=False)
    if not markdown.strip():
        raise UnsupportedContentError(f"{job.name!r} is a picture without text")
    return Converted(markdown=markdown)
