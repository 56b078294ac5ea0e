"""Which part of the region a drawn map shows, and the addresses of its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from clickgrad.worlds.map.geometry import Point, coordinates
from clickgrad.worlds.map.land import HEIGHT, WIDTH

PANEL = (840, 664)  # pixels of the panel beside the text, on a screen of 1280 x 720
WIDTHS = (28_000, 12_000, 5_200, 2_400, 1_200, 640)  # meters across, from the whole region to a few houses
_PAN = 0.4  # share of the view by which a step moves it


@dataclass(frozen=True, slots=True)
class View:
    x: int
    y: int
    zoom: int  # index into WIDTHS

    @property
    def width(self) -> float:
        return WIDTHS[self.zoom]

    @property
    def height(self) -> float:
        return self.width * PANEL[1] / PANEL[0]

    @property
    def scale(self) -> float:
        """Meters to a pixel."""
        return self.width / PANEL[0]

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of what fills the panel."""
        return (
            round(self.x - self.width / 2),
            round(self.y - self.height / 2),
            round(self.width),
            round(self.height),
        )

    def shows(self, left: float, top: float, right: float, bottom: float, margin: float = 0.2) -> bool:
        """Whether any of the rectangle is in view, or near enough to be drawn."""
        reach_x, reach_y = self.width * (0.5 + margin), self.height * (0.5 + margin)
        across = right > self.x - reach_x and left < self.x + reach_x
        return across and bottom > self.y - reach_y and top < self.y + reach_y

    @property
    def url(self) -> str:
        return f"/map?{urlencode({'at': coordinates((self.x, self.y)).replace(' ', ''), 'zoom': self.zoom}, safe=',')}"

    def moved(self, east: int, south: int) -> View:
        return make_view((self.x + east * _PAN * self.width, self.y + south * _PAN * self.height), self.zoom)

    @property
    def neighbours(self) -> dict[str, View]:
        """What the buttons on the map lead to."""
        around = {"Zoom in": make_view((self.x, self.y), self.zoom + 1)}
        around["Zoom out"] = make_view((self.x, self.y), self.zoom - 1)
        for name, (east, south) in {"North": (0, -1), "West": (-1, 0), "East": (1, 0), "South": (0, 1)}.items():
            around[name] = self.moved(east, south)
        return {name: view for name, view in around.items() if view != self}


def make_view(center: Point, zoom: int) -> View:
    """The nearest view there is."""
    x, y = min(max(round(center[0]), 0), WIDTH), min(max(round(center[1]), 0), HEIGHT)
    return View(x, y, min(max(zoom, 0), len(WIDTHS) - 1))


WHOLE = make_view((WIDTH / 2, HEIGHT / 2), 0)


def fit(points: Sequence[Point], most: int = 4) -> View:
    """The closest view, but at most zoom `most`, that has all the points in it."""
    if not points:
        return WHOLE
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    center = ((left + right) / 2, (top + bottom) / 2)
    for zoom in range(most, 0, -1):
        view = make_view(center, zoom)
        if right - left < 0.8 * view.width and bottom - top < 0.8 * view.height:
            return view
    return WHOLE
