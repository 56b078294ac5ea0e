"""What the map holds at the start, as plain values: the seed decides all of it. Tasks are written from these."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import accumulate

from clickgrad.worlds.map import words
from clickgrad.worlds.map.geometry import Point, between, coordinates, distance
from clickgrad.worlds.map.land import District, Town
from clickgrad.worlds.map.network import Network, Road
from clickgrad.worlds.map.routing import Spot
from clickgrad.worlds.map.streets import is_on
from clickgrad.worlds.map.terrain import Terrain, terrain
from clickgrad.worlds.people import people
from clickgrad.worlds.site import NOW

USERS = 60
NOTES = 80
EDITS = 30
_HOUSE = 14  # meters of street for each house
_SETBACK = 16  # meters from the middle of the road to the door
_TRIES = 400


@dataclass(frozen=True, slots=True)
class Region:
    id: int
    name: str
    seed: int  # of the terrain, which is no table


@dataclass(frozen=True, slots=True)
class User:
    id: int
    name: str
    username: str
    email: str
    password: str


@dataclass(frozen=True, slots=True)
class Place:
    id: int
    name: str
    category: str
    number: int
    street: str
    town: str
    district: str
    postcode: str
    phone: str  # "" when there is none
    weekdays: str  # opening hours from Monday to Friday
    saturday: str
    sunday: str
    website: str
    rating: float
    x: int
    y: int
    road: int
    along: int

    @property
    def point(self) -> Point:
        return self.x, self.y

    @property
    def spot(self) -> Spot:
        return Spot(self.road, self.along)

    @property
    def address(self) -> str:
        return f"{self.number} {self.street}, {self.town}"

    @property
    def coordinates(self) -> str:
        return coordinates(self.point)


@dataclass(frozen=True, slots=True)
class PlaceList:
    id: int
    user_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Saved:
    id: int
    list_id: int
    place_id: int
    note: str
    created: str


@dataclass(frozen=True, slots=True)
class Note:
    """A problem on the map that a user has reported."""

    id: int
    user_id: int
    place_id: int
    problem: str
    text: str
    status: str  # Open, Resolved
    created: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to a place that a user has suggested; nobody has decided on it yet."""

    id: int
    user_id: int
    place_id: int
    field: str
    value: str
    created: str


@dataclass(frozen=True, slots=True)
class MapData:
    """One field per table, named without its `map_`; one dataclass field per column."""

    regions: tuple[Region, ...]
    users: tuple[User, ...]
    places: tuple[Place, ...]
    lists: tuple[PlaceList, ...]
    saved: tuple[Saved, ...]
    notes: tuple[Note, ...]
    edits: tuple[Edit, ...]


@cache
def map_data(seed: int) -> MapData:
    rng, ground = random.Random(f"map {seed}"), terrain(seed)
    users = tuple(
        User(index, person.name, person.username, person.email, person.password)
        for index, person in enumerate(people(seed)[:USERS], 1)
    )
    places = tuple(_Builder(ground, rng).places())
    lists = tuple(_lists(rng, users))
    return MapData(
        regions=(Region(1, ground.name, seed),),
        users=users,
        places=places,
        lists=lists,
        saved=tuple(_saved(rng, lists, places)),
        notes=tuple(_notes(rng, users, places)),
        edits=tuple(_edits(rng, users, places)),
    )


# --- places ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Site:
    """An address that is still free."""

    town: Town
    district: District
    road: Road
    along: int
    number: int
    point: Point


