"""Templates about pages to open, about what does not exist here, and about the best of a category."""

from __future__ import annotations

from collections.abc import Iterator

from clickgrad.tasks.map.changing import own_lists
from clickgrad.tasks.map.finding import UNCHANGED, found_draft, pick_nearest, within
from clickgrad.tasks.map.picks import Deck, emails, letters, list_path, listing, rungs
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Scalar, UrlCheck
from clickgrad.worlds.map.browse import RADII
from clickgrad.worlds.map.data import Place
from clickgrad.worlds.map.words import ADJECTIVES, KINDS, LISTS, NOUNS


def _page_draft(
    intent: str, start: str, path: str, turns: int, params: tuple[tuple[str, Scalar], ...], **query: str
) -> Draft:
    return Draft(intent, start, (UrlCheck("map", path, tuple(query.items())), UNCHANGED), turns, params)


def open_page(seed: int) -> Iterator[Draft]:
    deck = Deck("open_page", seed)
    pairs = [(category, town) for category in KINDS for town in sorted({place.town for place in deck.data.places})]
    deck.rng.shuffle(pairs)
    ladder = (
        "place", "nearest", "share", "far nearby", "nearby", "here", "nearest", "report", "category", "list",
        "nearest", "far nearby",
    )  # fmt: skip
    for _, kind in rungs(ladder):
        place = deck.take()
        params: tuple[tuple[str, Scalar], ...] = (("kind", kind), ("a", place.name))
        if kind == "place":
            yield _page_draft(f"Open the page of {place.name}.", "/", f"/place/{place.id}", 3, params)
        elif kind == "list":
            start = list_path(deck.data, place)
            yield _page_draft(f"Open the page of {place.name}.", start, f"/place/{place.id}", 2, params)
        elif kind == "share":
            start, path = list_path(deck.data, place), f"/place/{place.id}/share"
            yield _page_draft(f"Open the page for sharing {place.name}.", start, path, 3, params)
        elif kind == "report":
            path = f"/place/{place.id}/report"
            yield _page_draft(f"Open the form to report a problem with {place.name}.", "/", path, 4, params)
        elif kind == "here":
            at = place.coordinates
            params = (("kind", kind), ("at", at))
            yield _page_draft(f"Show what is at the coordinates {at}.", "/", "/here", 2, params, at=at)
        elif kind == "category":
            category, town = pairs.pop()
            params = (("kind", kind), ("category", category), ("town", town))
            intent = f"Show the list of all places of the category {category} in {town}."
            yield _page_draft(intent, "/", "/search", 5, params, category=category, town=town)
        elif kind == "nearest":
            yield _open_nearest(deck)
        else:
            yield _open_nearby(deck, place, kind)


def _open_nearest(deck: Deck) -> Draft:
    """The form for a problem with the nearest one: search, open, nearby, category, show, open, report, done."""
    center, category, best = pick_nearest(deck)
    params = (("kind", "nearest"), ("a", center.name), ("category", category))
    intent = f"Open the form to report a problem with the {category} nearest to {center.name}."
    return _page_draft(intent, "/", f"/place/{best.id}/report", 8, params)


def _open_nearby(deck: Deck, place: Place, kind: str) -> Draft:
    radius, category = deck.rng.choice(("250", "500", "2000", "5000")), deck.rng.choice(sorted(KINDS))
    params = (("kind", kind), ("a", place.name), ("category", category), ("radius", RADII[radius]))
    intent = f"Show all places of the category {category} within {RADII[radius]} of {place.name}."
    start, turns = ("/", 7) if kind == "far nearby" else (f"/place/{place.id}", 5)
    path = f"/place/{place.id}/nearby"
    return _page_draft(intent, start, path, turns, params, category=category, radius=radius)


