"""Templates that change the world: saved places, notes, lists. Each names the exact rows it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clickgrad.tasks.map.picks import DEFAULT_USER_ID, MANY, Deck, emails, letters, listing, rungs
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, Scalar, StateCheck
from clickgrad.worlds.map.data import MapData, Place, PlaceList, Saved
from clickgrad.worlds.map.words import LISTS, PROBLEMS

NOTE_WORDS = (
    "Great for breakfast", "Ask about the garden", "Open late in summer", "Bring a map", "Meet at the gate",
    "Good for groups", "Nice on rainy days", "Take the north door", "Try the soup", "Look for the red sign",
    "Come back in spring", "Ring the bell twice", "Best seats upstairs", "Friendly staff", "Too loud at night",
    "Free on Fridays", "Use the back stairs", "Order in advance", "Quiet in the morning", "Park across the street",
)  # fmt: skip
_REPORTS = {
    "Wrong address": ("They moved last week.", "It is across the street.", "The number should be higher."),
    "Wrong phone number": ("The line is dead.", "A stranger answered.", "The last digit is wrong."),
    "Wrong opening hours": ("It was closed at noon.", "They open earlier now.", "They open late on Friday."),
    "Closed for good": ("The shop is empty.", "It closed in January.", "A sign says goodbye."),
    "Road blocked": ("There is a deep hole.", "The road is under water.", "Trucks block the way."),
    "Other": ("The photo is too old.", "There are two entrances.", "The garden is missing."),
}
_NEW_LISTS = (
    "City Break", "Book Club", "Birthday Plans", "Morning Run", "Sunday Brunch", "Family Visit", "Work Trips",
    "Night Out", "Sports Day", "School Trip", "Winter Walks", "Quick Lunch", "Good Views", "Hidden Gems", "New Places",
)  # fmt: skip


def own_lists(data: MapData, user_id: int) -> dict[str, PlaceList]:
    return {own.name: own for own in data.lists if own.user_id == user_id}


def _insert(own: PlaceList, place: Place, note: str = "") -> RowChange:
    return RowChange("map_saved", "insert", (("list_id", own.id), ("place_id", place.id), ("note", note)))


# --- saving ---------------------------------------------------------------------------------------------------------


def save_places(seed: int) -> Iterator[Draft]:
    """One place with or without a note, or several; the form on a place's page starts at Favorites."""
    deck = Deck("save_places", seed)
    users = deck.rng.sample(deck.data.users, len(deck.data.users))
    # (start, number of places, list, whether a note is wanted)
    ladder = (
        ("page", 1, 0, False), ("home", 3, 1, False), ("page", 1, 1, False), ("page", 1, 0, True),
        ("home", 2, 1, False), ("home", 1, 2, False), ("home", 1, 1, True), ("home", 2, 0, True),
        ("home", 1, 0, False), ("home", 4, 1, False),
    )  # fmt: skip
    for index, (where, count, which, noted) in rungs(ladder, MANY):
        user = users[index % len(users)]
        own = own_lists(deck.data, user.id)[LISTS[which]]
        held = {saved.place_id for saved in deck.data.saved if saved.list_id == own.id}
        places = [deck.take_not(held) for _ in range(count)]
        notes = deck.rng.sample(NOTE_WORDS, count) if noted else [""] * count
        start = f"/place/{places[0].id}" if where == "page" else "/"
        each = (which != 0) + noted + 1
        yield Draft(
            intent=_save_intent(places, notes, own.name),
            start_path=start,
            checks=(StateCheck(tuple(map(_insert, [own] * count, places, notes))),),
            expert_turns=(0 if where == "page" else 2 * count) + each * count + 1,
            params=(
                *letters(places),
                ("list", own.name),
                *(zip(("note_a", "note_b"), notes, strict=False) if noted else ()),
            ),
            user=user.email,
        )


def _save_intent(places: Sequence[Place], notes: Sequence[str], name: str) -> str:
    if not notes[0]:
        return f"Save {listing([place.name for place in places])} to my list {name}."
    noted = [f'{place.name} with the note "{note}"' for place, note in zip(places, notes, strict=True)]
    return f"Save {listing(noted)} to my list {name}."


