"""Templates about places: facts, coordinates, what is nearest and how many there are. They change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clickgrad.tasks.map.picks import MANY, Deck, clock, gap, letters, list_path, listing, rungs, spans, times
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Scalar, StateCheck
from clickgrad.worlds.map.browse import RADII
from clickgrad.worlds.map.data import Place

UNCHANGED = StateCheck(())
_ROUND_THE_CLOCK = "24 hours"
# fact -> (the question, the answer in all its spellings)
_FACTS: dict[str, tuple[str, Callable[[Place], tuple[str, ...]]]] = {
    "Phone": ("What is the phone number of {}?", lambda place: (place.phone,)),
    "Postcode": ("What is the postcode of {}?", lambda place: (place.postcode,)),
    "Saturday": ("What are the opening hours of {} on Saturday?", lambda place: spans(place.saturday)),
    "Website": ("What is the website of {}?", lambda place: (place.website, place.website.removeprefix("www."))),
    "Closing": (
        "At what time does {} close on Saturday?",
        lambda place: clock(place.saturday.partition("-")[2]),
    ),
    "District": ("In which district is {}?", lambda place: (place.district,)),
    "Address": (
        "What is the street address of {}?",
        lambda place: (place.address, place.address.rpartition(",")[0], f"{place.address} {place.postcode}"),
    ),
}
_PLURALS = {"Phone": "phone numbers", "Postcode": "postcodes", "Website": "websites"}


def has_hours(place: Place) -> bool:
    """Open on Saturday, but not all night."""
    return place.saturday not in ("closed", _ROUND_THE_CLOCK)


def closing(place: Place) -> int:
    """On Saturday, in minutes after midnight."""
    hour, minute = place.saturday.partition("-")[2].split(":")
    return 60 * int(hour) + int(minute)


def found_draft(
    intent: str,
    start_path: str,
    expected: Sequence[str],
    turns: int,
    params: Sequence[tuple[str, Scalar]],
    mode: str = "",
) -> Draft:
    """A question with an answer, after which nothing may have changed."""
    answer = AnswerCheck(tuple(expected), "includes") if mode == "includes" else AnswerCheck(tuple(expected))
    return Draft(intent, start_path, (answer, UNCHANGED), turns, tuple(params))


def place_fact(seed: int) -> Iterator[Draft]:
    deck = Deck("place_fact", seed)
    # (kind, start, number of places, fact)
    ladder = (
        ("one", "page", 1, "Phone"), ("latest", "home", 5, ""), ("one", "list", 1, "Saturday"),
        ("several", "home", 2, "Phone"), ("one", "home", 1, "Address"), ("several", "home", 5, "Phone"),
        ("latest", "home", 2, ""), ("one", "list", 1, "Postcode"), ("several", "home", 4, "Website"),
        ("one", "home", 1, "Website"), ("several", "home", 3, "Postcode"), ("latest", "home", 6, ""),
        ("one", "page", 1, "District"), ("latest", "home", 3, ""), ("several", "home", 6, "Phone"),
        ("one", "home", 1, "Closing"),
    )  # fmt: skip
    for _, (kind, start, count, fact) in rungs(ladder, MANY):
        if kind == "one":
            yield _one_fact(deck, start, fact)
        elif kind == "several":
            yield _several_facts(deck, count, fact)
        else:
            yield _latest(deck, count)


def _one_fact(deck: Deck, start: str, fact: str) -> Draft:
    question, answer = _FACTS[fact]
    place = deck.take(has_hours)
    paths = {"page": f"/place/{place.id}", "list": list_path(deck.data, place), "home": "/"}
    # The list already says the address; all else stands on the place's own page.
    turns = {"page": 1, "list": 2, "home": 3}[start] - (fact == "Address" and start != "page")
    return found_draft(
        question.format(place.name),
        paths[start],
        answer(place),
        turns,
        (("kind", "one"), ("a", place.name), ("fact", fact)),
    )


def _several_facts(deck: Deck, count: int, fact: str) -> Draft:
    places = [deck.take(has_hours) for _ in range(count)]
    intent = f"What are the {_PLURALS[fact]} of {listing([place.name for place in places])}?"
    expected = [_FACTS[fact][1](place)[0] for place in places]
    params = (("kind", "several"), ("fact", fact), *letters(places))
    return found_draft(intent, "/", tuple(dict.fromkeys(expected)), 2 * count + 1, params, "includes")


def _latest(deck: Deck, count: int) -> Draft:
    """Which of several closes last: search and open each, then say."""
    places = [deck.take(has_hours)]
    while len(places) < count:
        places.append(deck.take(lambda place: has_hours(place) and closing(place) not in map(closing, places)))
    best = max(places, key=closing)
    names = listing([place.name for place in places], "or")
    return found_draft(
        f"Which one closes latest on Saturday: {names}?",
        "/",
        (best.name,),
        2 * count + 1,
        (("kind", "latest"), *letters(places)),
    )


def coordinates(seed: int) -> Iterator[Draft]:
    """Coordinates of a place, the place at coordinates, and which of several lies farthest north."""
    deck = Deck("coordinates", seed)
    ladder: tuple[tuple[str, str | int], ...] = (
        ("of", "page"), ("north", 5), ("at", ""), ("of two", ""), ("north", 6), ("of", "home"), ("north", 3),
        ("at", "Phone"), ("north", 4), ("of", "list"), ("of two", ""), ("north", 6), ("at", "Postcode"),
    )  # fmt: skip
    for _, (kind, detail) in rungs(ladder):
        if kind == "of":
            yield _coordinates_of(deck, str(detail))
        elif kind == "of two":
            places = [deck.take(), deck.take()]
            intent = f"What are the coordinates of {places[0].name} and of {places[1].name}?"
            expected = [place.coordinates for place in places]
            yield found_draft(intent, "/", expected, 5, (("kind", "of"), *letters(places)), "includes")
        elif kind == "at":
            yield _at(deck, str(detail))
        else:
            yield _farthest_north(deck, int(detail))


def _coordinates_of(deck: Deck, start: str) -> Draft:
    place = deck.take()
    paths = {"page": f"/place/{place.id}", "list": list_path(deck.data, place), "home": "/"}
    spelled = (place.coordinates, place.coordinates.replace(" ", ""), f"({place.coordinates})")
    turns = {"page": 1, "list": 2, "home": 3}[start]
    intent = f"What are the coordinates of {place.name}?"
    return found_draft(intent, paths[start], spelled, turns, (("kind", "of"), ("a", place.name)))


def _at(deck: Deck, fact: str) -> Draft:
    """Places so close to each other that coordinates cannot tell them apart are not asked for."""

    def stands_alone(place: Place) -> bool:
        return bool(place.phone) and all(gap(place, other) > 40 for other in deck.data.places if other.id != place.id)

    place = deck.take(stands_alone)
    params = (("kind", "at"), ("at", place.coordinates), ("fact", fact or None))
    if not fact:
        return found_draft(f"Which place is at the coordinates {place.coordinates}?", "/", (place.name,), 2, params)
    asked = {"Phone": "phone number", "Postcode": "postcode"}[fact]
    intent = f"What is the {asked} of the place at the coordinates {place.coordinates}?"
    return found_draft(intent, "/", _FACTS[fact][1](place), 3, params)


def _farthest_north(deck: Deck, count: int) -> Draft:
    places = [deck.take()]
    while len(places) < count:
        places.append(deck.take(lambda place: all(abs(place.y - other.y) > 60 for other in places)))
    best = min(places, key=lambda place: place.y)
    intent = f"By their coordinates, which one lies farthest north: {listing([place.name for place in places], 'or')}?"
    return found_draft(intent, "/", (best.name,), 2 * count + 1, (("kind", "north"), *letters(places)))


# --- near a place ---------------------------------------------------------------------------------------------------


def within(deck: Deck, center: Place, meters: int, category: str) -> list[Place]:
    """The nearest first."""
    others = [place for place in deck.data.places if place.category == category and place.id != center.id]
    return sorted((place for place in others if gap(place, center) <= meters), key=lambda place: gap(place, center))


def pick_nearest(deck: Deck) -> tuple[Place, str, Place]:
    """A place, a category, and the one of that category that is clearly nearest to it, within a kilometer."""
    categories = (
        "Pharmacy",
        "Cafe",
        "Bakery",
        "Bank",
        "Hotel",
        "Supermarket",
        "Bar",
        "Dentist",
        "School",
        "Restaurant",
    )
    category = deck.rng.choice(categories)

    def is_clear(place: Place) -> bool:
        found = within(deck, place, 900, category)
        clear = len(found) > 1 and gap(found[1], place) - gap(found[0], place) > 25
        return clear and place.category != category

    center = deck.take(is_clear)
    return center, category, within(deck, center, 900, category)[0]


def nearest(seed: int) -> Iterator[Draft]:
    deck = Deck("nearest", seed)
    # (start, what is asked of the nearest)
    ladder = (
        ("nearby", ""), ("walk", ""), ("page", "Phone"), ("nearby", ""), ("home", "Postcode"), ("walk", ""),
        ("page", ""), ("nearby", ""), ("walk", ""), ("home", ""),
    )  # fmt: skip
    for _, (start, fact) in rungs(ladder):
        if start == "walk":
            yield _walk_to_nearest(deck)
            continue
        center, category, best = pick_nearest(deck)
        paths = {"nearby": f"/place/{center.id}/nearby", "page": f"/place/{center.id}", "home": "/"}
        asked = {"Phone": "What is the phone number of", "Postcode": "What is the postcode of", "": "What is"}[fact]
        yield found_draft(
            f"{asked} the {category} nearest to {center.name}?",
            paths[start],
            _FACTS[fact][1](best) if fact else (best.name,),
            {"nearby": 3, "page": 4, "home": 6}[start] + bool(fact),
            (("kind", "nearest"), ("a", center.name), ("category", category), ("fact", fact or None)),
        )


def _walk_to_nearest(deck: Deck) -> Draft:
    """Search, open, nearby, category, show, open the nearest, directions, from, on foot, get them, answer."""
    center, category, best = pick_nearest(deck)
    route = deck.route(center, best, "foot")
    intent = f"How long does it take to walk from {center.name} to the nearest {category}?"
    return found_draft(
        intent, "/", times(route.minutes), 11, (("kind", "walk"), ("a", center.name), ("category", category))
    )


def count_near(seed: int) -> Iterator[Draft]:
    deck = Deck("count_near", seed)
    # (start, or what is counted from home; radius)
    ladder = (
        ("nearby", "1000"), ("two places", "500"), ("nearby", "1000"), ("page", "500"), ("two categories", "500"),
        ("nearby", "1000"), ("home", "500"), ("two places", "500"), ("nearby", "250"), ("two categories", "2000"),
    )  # fmt: skip
    for _, (start, radius) in rungs(ladder):
        if start == "two places":
            yield _count_at_two_places(deck, radius)
        elif start == "two categories":
            yield _count_two_categories(deck, radius)
        else:
            yield _count_one(deck, start, radius)


_COUNTED = ("Restaurant", "Cafe", "Hotel", "Bar", "Bakery", "Hair Salon", "Clothing Store", "Pharmacy", "Supermarket")


def _countable(deck: Deck, category: str, radius: str) -> Callable[[Place], bool]:
    def fits(place: Place) -> bool:
        found = len(within(deck, place, int(radius), category))
        return 2 <= found <= 150 and place.category != category

    return fits


def _counts(total: int) -> tuple[str, ...]:
    return str(total), f"{total} places"


def _count_one(deck: Deck, start: str, radius: str) -> Draft:
    category = deck.rng.choice(_COUNTED)
    center = deck.take(_countable(deck, category, radius))
    paths = {"nearby": f"/place/{center.id}/nearby", "page": f"/place/{center.id}", "home": "/"}
    return found_draft(
        f"How many places of the category {category} are within {RADII[radius]} of {center.name}?",
        paths[start],
        _counts(len(within(deck, center, int(radius), category))),
        {"nearby": 3, "page": 4, "home": 6}[start] + (radius != "1000"),
        (("a", center.name), ("category", category), ("radius", RADII[radius])),
    )


def _count_two_categories(deck: Deck, radius: str) -> Draft:
    one, other = deck.rng.sample(_COUNTED, 2)
    fits, fits_too = _countable(deck, one, radius), _countable(deck, other, radius)
    center = deck.take(lambda place: fits(place) and fits_too(place))
    total = sum(len(within(deck, center, int(radius), category)) for category in (one, other))
    return found_draft(
        f"How many places of the categories {one} and {other} together are within {RADII[radius]} of {center.name}?",
        "/",
        _counts(total),
        9,  # search, open, nearby, category, radius, show, the other category, show, answer
        (("a", center.name), ("category", one), ("category_2", other), ("radius", RADII[radius])),
    )


def _count_at_two_places(deck: Deck, radius: str) -> Draft:
    """Which of two places has more around it."""
    category = deck.rng.choice(_COUNTED)
    fits = _countable(deck, category, radius)
    one = deck.take(fits)
    found = len(within(deck, one, int(radius), category))
    other = deck.take(lambda place: fits(place) and len(within(deck, place, int(radius), category)) != found)
    best = max((one, other), key=lambda place: len(within(deck, place, int(radius), category)))
    return found_draft(
        f"Which has more places of the category {category} within {RADII[radius]}: {one.name} or {other.name}?",
        "/",
        (best.name,),
        13,  # twice search, open, nearby, category, radius, show; then the answer
        (*letters((one, other)), ("category", category), ("radius", RADII[radius])),
    )