def unachievable(seed: int) -> Iterator[Draft]:
    """Asked in earnest, but there is no such thing here: the right answer is N/A."""
    deck = Deck("unachievable", seed)
    users = deck.rng.sample(deck.data.users, len(deck.data.users))
    parks = [place for place in deck.data.places if place.category == "Park"]
    ladder = (
        "no place", "none near", "no mode", "no phones", "not saved", "none near", "no phones", "no place",
        "no phone", "no phones",
    )  # fmt: skip
    for index, kind in rungs(ladder):
        if kind == "no place":
            yield _no_such_place(deck)
        elif kind == "none near":
            yield _none_near(deck)
        elif kind == "no mode":
            a, b = deck.take(), deck.take()
            vehicle = deck.rng.choice(("bus", "train", "boat", "tram"))
            params = (("kind", kind), *letters((a, b)), ("vehicle", vehicle))
            yield _not_possible(f"How long does it take by {vehicle} from {a.name} to {b.name}?", 2, params)
        elif kind == "not saved":
            user = users[index % len(users)]
            own = own_lists(deck.data, user.id)[LISTS[index % 2]]
            held = {saved.place_id for saved in deck.data.saved if saved.list_id == own.id}
            place = deck.take_not(held)
            params = (("kind", kind), ("a", place.name), ("list", own.name))
            intent = f"What is the note on {place.name} in my list {own.name}?"
            yield _not_possible(intent, 3, params, emails(deck.data)[user.id])
        else:
            yield _no_phone(deck, parks, 5 + index % 2 if kind == "no phones" else 1)


def _not_possible(intent: str, turns: int, params: tuple[tuple[str, Scalar], ...], user: str = "") -> Draft:
    checks = (AnswerCheck(("N/A", "NA")), UNCHANGED)
    return Draft(intent, "/", checks, turns, params, user) if user else Draft(intent, "/", checks, turns, params)


def _no_such_place(deck: Deck) -> Draft:
    """A name made of the same words, which no place has: no result of the search has all of them."""
    known = {place.name for place in deck.data.places}
    while True:
        category = deck.rng.choice(("Cafe", "Hotel", "Restaurant", "Bakery", "Bar", "Museum", "Library", "Pharmacy"))
        name = f"{deck.rng.choice(ADJECTIVES)} {deck.rng.choice(NOUNS)} {category}"
        if name not in known:
            asked = deck.rng.choice(("phone number", "postcode", "street address", "website"))
            return _not_possible(f"What is the {asked} of {name}?", 2, (("kind", "no place"), ("a", name)))


def _none_near(deck: Deck) -> Draft:
    """Search, open, nearby, category, radius, show, and there are none."""
    category = deck.rng.choice(("Hospital", "Library", "Train Station", "Police Station", "Cinema"))
    center = deck.take(lambda place: place.category != category and not within(deck, place, 600, category))
    params = (("kind", "none near"), ("a", center.name), ("category", category), ("radius", RADII["500"]))
    intent = f"What is the phone number of the {category} within 500 m of {center.name}?"
    return _not_possible(intent, 7, params)


def _no_phone(deck: Deck, parks: list[Place], count: int) -> Draft:
    """Parks have none. Several parks are looked at one after the other; a single one is asked for once only."""
    chosen = deck.rng.sample(parks, count)
    params = (("kind", "no phone"), *letters(chosen))
    if count == 1:
        parks.remove(chosen[0])
        return _not_possible(f"What is the phone number of {chosen[0].name}?", 3, params)
    names = listing([park.name for park in chosen], "or")
    intent = f"Which phone number can I call to reach one of these parks: {names}?"
    return _not_possible(intent, 2 * count + 1, params)


# --- kept out of training -------------------------------------------------------------------------------------------


def best_rated(seed: int) -> Iterator[Draft]:
    """The first of a category's list when it is narrowed to a town and sorted by rating."""
    deck = Deck("best_rated", seed)
    towns = sorted({place.town for place in deck.data.places})
    pairs = [(category, town) for category in sorted(KINDS) for town in towns]
    deck.rng.shuffle(pairs)
    index = 0
    for category, town in pairs:
        places = sorted(
            (place for place in deck.data.places if (place.category, place.town) == (category, town)),
            key=lambda place: -place.rating,
        )
        if len(places) < 3 or places[0].rating == places[1].rating or not places[0].phone:
            continue
        best, asked = places[0], index % 3 == 2
        expected = (best.phone,) if asked else (best.name,)
        intent = f"What is the phone number of the best rated {category} in {town}?" if asked else ""
        start, turns = (("/", 6), (f"/search?category={category.replace(' ', '+')}", 4))[index % 2]
        params = (("category", category), ("town", town), ("phone", asked))
        yield found_draft(
            intent or f"What is the best rated {category} in {town}?", start, expected, turns + asked, params
        )
        index += 1
