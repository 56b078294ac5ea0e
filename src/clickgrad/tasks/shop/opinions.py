"""Questions about reviews: who said what, how many stars, how often."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import cycle

from clickgrad.tasks.shop.finding import UNTOUCHED
from clickgrad.tasks.shop.records import Records, in_turn, records, shuffled
from clickgrad.tasks.templates import Draft
from clickgrad.types import AnswerCheck, Scalar
from clickgrad.worlds.shop.browse import REVIEWS_SHOWN
from clickgrad.worlds.shop.data import Product, Review
from clickgrad.worlds.shop.listing import PAGE_SIZE


def review_fact(seed: int) -> Iterator[Draft]:
    shop, rng = records(seed), random.Random(f"shop.review_fact {seed}")
    reviewed = [item for item in shop.ladder_products(rng) if shop.reviews_of.get(item.id)]
    often = [item for item in reviewed if len(shop.reviews_of[item.id]) > REVIEWS_SHOWN]
    half = len(reviewed) // 2
    return in_turn(
        _who(shop, rng, reviewed[:half]),
        _comparisons(shop, rng, shuffled(rng, often), 3),
        _stars(shop, rng, reviewed[half:]),
        _counts(shop, rng, often),
        _comparisons(shop, rng, shuffled(rng, often), 3),
        _lowest(shop, shuffled(rng, often)),
    )


def _draft(
    intent: str, start: tuple[str, int], turns: int, answers: tuple[str, ...], kind: str, **params: Scalar
) -> Draft:
    """`turns` from the product's page on."""
    path, clicks = start
    checks = (AnswerCheck(answers), UNTOUCHED)
    return Draft(intent, path, checks, clicks + turns, (("kind", kind), *params.items()))


def _turns_to(reviews: list[Review], review: Review) -> int:
    """From the product's page until the review is in sight: nothing, or the page of all reviews and Next."""
    place = reviews.index(review)
    return 0 if place < REVIEWS_SHOWN else 1 + place // PAGE_SIZE


def _turns_through(reviews: list[Review]) -> int:
    """From the product's page through all of its reviews, when there are more than it shows."""
    return -(-len(reviews) // PAGE_SIZE)


def _who(shop: Records, rng: random.Random, items: list[Product]) -> Iterator[Draft]:
    for item, start in zip(items, cycle(("list", "home")), strict=False):
        reviews = shop.reviews_of[item.id]
        review = rng.choice(reviews)
        sentence = review.text.partition(".")[0] + "."
        if sum(sentence in other.text for other in reviews) == 1:
            intent = f'Which customer wrote "{sentence}" in a review of {item.name}?'
            turns, place = _turns_to(reviews, review) + 1, shop.starts(item)[start]
            yield _draft(intent, place, turns, (review.nickname,), "who", product=item.name, sentence=sentence)


def _stars(shop: Records, rng: random.Random, items: list[Product]) -> Iterator[Draft]:
    for item, start in zip(items, cycle(("home", "list")), strict=False):
        reviews = shop.reviews_of[item.id]
        review = rng.choice(reviews)
        if sum(other.nickname == review.nickname for other in reviews) == 1:
            intent = f"How many stars did {review.nickname} give {item.name}?"
            answers = (str(review.stars), f"{review.stars} star{'s' if review.stars > 1 else ''}")
            turns, place = _turns_to(reviews, review) + 1, shop.starts(item)[start]
            yield _draft(intent, place, turns, answers, "stars", product=item.name, nickname=review.nickname)


def _counts(shop: Records, rng: random.Random, items: list[Product]) -> Iterator[Draft]:
    for item, start in zip(items, cycle(("product", "home", "list")), strict=False):
        reviews = shop.reviews_of[item.id]
        counts = Counter(review.stars for review in reviews)
        stars = rng.choice(sorted(counts))
        intent = f"How many {stars}-star reviews does {item.name} have?"
        turns, place = _turns_through(reviews) + 1, shop.starts(item)[start]
        yield _draft(intent, place, turns, (str(counts[stars]),), "count", product=item.name, stars=stars)


def _lowest(shop: Records, items: list[Product]) -> Iterator[Draft]:
    """To the page of all reviews, then sort, Apply, answer."""
    for item, start in zip(items, cycle(("home", "product", "list")), strict=False):
        lowest, second = sorted(shop.reviews_of[item.id], key=lambda review: review.stars)[:2]
        if lowest.stars < second.stars:
            intent = f"Which customer gave {item.name} the lowest rating?"
            yield _draft(intent, shop.starts(item)[start], 4, (lowest.nickname,), "lowest", product=item.name)


def _comparisons(shop: Records, rng: random.Random, items: list[Product], many: int) -> Iterator[Draft]:
    """Search, open and leaf through the reviews of each."""
    for chosen in zip(*(items[first:] for first in range(many)), strict=False):
        stars = rng.choice((1, 2, 3, 4, 5))
        counts = {item: sum(review.stars == stars for review in shop.reviews_of[item.id]) for item in chosen}
        best, second = sorted(chosen, key=counts.__getitem__, reverse=True)[:2]
        if counts[best] > counts[second]:
            names = [item.name for item in chosen]
            intent = f"Which has the most {stars}-star reviews: {', '.join(names[:-1])} or {names[-1]}?"
            turns = sum(2 + _turns_through(shop.reviews_of[item.id]) for item in chosen) + 1
            products = {f"product{number}": name for number, name in enumerate(names)}
            yield _draft(intent, ("/", 0), turns, (best.name,), "most", stars=stars, **products)
