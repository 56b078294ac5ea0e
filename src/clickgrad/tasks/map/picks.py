"""What the map's templates are filled with: places dealt without repetition, routes, and spellings of answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import cycle
from typing import TypeVar

from clickgrad.worlds.map.data import MapData, Place, map_data
from clickgrad.worlds.map.network import Mode
from clickgrad.worlds.map.pages import PAGE_SIZE, duration, length
from clickgrad.worlds.map.routing import Route, find_route

T = TypeVar("T")

DRAFTS, MANY = 60, 240  # of each template; of one that takes few places and any of them
DEFAULT_USER_ID = 1
TRAVEL: dict[Mode, str] = {"car": "by car", "bike": "by bike", "foot": "on foot"}
MODE_ORDER: tuple[Mode, ...] = ("car", "bike", "foot")


class Deck:
    """The places of a universe in an order of the template's own; each is dealt once."""

    def __init__(self, template: str, seed: int) -> None:
        self.seed = seed
        self.data: MapData = map_data(seed)
        self.rng = random.Random(f"map.{template} {seed}")
        self._places = self.rng.sample(self.data.places, len(self.data.places))

    def take(self, fits: Callable[[Place], bool] = lambda place: True) -> Place:
        for index, place in enumerate(self._places):
            if fits(place):
                return self._places.pop(index)
        raise ValueError("no place is left that fits")

    def take_not(self, ids: Collection[int]) -> Place:
        return self.take(lambda place: place.id not in ids)

    def try_take(self, fits: Callable[[Place], bool]) -> Place | None:
        return next((self._places.pop(index) for index, place in enumerate(self._places) if fits(place)), None)

    def take_near(self, other: Place, least: float, most: float = 2_500.0) -> Place:
        """So many meters from the other one as the crow flies."""
        return self.take(lambda place: least <= gap(place, other) <= most)

    def route(self, start: Place, end: Place, mode: Mode) -> Route:
        return find_route(self.seed, start.spot, end.spot, mode)


def rungs(ladder: Sequence[T], drafts: int = DRAFTS) -> Iterator[tuple[int, T]]:
    """The steps of a ladder over and over, numbered: one for each draft."""
    return zip(range(drafts), cycle(ladder), strict=False)


def gap(one: Place, other: Place) -> float:
    return float(((one.x - other.x) ** 2 + (one.y - other.y) ** 2) ** 0.5)


def list_path(data: MapData, place: Place) -> str:
    """The page of the list of its category in its town on which the place stands."""
    names = sorted(
        other.name.lower() for other in data.places if (other.category, other.town) == (place.category, place.town)
    )
    category = place.category.replace(" ", "+")
    return f"/search?category={category}&town={place.town}&page={names.index(place.name.lower()) // PAGE_SIZE + 1}"


def directions_path(start: str = "", end: str = "", mode: str = "") -> str:
    given = (("from", start), ("to", end), ("mode", mode))
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in given if value)
    return f"/directions?{query}" if query else "/directions"


def ask_turns(fields: tuple[str, str, Mode], wanted: tuple[str, str, Mode]) -> int:
    """How many turns the form takes: one for each field that differs, one for the button; none if nothing differs."""
    changed = sum(now != then for now, then in zip(wanted, fields, strict=True))
    return changed + 1 if changed else 0


EMPTY_FORM: tuple[str, str, Mode] = ("", "", "car")


# --- spellings ------------------------------------------------------------------------------------------------------


def times(minutes: int) -> tuple[str, ...]:
    """Ways to write a time, as the site writes it first."""
    spelled = [duration(minutes), f"{minutes} min", f"{minutes} minutes", str(minutes)]
    if minutes == 1:
        spelled.append("1 minute")
    if minutes >= 60:
        hours, rest = divmod(minutes, 60)
        noun = "hour" if hours == 1 else "hours"
        spelled += [
            f"{hours} {noun} {rest} minutes",
            f"{hours} {noun} {rest} min",
            f"{hours} {noun} and {rest} minutes",
        ]
        spelled += [f"{hours}h {rest}min", f"{hours}h {rest}m"]
    return tuple(dict.fromkeys(spelled))


def lengths(meters: float) -> tuple[str, ...]:
    """Ways to write a distance, as the site writes it first."""
    shown = length(meters)
    number, unit = shown.split()
    if unit == "m":
        return shown, f"{number} meters", f"{number} metres", f"{int(number) / 1000:g} km"
    return shown, number, f"{number} kilometers", f"{number} kilometres"


def spans(hours: str) -> tuple[str, ...]:
    """Ways to write opening hours."""
    opens, _, closes = hours.partition("-")
    if not closes:
        return (hours,)
    return hours, f"{opens} - {closes}", f"{opens} to {closes}", f"from {opens} to {closes}"


def clock(time: str) -> tuple[str, ...]:
    """Ways to write a time of day such as 14:00."""
    hour, minute = (int(part) for part in time.split(":"))
    half, twelve = ("PM" if hour >= 12 else "AM"), (hour - 1) % 12 + 1
    spelled = [time, f"{twelve}:{minute:02d} {half}", f"{twelve}:{minute:02d}{half}"]
    if not minute:
        spelled += [f"{twelve} {half}", f"{twelve}{half}"]
    return tuple(spelled)


def listing(names: Sequence[str], last: str = "and") -> str:
    """A, B and C."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def letters(places: Sequence[Place]) -> tuple[tuple[str, str], ...]:
    """The parameters a, b, c, ... that name the places."""
    return tuple(zip("abcdef", (place.name for place in places), strict=False))


def emails(data: MapData) -> dict[int, str]:
    return {user.id: user.email for user in data.users}
