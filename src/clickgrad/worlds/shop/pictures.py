"""Product pictures, drawn: a shape for every noun in the product's color. Decoration only, so hidden from readers."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup

# noun -> its shape, one to a line of the drawing
SHAPES = dict(re.findall(r'<g id="(\w+)">(.*)</g>', Path(__file__).with_suffix(".svg").read_text("utf-8")))

# category -> the noun that stands for it on the home page
CATEGORY_ICONS = {
    "Bath": "Towel", "Garden": "Birdhouse", "Kitchen": "Teapot", "Lighting": "Lamp",
    "Office": "Pen", "Sports": "Ball", "Toys": "Bear", "Travel": "Suitcase",
}  # fmt: skip
# what stands beside the shop's name there
SHELF = (
    ("Kettle", "Red"), ("Lantern", "Yellow"), ("Castle", "White"),
    ("Umbrella", "Blue"), ("Pot", "Orange"), ("Kite", "Purple"),
)  # fmt: skip


def picture(name: str, color: str) -> Markup:
    """Of the product with that name: its last word says what it is."""
    shape = SHAPES.get(name.rpartition(" ")[2], SHAPES["Drawer"])
    shade = color.lower() if color.isascii() and color.isalpha() else "gray"
    return Markup(f'<svg class="picture {shade}" viewBox="0 0 64 64" aria-hidden="true">{shape}</svg>')