class _Builder:
    """Deals addresses and names; no two places share either."""

    def __init__(self, ground: Terrain, rng: random.Random) -> None:
        self._ground = ground
        self._rng = rng
        self._names: set[str] = set()
        self._addresses: set[tuple[str, str, int]] = set()
        self._roads = {town.name: _weighed_roads(ground.network, town) for town in ground.towns}
        self._shares = [town.share for town in ground.towns]

    def places(self) -> Iterator[Place]:
        made = [*self._parks()]
        for category, kind in words.KINDS.items():
            if kind.names:
                made += [self._place(category) for _ in range(kind.count)]
        self._rng.shuffle(made)
        for index, (name, category, site) in enumerate(made, 1):
            yield self._complete(index, name, category, site)

    def _parks(self) -> Iterator[tuple[str, str, _Site]]:
        for park in self._ground.parks:
            town = next(town for town in self._ground.towns if town.name == park.town)
            border = [road for road in self._ground.network.roads if is_on(road, park)]
            for _ in range(_TRIES):
                site = self._site(town, self._rng.choice(border))
                if site:
                    yield park.name, "Park", self._take(park.name, site)
                    break

    def _place(self, category: str) -> tuple[str, str, _Site]:
        for _ in range(_TRIES):
            town = self._rng.choices(self._ground.towns, self._shares)[0]
            roads, weights = self._roads[town.name]
            site = self._site(town, self._rng.choices(roads, cum_weights=weights)[0])
            if site is None or (category == "Gas Station" and site.road.kind == "square"):
                continue
            name = self._name(category, site)
            if name not in self._names:
                return name, category, self._take(name, site)
        raise ValueError(f"no more names for the category {category}")

    def _site(self, town: Town, road: Road) -> _Site | None:
        along = self._rng.randint(14, max(15, int(road.length) - 14))
        right = self._rng.random() < 0.5
        number = 2 * int((road.start + along) // _HOUSE) + (2 if right else 1)
        if (town.name, road.name, number) in self._addresses:
            return None
        points = self._ground.network.points
        a, b = points[road.a], points[road.b]
        x, y = between(a, b, along / road.length)
        aside = (_SETBACK if right else -_SETBACK) / road.length
        point = (x - (b[1] - a[1]) * aside, y + (b[0] - a[0]) * aside)
        if self._ground.land.is_wet(point, 10):  # on a bridge
            return None
        return _Site(town, town.district_at(point), road, along, number, point)

    def _take(self, name: str, site: _Site) -> _Site:
        self._names.add(name)
        self._addresses.add((site.town.name, site.road.name, site.number))
        return site

    def _name(self, category: str, site: _Site) -> str:
        noun, second = self._rng.sample(words.NOUNS, 2)
        return self._rng.choice(words.KINDS[category].names).format(
            adjective=self._rng.choice(words.ADJECTIVES),
            noun=noun,
            second=second,
            surname=self._rng.choice(words.SURNAMES),
            tree=self._rng.choice(words.TREES),
            saint=self._rng.choice(words.SAINTS),
            topic=self._rng.choice(words.TOPICS),
            town=site.town.name,
            district=site.district.name,
        )

    def _complete(self, place_id: int, name: str, category: str, site: _Site) -> Place:
        rng = self._rng
        weekdays, saturday, sunday = rng.choice(words.KINDS[category].hours)
        return Place(
            id=place_id,
            name=name,
            category=category,
            number=site.number,
            street=site.road.name,
            town=site.town.name,
            district=site.district.name,
            postcode=site.district.postcode,
            phone="" if category == "Park" else f"{site.town.area_code}-555-{rng.randint(1000, 9999)}",
            weekdays=weekdays,
            saturday=saturday,
            sunday=sunday,
            website=f"www.{name.lower().replace(' ', '-')}.example",
            rating=round(rng.triangular(2.4, 5.0, 4.2), 1),
            x=round(site.point[0]),
            y=round(site.point[1]),
            road=site.road.id,
            along=site.along,
        )


def _weighed_roads(network: Network, town: Town) -> tuple[list[Road], list[float]]:
    """The town's streets and running totals of their weights: the middle of a town is denser."""
    roads = [road for road in network.roads if road.town == town.name and road.kind != "path" and road.length > 40]
    weights = []
    for road in roads:
        far = distance(between(network.points[road.a], network.points[road.b], 0.5), town.center) / town.radius
        weights.append(road.length * math.exp(-1.6 * far * far) * (1.5 if road.kind == "avenue" else 1.0))
    return roads, list(accumulate(weights))


# --- what users have done -------------------------------------------------------------------------------------------


def _lists(rng: random.Random, users: tuple[User, ...]) -> Iterator[PlaceList]:
    next_id = 1
    for user in users:
        extra = rng.sample(words.EXTRA_LISTS, 1 if user.id == 1 else rng.choice((0, 1, 1, 2)))
        for name in (*words.LISTS, *extra):
            yield PlaceList(next_id, user.id, name)
            next_id += 1


def _saved(rng: random.Random, lists: tuple[PlaceList, ...], places: tuple[Place, ...]) -> Iterator[Saved]:
    next_id = 1
    for own in lists:
        # No place twice in one user's lists: "my note on X" is then one note.
        count = 1 if own.name in ("Home", "Work") else rng.randint(4, 7)
        if own.name == words.LISTS[0]:
            pool = iter(rng.sample(places, 60))
        for place, day in zip(pool, sorted(rng.sample(range(2, 400), count), reverse=True), strict=False):
            note = rng.choice(words.SAVED_NOTES) if rng.random() < 0.5 else ""
            yield Saved(next_id, own.id, place.id, note, _days_ago(day))
            next_id += 1


def _notes(rng: random.Random, users: tuple[User, ...], places: tuple[Place, ...]) -> Iterator[Note]:
    days = sorted((rng.randint(1, 200) for _ in range(NOTES)), reverse=True)
    for index, (day, place) in enumerate(zip(days, rng.sample(places, NOTES), strict=True), 1):
        problem = rng.choice(words.PROBLEMS)
        text = rng.choice(words.PROBLEM_TEXTS[problem])
        author = 1 if index % 12 == 0 else rng.choice(users[1:]).id
        yield Note(index, author, place.id, problem, text, rng.choice(("Open", "Open", "Resolved")), _days_ago(day))


def _edits(rng: random.Random, users: tuple[User, ...], places: tuple[Place, ...]) -> Iterator[Edit]:
    days = sorted((rng.randint(1, 60) for _ in range(EDITS)), reverse=True)
    phones = [place for place in places if place.phone]
    for index, (day, place) in enumerate(zip(days, rng.sample(phones, EDITS), strict=True), 1):
        field = rng.choice(("Phone", "Website"))
        value = f"{place.phone[:8]}{rng.randint(1000, 9999)}" if field == "Phone" else f"{place.website}/home"
        yield Edit(index, rng.choice(users[1:]).id, place.id, field, value, _days_ago(day))


def _days_ago(days: int) -> str:
    return (NOW - timedelta(days=days)).date().isoformat()
