"""Templates kept out of training: the information pages, the password, a whole list to be cleared."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.shop.finding import UNTOUCHED
from clickgrad.tasks.shop.records import EMMA, deleted, records, shuffled, updated
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, StateCheck

# (page, question, what comes before the answer on that page and what after it, the answer)
STORE_QUESTIONS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("About Us", "In what year did the shop begin?", "began in ", " as", ("2009",)),
    ("About Us", "How many people work at the shop?", "Today ", " people", ("24", "24 people")),
    ("Shipping Information", "How many working days does Express shipping take?", "$9.00, ", " work", ("2", "2 days")),
    ("Shipping Information", "Until what time must I order for Next Day shipping?", "before ", ".", ("2 pm",)),
    ("Returns", "Within how many days does the shop refund a return?", "within ", " days", ("10", "10 days")),
    ("Payment Methods", "What is the limit for cash on delivery?", "limited to ", " by", ("$200.00",)),
    ("Gift Cards", "For how many years is a gift card valid?", "valid for ", " years", ("3", "3 years")),
    ("Size Guide", "How many liters does a Medium suitcase hold?", "liters, Medium ", " liters", ("60", "60 liters")),
    ("Size Guide", "How many cm does a Large hat fit?", "Large ", " cm", ("60", "60 cm")),
    ("Care Guide", "At how many degrees should wool be washed?", "hand at ", " degrees", ("30", "30 degrees")),
    ("Our Stores", "In which street is the Boston store?", "Boston: ", ",", ("4 Park Avenue", "Park Avenue")),
    ("Our Stores", "On which day are the stores closed?", "closed on ", ".", ("Sunday", "on Sunday", "Sundays")),
    ("Privacy", "For how many years does the shop keep my orders?", "orders for ", " years", ("7", "7 years")),
    ("Jobs", "In which city does the shop look for drivers?", "drivers in ", ".", ("Boston", "in Boston")),
    ("Jobs", "Until what date can I apply for a job at the shop?", "until ", ".", ("April 15, 2025",)),
)  # fmt: skip


def store_info(seed: int) -> Iterator[Draft]:
    """Help, the page, the answer."""
    rng = random.Random(f"shop.store_info {seed}")
    for (title, question, before, after, answers), path in zip(
        shuffled(rng, STORE_QUESTIONS), cycle(("/", "/cart", "/help")), strict=False
    ):
        checks = (AnswerCheck(answers), UNTOUCHED)
        params = (("page", title), ("before", before), ("after", after))
        yield Draft(question, path, checks, (path != "/help") + 2, params)


def change_password(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.change_password {seed}")
    words = ("river", "maple", "stone", "amber", "cloud", "piano", "lemon", "tiger")
    clicks = {"/": 2, "/account": 1, "/account/password": 0}
    for id_, path in zip(shuffled(rng, shop.customers), cycle(clicks), strict=False):
        old, new = shop.customers[id_].password, f"{rng.choice(words)}-{rng.randint(100, 999)}"
        yield Draft(
            intent=f'Change my password from "{old}" to "{new}".',
            start_path=path,
            checks=(StateCheck((updated("customers", id_, password=new),)),),
            expert_turns=clicks[path] + 5,  # three fields, Save Password, exit
            params=(("old", old), ("new", new)),
            user=shop.shopper(id_),
        )


def clear_wish_list(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.clear_wish_list {seed}")
    owners = shuffled(rng, (id_ for id_ in shop.wishes_of if id_ != EMMA))
    for id_, path in zip(owners, cycle(("/", "/wishlist", "/account")), strict=False):
        wishes = shop.wishes_of[id_]
        clicks = {"/": 2, "/account": 1, "/wishlist": 0}[path]
        yield Draft(
            intent="Empty my wish list.",
            start_path=path,
            checks=(StateCheck(tuple(deleted("wish_items", wish.id) for wish in wishes)),),
            expert_turns=clicks + len(wishes) + 1,
            params=(),
            user=shop.shopper(id_),
        )
