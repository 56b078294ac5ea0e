"""Turns the vocabulary into posts, comments, messages and bios that read as if somebody had meant them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from clickgrad.worlds.forum import words

_SLOTS = {
    "season": words.SEASONS,
    "relative": words.RELATIVES,
    "month": words.MONTHS,
    "city": words.CITIES,
    "weekday": words.WEEKDAYS,
    "time": words.TIMES,
    "place": words.PLACES,
    "number": tuple(map(str, (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40))),
    "forum": tuple(words.TOPICS),
    "thing": tuple(thing for topic in words.TOPICS.values() for thing in topic.things),
}


class Writer:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def titles(self, forum: str) -> Iterator[tuple[str, str]]:
        """(kind, title), no title twice: topics differ between forums, so none is used in two of them either."""
        topic = words.TOPICS[forum]
        titles = {
            kind: [
                pattern.format(thing=name, do=name)
                for pattern in patterns
                for name in (topic.things if "{thing}" in pattern else topic.doings)
            ]
            for kind, patterns in words.TITLES.items()
        }
        for pool in titles.values():
            self._rng.shuffle(pool)
        while any(titles.values()):
            # Mostly questions, as on real forums.
            kind = self._rng.choice(("question", "question", "story", "story", "talk", "link"))
            if titles[kind]:
                yield kind, titles[kind].pop()

    def body(self, kind: str) -> str:
        first, second = words.BODIES[kind]
        return self._filled(f"{self._rng.choice(first)} {self._rng.choice(second)}")

    def url(self, title: str) -> str:
        return f"https://example.com/{'-'.join(re.findall('[a-z]+', title.lower()))}"

    def comment(self, liked: bool) -> str:
        first, second = words.COMMENTS["liked" if liked else "disliked"]
        return self._filled(f"{self._rng.choice(first)} {self._rng.choice(second)}")

    def letters(self) -> Iterator[tuple[str, str]]:
        """(subject, text) of messages to one person: no subject twice."""
        subjects: set[str] = set()
        while True:
            subject, text = self._rng.choice(list(words.MESSAGES.values()))
            values = self._values()
            subject, text = subject.format(**values), text.format(**values)
            if subject not in subjects:
                subjects.add(subject)
                yield subject, text

    def bio(self) -> str:
        one, other = self._rng.sample(list(words.TOPICS), 2)
        return f"{self._rng.choice(words.JOBS)} from {self._rng.choice(words.CITIES)}. I like {one} and {other}."

    def _filled(self, pattern: str) -> str:
        return pattern.format(**self._values())

    def _values(self) -> dict[str, str]:
        return {slot: self._rng.choice(choices) for slot, choices in _SLOTS.items()}
