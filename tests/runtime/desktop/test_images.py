"""Images are what the pixels are, as another program reads them."""

import builtins
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from hawse.wire import HawseError
from hawse_runtime.desktop.images import encode_image

WIDTH, HEIGHT = 37, 131  # more rows than are compressed at once, and none of them aligned
PIXELS = bytearray(
    value for y in range(HEIGHT) for x in range(WIDTH) for value in (x * 6 % 256, y * 3 % 256, (x * y) % 256, x)
)


def decoded(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


def test_a_png_has_exactly_the_colours() -> None:
    image = decoded(encode_image(PIXELS, WIDTH, HEIGHT, "png", 1))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (WIDTH, HEIGHT))
    expected = Image.frombytes("RGB", (WIDTH, HEIGHT), bytes(PIXELS), "raw", "RGBX")
    assert image.tobytes() == expected.tobytes()


@pytest.mark.parametrize("format", ["jpeg", "webp"])
def test_other_formats_are_nearly_so_and_smaller_with_less_quality(format: Any) -> None:
    one_colour = bytearray(bytes((200, 100, 50, 0)) * WIDTH * HEIGHT)
    image = decoded(encode_image(one_colour, WIDTH, HEIGHT, format, 90)).convert("RGB")
    pixel = image.getpixel((10, 10))
    assert isinstance(pixel, tuple)
    assert all(abs(found - wanted) < 8 for found, wanted in zip(pixel, (200, 100, 50), strict=True))
    low, high = (len(encode_image(PIXELS, WIDTH, HEIGHT, format, quality)) for quality in (10, 95))
    assert low < high


def test_without_pillow_png_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *arguments: Any, **more: Any) -> Any:
        if name == "PIL":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(HawseError, match=r"pip install 'hawse\[desktop\]'") as refused:
        encode_image(PIXELS, WIDTH, HEIGHT, "jpeg", 80)
    assert refused.value.code == "unavailable"
    assert encode_image(PIXELS, WIDTH, HEIGHT, "png", 80).startswith(b"\x89PNG")
