"""What a customer tells the shop about themselves: addresses, name and phone, messages, newsletter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.shop.records import EMMA, Records, deleted, in_turn, inserted, listed, records, shuffled, updated
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, Scalar, StateCheck
from clickgrad.worlds.people import FIRST_NAMES, LAST_NAMES
from clickgrad.worlds.shop.data import Address
from clickgrad.worlds.shop.words import CITIES, MESSAGES, STREETS

_NEW_LABELS = ("Office", "Garage", "School", "Studio", "Grandma", "Beach House", "Farm", "Dorm")


def _draft(
    shop: Records, customer_id: int, intent: str, path: str, rows: StateCheck, turns: int, **params: Scalar
) -> Draft:
    return Draft(intent, path, (rows,), turns, tuple(params.items()), shop.shopper(customer_id))


# --- the address book -----------------------------------------------------------------------------------------------


def address_book(seed: int) -> Iterator[Draft]:
    """From home it takes two clicks to the book: Account, Address Book."""
    shop, rng = records(seed), random.Random(f"shop.address_book {seed}")
    owners = iter(shuffled(rng, (id_ for id_, own in shop.addresses_of.items() if len(own) > 1)))
    anybody = iter(shuffled(rng, shop.addresses_of))
    return in_turn(
        _new_addresses(shop, rng, anybody, cycle(("/", "/addresses/new", "/addresses"))),
        _one_click(shop, rng, owners, cycle((("default", "/addresses"), ("delete", "/"), ("delete", "/addresses")))),
        _edited(shop, rng, owners, cycle(((1, "/addresses"), (4, "/"), (2, "/addresses"), (3, "/")))),
        _new_defaults(shop, rng, anybody),
        _one_click(shop, rng, owners, cycle((("default", "/"), ("delete", "/addresses"), ("default", "/addresses")))),
    )


def _place(rng: random.Random) -> dict[str, str]:
    street = f"{rng.randint(1, 99)} {rng.choice(STREETS)}"
    return {"street": street, "city": rng.choice(CITIES), "postcode": str(rng.randint(10000, 99999))}


def _address_params(label: str | None, place: dict[str, str], kind: str, old: str | None = None) -> dict[str, Scalar]:
    fields = {name: place.get(name) for name in ("street", "city", "postcode")}
    return {"kind": kind, "old": old, "label": label, **fields}


def _new_addresses(shop: Records, rng: random.Random, owners: Iterator[int], paths: Iterator[str]) -> Iterator[Draft]:
    clicks = {"/": 3, "/addresses": 1, "/addresses/new": 0}
    for id_ in owners:
        label, place, path = rng.choice(_NEW_LABELS), _place(rng), next(paths)
        intent = (
            f"Add the address {label} to my address book: {place['street']}, city {place['city']}, "
            f"postcode {place['postcode']}."
        )
        rows = StateCheck((inserted("addresses", customer_id=id_, label=label, **place, is_default=0),))
        params = _address_params(label, place, "add")
        yield _draft(shop, id_, intent, path, rows, clicks[path] + 6, **params)  # four fields, Save Address, exit


def _new_defaults(shop: Records, rng: random.Random, owners: Iterator[int]) -> Iterator[Draft]:
    for id_ in owners:
        label, place = rng.choice(_NEW_LABELS), _place(rng)
        intent = (
            f"Add {place['street']}, city {place['city']}, postcode {place['postcode']} to my address book as {label} "
            "and make it the default."
        )
        rows = StateCheck(
            (
                inserted("addresses", customer_id=id_, label=label, **place, is_default=1),
                updated("addresses", shop.default_address(id_).id, is_default=0),
            )
        )
        params = _address_params(label, place, "add default")
        yield _draft(shop, id_, intent, "/", rows, 3 + 7, **params)


def _one_click(
    shop: Records, rng: random.Random, owners: Iterator[int], ladder: Iterator[tuple[str, str]]
) -> Iterator[Draft]:
    for id_ in owners:
        own = rng.choice([address for address in shop.addresses_of[id_] if not address.is_default])
        kind, path = next(ladder)
        if kind == "delete":
            intent, rows = f"Delete my {own.label} address.", StateCheck((deleted("addresses", own.id),))
        else:
            intent, rows = f"Make {own.label} my default address.", StateCheck(_default_rows(shop, own))
        params = _address_params(own.label, {}, kind)
        yield _draft(shop, id_, intent, path, rows, 2 * (path == "/") + 2, **params)


def _default_rows(shop: Records, address: Address) -> tuple[RowChange, RowChange]:
    old = shop.default_address(address.customer_id)
    return updated("addresses", old.id, is_default=0), updated("addresses", address.id, is_default=1)


def _edited(
    shop: Records, rng: random.Random, owners: Iterator[int], ladder: Iterator[tuple[int, str]]
) -> Iterator[Draft]:
    """So many of the fields change."""
    for id_ in owners:
        own = rng.choice(shop.addresses_of[id_])
        many, path = next(ladder)
        place = _place(rng)
        fields = ("street", "city", "postcode")
        chosen = sorted(rng.sample(fields, min(many, 3)), key=fields.index)
        new = {name: place[name] for name in chosen if place[name] != getattr(own, name)}
        if len(new) < len(chosen):
            continue
        changed = ({"label": rng.choice(_NEW_LABELS)} if many > 3 else {}) | new
        wishes = [f"the {name} to {value}" for name, value in changed.items()]
        intent = f"Change my {own.label} address: {', '.join(wishes)}."
        rows = StateCheck((updated("addresses", own.id, **changed),))
        # [Account, Address Book,] Edit, the fields, Save Address, exit
        params = _address_params(changed.get("label"), new, "edit", own.label)
        yield _draft(shop, id_, intent, path, rows, 2 * (path == "/") + 1 + len(changed) + 2, **params)


# --- the account ----------------------------------------------------------------------------------------------------


def account_edit(seed: int) -> Iterator[Draft]:
    """From home: Account, Edit Account; then the fields, Save Account, exit."""
    shop, rng = records(seed), random.Random(f"shop.account_edit {seed}")
    clicks = {"/": 2, "/account": 1, "/account/edit": 0}
    ladder = cycle(
        (
            (("phone",), "/account/edit"), (("name", "email", "phone", "newsletter"), "/"),
            (("newsletter",), "/account"), (("name", "email", "phone"), "/"),
            (("name",), "/account/edit"), (("email", "phone", "newsletter"), "/"),
            (("newsletter",), "/"), (("name", "email", "newsletter"), "/account"),
        )
    )  # fmt: skip
    emails = {customer.email for customer in shop.customers.values()}
    for id_ in shuffled(rng, shop.customers):
        customer = shop.customers[id_]
        fields, path = next(ladder)
        first, last = customer.name.split()
        surname = rng.choice([name for name in LAST_NAMES if name != last])
        email = f"{first}.{surname}{rng.randint(2, 99)}@mail.example".lower()
        values: dict[str, str | bool] = {
            "name": f"{first} {surname}",
            "email": email,
            "phone": f"555-{rng.randint(1000, 9999)}",
            "newsletter": not customer.newsletter,
        }
        if email in emails or values["phone"] == customer.phone:
            continue
        chosen = {name: values[name] for name in fields}
        wishes = [f"set the {name} to {value}" for name, value in chosen.items() if name != "newsletter"]
        wishes += [f"turn the newsletter {'on' if values['newsletter'] else 'off'}"] if "newsletter" in fields else []
        intent = f"In my account, {listed(wishes)}."
        rows = StateCheck((updated("customers", id_, **{name: _stored(value) for name, value in chosen.items()}),))
        turns = clicks[path] + len(chosen) + 2
        yield _draft(shop, id_, intent, path, rows, turns, **{name: chosen.get(name) for name in values})


def _stored(value: str | bool) -> str | int:
    return int(value) if isinstance(value, bool) else value


# --- messages and newsletter ----------------------------------------------------------------------------------------


def contact(seed: int) -> Iterator[Draft]:
    """From home: Help, then Contact or Newsletter."""
    shop, rng = records(seed), random.Random(f"shop.contact {seed}")
    texts = shuffled(rng, ((subject, text) for subject, texts in _TEXTS.items() for text in texts))
    listed = shuffled(rng, (entry.email for entry in shop.data.subscribers if entry.email.endswith("@mail.example")))
    return in_turn(
        _messages(shop, rng, texts, cycle((("/contact", False), ("/", True), ("/", False)))),
        _signed_up(shop, rng, cycle(("/newsletter", "/"))),
        _both(shop, rng, shuffled(rng, texts)),
        _signed_off(shop, listed, cycle(("/", "/newsletter"))),
    )


_TEXTS: dict[str, tuple[str, ...]] = {
    "Order": (*MESSAGES["Order"], "Please send me the invoice again.", "Can you ship my order on Friday?"),
    "Product": (*MESSAGES["Product"], "Is the wooden train safe for babies?", "Can I wash the wool blanket?"),
    "Return": (*MESSAGES["Return"], "May I return a gift?", "Where do I send the parcel?"),
    "Other": (*MESSAGES["Other"], "How can I work for you?", "Are you open on Sunday?"),
}


def _some_email(rng: random.Random) -> str:
    return f"{rng.choice(FIRST_NAMES)}.{rng.choice(LAST_NAMES)}{rng.randint(200, 999)}@mail.example".lower()


def _messages(
    shop: Records, rng: random.Random, texts: list[tuple[str, str]], ladder: Iterator[tuple[str, bool]]
) -> Iterator[Draft]:
    people = cycle(shuffled(rng, shop.customers))
    for subject, text in texts:
        id_, (path, other_email) = next(people), next(ladder)
        email = _some_email(rng) if other_email else shop.shopper(id_)
        reply = f", the email {email}" if other_email else ""
        intent = f'Send the shop a message with the subject {subject}{reply} and the text "{text}"'
        rows = StateCheck((inserted("contact_messages", customer_id=id_, email=email, subject=subject, text=text),))
        turns = 2 * (path == "/") + other_email + 4  # subject, text, Send Message, exit
        params = {"subject": subject, "text": text, "email": email if other_email else None, "subscribe": None}
        yield _draft(shop, id_, intent, path, rows, turns, **params, leave=None)


def _signed_up(shop: Records, rng: random.Random, paths: Iterator[str]) -> Iterator[Draft]:
    for _ in range(20):
        email, path = _some_email(rng), next(paths)
        intent = f"Sign up {email} for the newsletter."
        rows = StateCheck((inserted("subscribers", email=email),))
        yield _draft(shop, EMMA, intent, path, rows, 2 * (path == "/") + 3, subject=None, subscribe=email, leave=None)


def _signed_off(shop: Records, listed: list[str], paths: Iterator[str]) -> Iterator[Draft]:
    for email in listed:
        row = next(entry for entry in shop.data.subscribers if entry.email == email)
        path = next(paths)
        rows = StateCheck((deleted("subscribers", row.id),))
        intent, turns = f"Take {email} off the newsletter.", 2 * (path == "/") + 3
        yield _draft(shop, EMMA, intent, path, rows, turns, subject=None, subscribe=None, leave=email)


def _both(shop: Records, rng: random.Random, texts: list[tuple[str, str]]) -> Iterator[Draft]:
    for subject, text in texts:
        email = _some_email(rng)
        intent = (
            f"Sign up {email} for the newsletter, then send the shop a message with the subject {subject} "
            f'and the text "{text}"'
        )
        message = inserted("contact_messages", customer_id=EMMA, email=shop.shopper(EMMA), subject=subject, text=text)
        rows = StateCheck((inserted("subscribers", email=email), message))
        # Help, Newsletter, email, Subscribe; Help, Contact, subject, text, Send Message; exit
        params = {"subject": subject, "text": text, "email": None, "subscribe": email}
        yield _draft(shop, EMMA, intent, "/", rows, 10, **params, leave=None)