def edit_saved(seed: int) -> Iterator[Draft]:
    """Remove, write a note, or move to another list. Each instance is another user's."""
    deck = Deck("edit_saved", seed)
    users = deck.rng.sample(deck.data.users, len(deck.data.users))
    # (what, start, number of places)
    ladder = (
        ("remove", "list", 1), ("note", "home", 3), ("remove", "item", 1), ("note", "list", 1), ("remove", "home", 3),
        ("move", "item", 1), ("move", "home", 1), ("note", "home", 2), ("note", "item", 1), ("move", "home", 3),
        ("note", "home", 1), ("remove", "home", 4),
    )  # fmt: skip
    for index, (what, where, count) in rungs(ladder):
        user = users[index % len(users)]
        lists = own_lists(deck.data, user.id)
        source, target = (lists[name] for name in (LISTS[:2] if index % 2 else LISTS[1::-1]))
        saved = [one for one in deck.data.saved if one.list_id == source.id][:8]
        chosen = sorted(deck.rng.sample(saved, count), key=lambda one: one.id)
        yield _edit_draft(deck, what, where, source, target, chosen, emails(deck.data)[user.id])


def _edit_draft(
    deck: Deck, what: str, where: str, source: PlaceList, target: PlaceList, chosen: Sequence[Saved], user: str
) -> Draft:
    places = [deck.data.places[one.place_id - 1] for one in chosen]
    names = listing([place.name for place in places])
    notes = deck.rng.sample(NOTE_WORDS, len(chosen))
    params: tuple[tuple[str, Scalar], ...] = (("kind", what), *letters(places), ("list", source.name))
    if what == "remove":
        intent = f"Remove {names} from my list {source.name}."
        changes = [RowChange("map_saved", "delete", (("id", one.id),)) for one in chosen]
    elif what == "move":
        intent = f"Move {names} from my list {source.name} to my list {target.name}."
        changes = [RowChange("map_saved", "update", (("list_id", target.id),), one.id) for one in chosen]
        params = (*params, ("target", target.name))
    else:
        noted = [f'of {place.name} to "{note}"' for place, note in zip(places, notes, strict=True)]
        intent = f"In my list {source.name}, change the note {listing(noted)}."
        changes = [
            RowChange("map_saved", "update", (("note", note),), one.id) for one, note in zip(chosen, notes, strict=True)
        ]
        params = (*params, *zip(("note_a", "note_b", "note_c"), notes, strict=False))
    # Edit, [the field,] the button; after a move the list of the target is shown, so the way back is two clicks.
    each = 2 if what == "remove" else 3
    back = 2 * (len(chosen) - 1) if what == "move" else 0
    turns = {"home": 2, "list": 0, "item": -1}[where] + each * len(chosen) + back + 1
    paths = {"home": "/", "list": f"/saved/{source.id}", "item": f"/saved/item/{chosen[0].id}"}
    return Draft(intent, paths[where], (StateCheck(tuple(changes)),), turns, params, user)


# --- notes and edits ------------------------------------------------------------------------------------------------


def map_note(seed: int) -> Iterator[Draft]:
    """Report a problem, suggest an edit, or resolve a note of one's own."""
    deck = Deck("map_note", seed)
    own = [note for note in deck.data.notes if note.status == "Open"]
    deck.rng.shuffle(own)
    # (what, start, number of places)
    ladder = (
        ("resolve", "note", 1), ("report", "home", 2), ("report", "page", 1), ("resolve", "note", 1),
        ("edit", "home", 1), ("report", "home", 2), ("resolve", "notes", 1), ("report", "home", 1),
        ("edit", "page", 1), ("resolve", "note", 1), ("edit", "home", 2),
    )  # fmt: skip
    for _, (what, where, count) in rungs(ladder):
        if what == "resolve":
            note = own.pop()
            mine = [other.id for other in deck.data.notes if other.user_id == note.user_id]
            pages = mine[::-1].index(note.id) // 8
            change = RowChange("map_notes", "update", (("status", "Resolved"),), note.id)
            yield Draft(
                intent=f"Mark my note {note.id} as resolved.",
                start_path=f"/notes/{note.id}" if where == "note" else "/",
                checks=(StateCheck((change,)),),
                expert_turns=2 if where == "note" else 5 + pages,
                params=(("kind", "resolve"), ("note", note.id)),
                user=emails(deck.data)[note.user_id],
            )
        elif what == "report":
            yield _report_draft(deck, where, count)
        else:
            yield _edit_suggestion(deck, where, count)


