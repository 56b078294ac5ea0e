"""Templates about what the shop tells its customers and how it is set up: promotions, pages, settings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.admin.drafts import changes, draft, in_turn, insert, listed, several, update
from clickgrad.tasks.admin.records import Records, records
from clickgrad.tasks.templates import Draft
from clickgrad.types import Scalar
from clickgrad.worlds.shop.rows import CmsPage, Promotion
from clickgrad.worlds.site import NOW

TODAY = NOW.date().isoformat()
_OCCASIONS = (
    "Garden Week", "Toy Week", "Kitchen Week", "Travel Time", "Long Weekend", "Birthday", "First Order", "Rainy Days",
    "Happy Monday", "Big Friday", "Good Neighbors", "Student Days", "Clear Shelves", "Thank You", "New Arrivals",
)  # fmt: skip


def promotion(seed: int) -> Iterator[Draft]:
    """Short: a change on the form. Middle: the same from home. Long: a new promotion."""
    book, rng = records(seed), random.Random(f"admin.promotion {seed}")
    promotions = rng.sample(book.data.promotions, len(book.data.promotions))
    half = len(promotions) // 2
    return in_turn(
        _promotion_changes(rng, promotions[:half], at_home=False),
        _promotion_changes(rng, promotions[half:], at_home=True),
        _new_promotions(book, rng),
    )


def _promotion_changes(rng: random.Random, promotions: Sequence[Promotion], at_home: bool) -> Iterator[Draft]:
    for change in ("Active", "Ends", "Amount"):
        for one in promotions:
            if change == "Amount" and one.kind != "Percent":
                continue
            asked, text, column, value = _promotion_change(rng, one, change)
            yield draft(
                asked.format(one.code),
                "/" if at_home else f"/promotions/{one.id}",
                6 if at_home else 3,
                changes(update("promotions", one.id, **{column: value})),
                code=one.code,
                promotion=one.name,
                change=change,
                text=text,
            )


def _promotion_change(rng: random.Random, one: Promotion, change: str) -> tuple[str, str, str, Scalar]:
    """How to ask for it, what to type, and the column with its value; never what is there already."""
    if change == "Active":
        verb = "Deactivate" if one.active else "Activate"
        return f"{verb} the promotion with the code {{}}.", "", "active", int(not one.active)
    if change == "Ends":
        ends = f"2025-{rng.randint(6, 12):02d}-{rng.randint(1, 28):02d}"
        return f"Let the promotion with the code {{}} end on {ends}.", ends, "ends", ends
    percent = rng.choice([number for number in (5, 12, 18, 35, 40) if number != one.amount])
    return f"Change the promotion with the code {{}} to {percent} percent.", str(percent), "amount", percent


def _new_promotions(book: Records, rng: random.Random) -> Iterator[Draft]:
    known = {one.code for one in book.data.promotions}
    for index in range(45):
        name, kind = _OCCASIONS[index % len(_OCCASIONS)], ("Percent", "Fixed", "Free shipping")[index % 3]
        amount = {"Percent": rng.randrange(5, 60, 5), "Fixed": rng.randrange(100, 2000, 100)}.get(kind, 0)
        letters = "".join(letter for letter in name.upper() if letter.isalpha())[:8]
        code = f"{letters}{rng.randint(10, 99)}"
        if code in known:
            continue
        known.add(code)
        month = rng.randint(4, 11)
        starts, ends = f"2025-{month:02d}-{rng.randint(1, 28):02d}", f"2025-{month + 1:02d}-{rng.randint(1, 28):02d}"
        off = {"Percent": f"{amount} percent off", "Fixed": f"${amount // 100} off"}.get(kind, "free shipping")
        at_home = index % 3 != 1
        values: dict[str, Scalar] = {"name": name, "code": code, "kind": kind, "starts": starts, "ends": ends}
        yield draft(
            f'Create the active promotion "{name}" with the code {code}: {off}, from {starts} to {ends}.',
            "/" if at_home else "/promotions/new",
            6 + (kind != "Percent") + (kind != "Free shipping") + 2 * at_home,
            changes(insert("promotions", **values, amount=amount, active=1)),
            **values,
            amount=str(amount if kind == "Percent" else amount // 100),
            change="new",
        )


_PAGES = (
    ("Opening Hours", "We are open from 9 am to 5 pm."),
    ("Repairs", "We repair what we sell for two years."),
    ("Our Team", "Twenty people work in our shop."),
    ("Gift Wrapping", "We wrap your gift for two dollars."),
    ("Recycling", "Bring your old lamp and we recycle it."),
    ("Store Events", "Join us for a reading every Friday."),
    ("Loyalty Points", "Every dollar gives you one point."),
    ("Press", "Journalists can write to us at any time."),
    ("Student Discount", "Students save five percent in May."),
    ("Parking", "Park for free behind the store."),
    ("Warranty", "All lamps come with a three year warranty."),
    ("Bulk Orders", "Ask us for a price from fifty pieces on."),
    ("Holiday Hours", "We are closed on the first of May."),
    ("Our Promise", "If you do not like it, we take it back."),
    ("Local Makers", "Half of our range is made nearby."),
)


def content_page(seed: int) -> Iterator[Draft]:
    """Short: a change on the form. Middle: the same from home. Long: a new page, written and addressed."""
    book, rng = records(seed), random.Random(f"admin.content_page {seed}")
    pages = rng.sample(book.data.cms_pages, len(book.data.cms_pages))
    half = len(pages) // 2
    texts = [text for _, text in _PAGES]
    return in_turn(
        _page_changes(rng.sample(texts, len(texts)), pages[:half], at_home=False),
        _page_changes(rng.sample(texts, len(texts)), pages[half:], at_home=True),
        _new_pages(rng, [page for page in pages if page.status == "Published"]),
    )


def _page_changes(texts: Sequence[str], pages: Sequence[CmsPage], at_home: bool) -> Iterator[Draft]:
    lines = cycle(texts)
    for change in ("Status", "Content", "Title"):
        for page in pages:
            if change == "Status":
                text = "Draft" if page.status == "Published" else "Published"
                asked = f'{"Unpublish" if text == "Draft" else "Publish"} the page "{page.title}".'
            elif change == "Content":
                text = next(lines)
                asked = f'Replace the content of the page "{page.title}" by "{text}"'
            else:
                text = f"{page.title} {NOW.year}"
                asked = f'Change the title of the page "{page.title}" to "{text}".'
            yield draft(
                asked,
                "/" if at_home else f"/pages/{page.id}",
                6 if at_home else 3,
                changes(update("cms_pages", page.id, **{change.lower(): text}, updated=TODAY)),
                page=page.title,
                change=change,
                text=text,
            )


def _new_pages(rng: random.Random, published: Sequence[CmsPage]) -> Iterator[Draft]:
    """A draft; or a published one, for which another page is unpublished."""
    cases = [(title, text, status) for title, text in _PAGES for status in ("Published", "Draft")]
    old = cycle(rng.sample(published, len(published)))
    for title, text, status in rng.sample(cases, len(cases)):
        slug = f"info-{title.lower().replace(' ', '-')}"
        kind = "draft" if status == "Draft" else "published page"
        asked = f'Create a {kind} with the title "{title}", the address "{slug}" and the content "{text}"'
        rows = [insert("cms_pages", title=title, slug=slug, content=text, status=status, updated=TODAY)]
        replaced = next(old) if status == "Published" else None
        if replaced:
            asked += f' Then unpublish the page "{replaced.title}".'
            rows.append(update("cms_pages", replaced.id, status="Draft", updated=TODAY))
        yield draft(
            asked,
            "/",
            12 if replaced else 8,
            changes(*rows),
            page=title,
            address=slug,
            status=status,
            change="new",
            text=text,
            replaced=replaced.title if replaced else None,
        )


_SETTINGS = {
    "Store name": ("Pocket Store", "Pocket Shop Online", "The Pocket Shop", "Pocket Shop Portland"),
    "Store email": ("contact@pocketshop.example", "info@pocketshop.example", "office@pocketshop.example"),
    "Store phone": ("555-0110", "555-0199", "555-0142", "555-0175"),
    "Store address": ("20 Mill Street, Portland 97205", "5 Lake Road, Portland 97201", "7 Oak Street, Boston 02108"),
    "Free shipping from": ("50.00", "75.00", "120.00", "200.00"),
    "Low stock limit": ("5", "8", "15", "20"),
    "Currency": ("EUR", "CAD", "GBP"),
    "Orders email": ("sales@pocketshop.example", "desk@pocketshop.example", "shipping@pocketshop.example"),
    "Newsletter sender": ("letter@pocketshop.example", "offers@pocketshop.example", "team@pocketshop.example"),
    "Opening hours": ("8 am to 6 pm", "10 am to 4 pm", "9 am to 8 pm"),
}


def change_setting(seed: int) -> Iterator[Draft]:
    """Short: one setting, on the form. Middle: two or three. Long: five."""
    book, rng = records(seed), random.Random(f"admin.change_setting {seed}")
    ids = {setting.name: setting.id for setting in book.data.settings}
    cases = [(name, value) for name, values in _SETTINGS.items() for value in values]
    singles = [{name: value} for name, value in rng.sample(cases, len(cases))]
    few = [_some_settings(rng, 2 + index % 2) for index in range(24)]
    many = [_some_settings(rng, 5) for _ in range(24)]
    for values in in_turn(singles, few, many):
        start, turns = ("/settings", 0) if len(values) == 1 else ("/", 1)
        asked = listed([f'"{name}" to "{value}"' for name, value in values.items()])
        yield draft(
            f"In the settings, change {asked}.",
            start,
            turns + len(values) + 2,
            changes(*(update("settings", ids[name], value=value) for name, value in values.items())),
            fields=several(values),
            texts=several(values.values()),
        )


def _some_settings(rng: random.Random, many: int) -> dict[str, str]:
    names = rng.sample(sorted(_SETTINGS), many)
    return {name: rng.choice(_SETTINGS[name]) for name in names}
