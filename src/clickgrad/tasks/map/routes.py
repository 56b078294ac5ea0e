"""Templates about ways from one place to another: time and distance, comparisons, tours, and opening the directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from clickgrad.tasks.map.finding import UNCHANGED, found_draft, pick_nearest
from clickgrad.tasks.map.picks import (
    EMPTY_FORM,
    MODE_ORDER,
    TRAVEL,
    Deck,
    ask_turns,
    directions_path,
    gap,
    lengths,
    letters,
    listing,
    rungs,
    times,
)
from clickgrad.tasks.templates import Draft
from clickgrad.types import Scalar, UrlCheck
from clickgrad.worlds.map.data import Place
from clickgrad.worlds.map.network import Mode, top_speed
from clickgrad.worlds.map.pages import PAGE_SIZE, length

_VERBS: dict[Mode, str] = {"car": "drive", "bike": "cycle", "foot": "walk"}
_ADJECTIVES: dict[Mode, str] = {"car": "driving", "bike": "cycling", "foot": "walking"}
_FASTER = {("car", "bike"): "driving faster than cycling", ("bike", "foot"): "cycling faster than walking"}


def shown_m(deck: Deck, start: Place, end: Place, mode: Mode) -> float:
    """The distance as the page shows it."""
    number, unit = length(deck.route(start, end, mode).meters).split()
    return float(number) * (1000 if unit == "km" else 1)


def _start(where: str, a: Place, b: Place) -> tuple[str, int, tuple[str, str, Mode]]:
    """Where a task starts: the path, the turns until the form is in sight, and what the form then holds."""
    if where == "home":
        return "/", 1, EMPTY_FORM
    if where == "form":
        return "/directions", 0, EMPTY_FORM
    if where == "place":
        return f"/place/{a.id}", 1, (a.name, "", "car")
    return directions_path(a.name, b.name, "car"), 0, (a.name, b.name, "car")


def route_fact(seed: int) -> Iterator[Draft]:
    deck = Deck("route_fact", seed)
    # (start, what is asked, whether the trip is by car)
    ladder = (
        ("route", "Time", True), ("all", "Time", True), ("route", "Distance", False), ("form", "Time", True),
        ("home", "Distance", False), ("route", "Distance", True), ("all", "Distance", True), ("place", "Time", False),
        ("route", "Time", False), ("home", "Time", True), ("all", "Time", True), ("form", "Distance", False),
    )  # fmt: skip
    for index, (where, fact, by_car) in rungs(ladder):
        a = deck.take()
        mode: Mode = "car" if by_car else MODE_ORDER[1 + index % 2]
        b = deck.take_near(a, 350, 2_500 if mode == "foot" or where == "all" else 40_000)
        if where == "all":
            yield _all_modes(deck, a, b, fact)
            continue
        route = deck.route(a, b, mode)
        path, clicks, form = _start(where, a, b)
        question = "How long does it take to {verb}" if fact == "Time" else "What is the {adjective} distance"
        intent = question.format(verb=_VERBS[mode], adjective=_ADJECTIVES[mode])
        yield found_draft(
            f"{intent} from {a.name} to {b.name}?",
            path,
            times(route.minutes) if fact == "Time" else lengths(route.meters),
            clicks + ask_turns(form, (a.name, b.name, mode)) + 1,
            (("kind", "one"), *letters((a, b)), ("mode", mode), ("fact", fact)),
        )


def _all_modes(deck: Deck, a: Place, b: Place, fact: str) -> Draft:
    """By car, by bike and on foot: from home, to the form, start, end, button, and twice another mode."""
    routes = [deck.route(a, b, mode) for mode in MODE_ORDER]
    asked = "How long does it take" if fact == "Time" else "What is the distance"
    shown = [times(one.minutes)[0] if fact == "Time" else lengths(one.meters)[0] for one in routes]
    intent = f"{asked} from {a.name} to {b.name} by car, by bike and on foot? Give all three as the site shows them."
    params = (("kind", "all"), *letters((a, b)), ("fact", fact))
    return found_draft(intent, "/", tuple(dict.fromkeys(shown)), 9, params, "includes")


def compare_routes(seed: int) -> Iterator[Draft]:
    """Which of several places is nearer, and by how much one mode beats another."""
    deck = Deck("compare_routes", seed)
    # (kind, start, number of places to choose from)
    ladder = (
        ("modes", "route", 1), ("nearer", "home", 3), ("modes", "route", 1), ("nearer", "form", 2),
        ("nearer", "home", 2), ("modes", "home", 1), ("modes", "route", 1), ("nearer", "home", 4), ("modes", "form", 1),
        ("nearer", "form", 3),
    )  # fmt: skip
    for index, (kind, where, count) in rungs(ladder):
        if kind == "modes":
            yield _faster_by(deck, where, ("car", "bike") if index % 2 else ("bike", "foot"))
        else:
            yield _nearer(deck, where, MODE_ORDER[index % 3], count)


def _faster_by(deck: Deck, where: str, modes: tuple[Mode, Mode]) -> Draft:
    fast, slow = modes
    a = deck.take()

    def fits(place: Place) -> bool:
        if gap(place, a) < 700 or place.town != a.town:
            return False
        return deck.route(a, place, slow).minutes > deck.route(a, place, fast).minutes

    b = deck.take(fits)
    difference = deck.route(a, b, slow).minutes - deck.route(a, b, fast).minutes
    path, clicks, form = ("/", 1, EMPTY_FORM) if where == "home" else ("/directions", 0, EMPTY_FORM)
    if where == "route":
        path, form = directions_path(a.name, b.name, fast), (a.name, b.name, fast)
    turns = clicks + ask_turns(form, (a.name, b.name, fast)) + 2 + 1  # the other mode, the button, the answer
    return found_draft(
        f"By how many minutes is {_FASTER[modes]} from {a.name} to {b.name}?",
        path,
        times(difference),
        turns,
        (("kind", "modes"), *letters((a, b)), ("mode", fast), ("mode_2", slow)),
    )


def _nearer(deck: Deck, where: str, mode: Mode, count: int) -> Draft:
    a = deck.take()
    ends: list[Place] = []
    while len(ends) < count:
        known = [shown_m(deck, a, end, mode) for end in ends]

        def fits(place: Place, known: Sequence[float] = known) -> bool:
            if not (place.town == a.town and 250 < gap(place, a) < 2_500):
                return False
            return all(abs(shown_m(deck, a, place, mode) - other) >= 150 for other in known)

        ends.append(deck.take(fits))
    best = min(ends, key=lambda end: shown_m(deck, a, end, mode))
    first = (a.name, ends[0].name, mode)
    turns = (where == "home") + ask_turns(EMPTY_FORM, first) + 2 * (count - 1) + 1
    names = listing([end.name for end in ends], "or")
    return found_draft(
        f"By distance {TRAVEL[mode]}, which is closest to {a.name}: {names}?",
        "/" if where == "home" else "/directions",
        (best.name,),
        turns,
        (("kind", "nearer"), *letters((a, *ends)), ("mode", mode)),
    )


def within_reach(seed: int) -> Iterator[Draft]:
    """Exactly one of the places is near enough."""
    deck = Deck("within_reach", seed)
    ladder = (
        ("route", 2), ("home", 3), ("route", 3), ("form", 2), ("home", 5), ("route", 2), ("home", 4), ("route", 3),
    )  # fmt: skip
    limits = ((12, "Time", "foot"), (1_000, "Distance", "foot"), (5, "Time", "bike"), (1_500, "Distance", "foot"))
    for index, (where, count) in rungs(ladder):
        limit, fact, mode = limits[index % len(limits)]
        yield _reach_draft(deck, where, count, limit, fact, "bike" if mode == "bike" else "foot")


def _reach_draft(deck: Deck, where: str, count: int, limit: int, fact: str, mode: Mode) -> Draft:
    reach = limit if fact == "Distance" else limit * 60 * top_speed(mode)  # in meters, as the crow flies

    def size(a: Place, b: Place) -> float:
        return float(deck.route(a, b, mode).minutes) if fact == "Time" else shown_m(deck, a, b, mode)

    def far(a: Place) -> Callable[[Place], bool]:
        return lambda place: 1.1 * reach < gap(place, a) < 3 * reach and size(a, place) > 1.15 * limit

    def near(a: Place) -> Callable[[Place], bool]:
        return lambda place: 0.2 * reach < gap(place, a) < 0.7 * reach and size(a, place) < 0.87 * limit

    a, inside, ends = _near_and_far(deck, near, far, count)
    text = f"{limit} minutes" if fact == "Time" else f"{limit / 1000:g} km"
    first = (a.name, ends[0].name, mode)
    form = first if where == "route" else EMPTY_FORM
    paths = {"home": "/", "form": "/directions", "route": directions_path(a.name, ends[0].name, mode)}
    return found_draft(
        f"Which one is within {text} {TRAVEL[mode]} of {a.name}: {listing([end.name for end in ends], 'or')}?",
        paths[where],
        (inside.name,),
        (where == "home") + ask_turns(form, first) + 2 * (count - 1) + 1,
        (("kind", fact), *letters((a, *ends)), ("mode", mode), ("limit", limit)),
    )


def _near_and_far(
    deck: Deck,
    near: Callable[[Place], Callable[[Place], bool]],
    far: Callable[[Place], Callable[[Place], bool]],
    count: int,
) -> tuple[Place, Place, list[Place]]:
    """A place, one that is near it, and that one among others that are far, in random order."""
    while True:
        a = deck.take()
        inside = deck.try_take(near(a))
        outside = [deck.try_take(far(a)) for _ in range(count - 1)]
        ends = [end for end in (inside, *outside) if end is not None]
        if inside is not None and len(ends) == count:
            deck.rng.shuffle(ends)
            return a, inside, ends


def tour(seed: int) -> Iterator[Draft]:
    """The sum of two or three legs, each looked up on its own."""
    deck = Deck("tour", seed)
    ladder = (("home", 2), ("route", 2), ("form", 3), ("route", 2), ("home", 4), ("route", 3))
    for index, (where, legs) in rungs(ladder):
        mode = MODE_ORDER[index % 3]
        stops = [deck.take()]
        while len(stops) <= legs:
            stops.append(deck.take_near(stops[-1], 250))
        total = sum(deck.route(a, b, mode).minutes for a, b in pairwise(stops))
        first = (stops[0].name, stops[1].name, mode)
        form = first if where == "route" else EMPTY_FORM
        paths = {"home": "/", "form": "/directions", "route": directions_path(*first)}
        names = [stop.name for stop in stops]
        yield found_draft(
            f"How many minutes does a tour {TRAVEL[mode]} take from {names[0]} to {', then to '.join(names[1:])}?",
            paths[where],
            times(total),
            (where == "home") + ask_turns(form, first) + 3 * (legs - 1) + 1,
            (*letters(stops), ("mode", mode)),
        )


def directions_check(a: Place, b: Place, mode: Mode) -> UrlCheck:
    return UrlCheck("map", "/directions", (("from", a.name), ("to", b.name), ("mode", mode)))


def open_directions(seed: int) -> Iterator[Draft]:
    deck = Deck("open_directions", seed)
    ladder = ("route", "nearest", "swap", "form", "home", "nearest", "route", "place", "nearest", "swap", "home")
    for index, where in rungs(ladder):
        if where == "nearest":
            yield _directions_to_nearest(deck, MODE_ORDER[index % 3])
            continue
        a, b = deck.take(), deck.take()
        mode = MODE_ORDER[1 + index % 2] if where in ("route", "swap") else MODE_ORDER[index % 3]
        path, clicks, form = _start(where, a, b)
        turns = clicks + ask_turns(form, (a.name, b.name, mode)) + 1
        intent = f"Show the directions from {a.name} to {b.name} {TRAVEL[mode]}."
        if where == "swap":
            path, turns = directions_path(b.name, a.name, mode), 2
        params: tuple[tuple[str, Scalar], ...] = (("kind", where), *letters((a, b)), ("mode", mode))
        yield Draft(intent, path, (directions_check(a, b, mode), UNCHANGED), turns, params)


def _directions_to_nearest(deck: Deck, mode: Mode) -> Draft:
    """Search, open, nearby, category, show, open, directions, from, [mode,] get them, done."""
    a, category, b = pick_nearest(deck)
    intent = f"Show the directions {TRAVEL[mode]} from {a.name} to the {category} nearest to it."
    params = (("kind", "nearest"), ("a", a.name), ("category", category), ("mode", mode))
    return Draft(intent, "/", (directions_check(a, b, mode), UNCHANGED), 10 + (mode != "car"), params)


# --- kept out of training -------------------------------------------------------------------------------------------


def route_steps(seed: int) -> Iterator[Draft]:
    """What the list of steps says: where the way begins, and which road it follows longest."""
    deck = Deck("route_steps", seed)
    ladder = (("longest", "route"), ("first", "form"), ("longest", "home"), ("first", "home"), ("longest", "form"))
    for index, (kind, where) in rungs(ladder):
        mode = MODE_ORDER[index % 3]
        a, b = _plain_pair(deck, mode)
        steps = deck.route(a, b, mode).steps
        step = steps[0] if kind == "first" else max(steps, key=lambda step: step.meters)
        way = f"the {_ADJECTIVES[mode]} directions from {a.name} to {b.name}"
        form = (a.name, b.name, mode) if where == "route" else EMPTY_FORM
        paths = {"home": "/", "form": "/directions", "route": directions_path(a.name, b.name, mode)}
        yield found_draft(
            f"On which road do {way} begin?"
            if kind == "first"
            else f"Which road do {way} follow for the longest stretch?",
            paths[where],
            (_road(step.text),),
            (where == "home") + ask_turns(form, (a.name, b.name, mode)) + 1,
            (("kind", kind), *letters((a, b)), ("mode", mode)),
        )


def _plain_pair(deck: Deck, mode: Mode) -> tuple[Place, Place]:
    """Two places whose route fits on one page, takes each road once, and has one clearly longest step."""

    def fits(a: Place, b: Place) -> bool:
        if not 500 < gap(a, b) < 9_000:
            return False
        steps = deck.route(a, b, mode).steps
        roads = {_road(step.text) for step in steps}
        sizes = sorted((step.meters for step in steps), reverse=True)
        return 2 < len(steps) <= PAGE_SIZE and len(roads - {""}) == len(steps) and sizes[0] > 1.2 * sizes[1]

    while True:
        a = deck.take()
        candidates = deck.rng.sample(deck.data.places, 12)
        b = next((place for place in candidates if fits(a, place)), None)
        if b:
            return a, b


def _road(text: str) -> str:
    """Turn left onto Mill Road -> Mill Road."""
    return text.replace(" onto ", " on ").partition(" on ")[2]