def _report_draft(deck: Deck, where: str, count: int) -> Draft:
    places = [deck.take() for _ in range(count)]
    problems = [deck.rng.choice(PROBLEMS) for _ in places]
    texts = [deck.rng.choice(_REPORTS[problem]) for problem in problems]
    changes = [
        RowChange(
            "map_notes",
            "insert",
            (
                ("user_id", DEFAULT_USER_ID),
                ("place_id", place.id),
                ("problem", problem),
                ("text", text),
                ("status", "Open"),
            ),
        )
        for place, problem, text in zip(places, problems, texts, strict=True)
    ]
    asked = [
        f'"{problem}" at {place.name} with the text "{text}"'
        for place, problem, text in zip(places, problems, texts, strict=True)
    ]
    params: list[tuple[str, Scalar]] = [("kind", "report"), *letters(places)]
    for letter, problem, text in zip("ab", problems, texts, strict=False):
        params += [(f"problem_{letter}", problem), (f"text_{letter}", text)]
    turns = (4 if where == "page" else 6) * count + 1
    start = f"/place/{places[0].id}" if where == "page" else "/"
    return Draft(f"Report the problem {listing(asked)}.", start, (StateCheck(tuple(changes)),), turns, tuple(params))


def _edit_suggestion(deck: Deck, where: str, count: int) -> Draft:
    places = [deck.take(lambda place: bool(place.phone)) for _ in range(count)]
    values = [f"{place.phone[:8]}{deck.rng.randint(1000, 9999)}" for place in places]
    changes = [
        RowChange(
            "map_edits",
            "insert",
            (("user_id", DEFAULT_USER_ID), ("place_id", place.id), ("field", "Phone"), ("value", value)),
        )
        for place, value in zip(places, values, strict=True)
    ]
    asked = [f"{value} as the phone of {place.name}" for place, value in zip(places, values, strict=True)]
    params = (("kind", "edit"), *letters(places), *zip(("value_a", "value_b"), values, strict=False))
    turns = (4 if where == "page" else 6) * count + 1
    start = f"/place/{places[0].id}" if where == "page" else "/"
    return Draft(f"Suggest {listing(asked)}.", start, (StateCheck(tuple(changes)),), turns, params)


# --- kept out of training -------------------------------------------------------------------------------------------


def manage_lists(seed: int) -> Iterator[Draft]:
    """Create, rename and delete lists, and fill a new one."""
    deck = Deck("manage_lists", seed)
    users = deck.rng.sample(deck.data.users, len(deck.data.users))
    ladder = (
        ("create", "home"),
        ("rename", "list"),
        ("fill", "home"),
        ("delete", "home"),
        ("rename", "home"),
        ("delete", "list"),
    )
    for index, (what, where) in rungs(ladder):
        user = users[index % len(users)]
        lists = own_lists(deck.data, user.id)
        own = lists[LISTS[index % 2]]
        name = deck.rng.choice(_NEW_LISTS)
        start = f"/saved/{own.id}" if where == "list" else "/"
        away = 0 if where == "list" else 2
        params: tuple[tuple[str, Scalar], ...] = (("kind", what), ("list", own.name), ("name", name))
        created = RowChange("map_lists", "insert", (("user_id", user.id), ("name", name)))
        if what == "create":
            yield Draft(
                f"Create a list called {name} in my saved places.",
                "/",
                (StateCheck((created,)),),
                4,
                params,
                user.email,
            )
        elif what == "rename":
            change = RowChange("map_lists", "update", (("name", name),), own.id)
            yield Draft(
                f"Rename my list {own.name} to {name}.", start, (StateCheck((change,)),), away + 4, params, user.email
            )
        elif what == "delete":
            gone = [
                RowChange("map_saved", "delete", (("id", one.id),)) for one in deck.data.saved if one.list_id == own.id
            ]
            gone.append(RowChange("map_lists", "delete", (("id", own.id),)))
            yield Draft(f"Delete my list {own.name}.", start, (StateCheck(tuple(gone)),), away + 3, params, user.email)
        else:
            places = [deck.take(), deck.take()]
            fresh = PlaceList(len(deck.data.lists) + 1, user.id, name)
            changes = (created, *(_insert(fresh, place) for place in places))
            intent = f"Create a list called {name} and save {places[0].name} and {places[1].name} to it."
            yield Draft(intent, "/", (StateCheck(changes),), 12, (*params, *letters(places)), user.email)
