"""Finding places: by words, by category, by town, by distance, and by what a visitor typed as a start or an end."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from clickgrad.types import Scalar
from clickgrad.worlds.map.data import Place
from clickgrad.worlds.map.geometry import Point, at_coordinates, distance
from clickgrad.worlds.map.land import HEIGHT, WIDTH

MAX_WORDS = 10
SORTS = {"match": "Best match", "name": "Name", "rating": "Rating"}
_ORDER = {"match": "rank, name", "name": "name", "rating": "rating DESC, name"}
_HAYSTACK = (
    "(' ' || lower(name || ' ' || category || ' ' || number || ' ' || street || ' ' || district || ' ' || town"
    " || ' ' || postcode) || ' ')"
)
_COORDINATES = re.compile(r"\s*(\d{1,2}\.\d{1,8})\s*,\s*(\d{1,2}\.\d{1,8})\s*")


@dataclass(frozen=True, slots=True)
class Near:
    place: Place
    meters: float


@dataclass(frozen=True, slots=True)
class Query:
    text: str = ""
    category: str = ""
    town: str = ""
    sort: str = "match"

    def run(self, db: sqlite3.Connection) -> list[Place]:
        """Places that have every word in name, category or address; whole numbers, and beginnings of other words."""
        words = self.text.lower().replace(",", " ").split()[:MAX_WORDS]
        if not (words or self.category):
            return []
        needles = [f" {word} " if word.isdecimal() else f" {word}" for word in words]
        params: list[Scalar] = [" ".join(words), *needles]
        in_name = " AND ".join(["instr(' ' || lower(name) || ' ', ?)"] * len(needles)) or "1"
        where = " AND ".join([f"instr({_HAYSTACK}, ?)"] * len(needles)) or "1"
        params += needles
        for column, value in (("category", self.category), ("town", self.town)):
            if value:
                where += f" AND {column} = ?"
                params.append(value)
        rows = db.execute(
            f"SELECT *, CASE WHEN lower(name) = ? THEN 0 WHEN {in_name} THEN 1 ELSE 2 END AS rank"
            f" FROM map_places WHERE {where} ORDER BY {_ORDER[self.sort]}",
            params,
        )
        return [Place(*row[:-1]) for row in rows]


def near(db: sqlite3.Connection, point: Point, meters: int, category: str = "") -> list[Near]:
    """Within so many meters as the crow flies, the nearest first."""
    x, y = point
    where, params = "x BETWEEN ? AND ? AND y BETWEEN ? AND ?", [x - meters, x + meters, y - meters, y + meters]
    values: list[Scalar] = [*params]
    if category:
        where, values = f"category = ? AND {where}", [category, *params]
    places = (Place(*row) for row in db.execute(f"SELECT * FROM map_places WHERE {where}", values))
    found = [Near(place, distance(place.point, point)) for place in places]
    return sorted((one for one in found if one.meters <= meters), key=lambda one: (one.meters, one.place.id))


def read_coordinates(text: str) -> Point | None:
    """A point on the map from text such as 52.5312, 3.2045; None for anything else."""
    found = _COORDINATES.fullmatch(text)
    if not found or not found[0].isascii():
        return None
    x, y = at_coordinates(float(found[1]), float(found[2]))
    return (round(x), round(y)) if 0 <= x <= WIDTH and 0 <= y <= HEIGHT else None
