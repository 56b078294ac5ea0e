"""Scripts for pages that are small applications: mail, posts, a phone book, a search engine, tickets, a calendar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clickgrad.tasks.miniwob.reading import (
    ORDINALS,
    down_to,
    found,
    look_down,
    named,
    nth,
    of_role,
    point_at,
    press,
    press_named,
    quoted,
    seek_named,
    sure,
    write,
)
from clickgrad.tasks.moves import ExpertLost, MakeScript, Script, Way, line_of, texts
from clickgrad.types import Element, Observation, Task

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip


def mail(task: Task, page: Observation) -> Script:
    """Find the email by Audrey and ... delete it, mark it as important, reply with a text, forward it to somebody."""
    (sender,) = found(task, r"email by (\w+)")
    if icon := re.search(r"the (trash|star) icon", task.intent):
        page = yield from down_to(page, lambda page: _icon(page, sender, icon[1]))
        yield press(sure(_icon(page, sender, icon[1]), icon[1]), "it belongs to that email")
        return
    page = yield from down_to(page, lambda page: _email(page, sender))
    page = yield press(sure(_email(page, sender), sender), "it is the email I was asked about")
    if "reply" in task.intent:
        page = yield from _open(page, "Reply")
        page = yield write(nth(page, "textbox", 1), quoted(task)[0])
        yield press_named(page, "send-reply")
    else:
        page = yield from _open(page, "Forward")
        page = yield write(nth(page, "textbox", 1), found(task, r"to (\w+)\.")[0])
        yield press_named(page, "send-forward")


def _open(page: Observation, name: str) -> Way:
    page = yield from down_to(page, lambda page: seek_named(page, name))
    return (yield press_named(page, name))


def _email(page: Observation, sender: str) -> Element | None:
    return next((element for element in page.elements if element.name.startswith(f"{sender}, ")), None)


def _icon(page: Observation, sender: str, name: str) -> Element | None:
    """The icons of an email follow it."""
    email = _email(page, sender)
    after = page.elements[page.elements.index(email) + 1 :][:2] if email else ()
    return next((element for element in after if element.name == name), None)


@dataclass(frozen=True, slots=True)
class Post:
    user: str
    text: str
    buttons: tuple[Element, ...]

    def button(self, name: str) -> Element | None:
        return next((element for element in self.buttons if element.name == name), None)


def read_posts(task: Task, page: Observation, before: Sequence[Post] = ()) -> list[Post]:
    """The posts in view, `before` being those of the view before it was scrolled down.

    Ann @ann                Post("@ann", "Hello.", (reply, like))
    Hello.
    button reply [0]
    button like [1]
    Bo @bo 3h ago           Post("@bo", "", ()): the rest is below the edge
    """
    posts = [Post("", "", ())]  # the end of one whose name is above the edge
    by_line = {line_of(page, element): element for element in page.elements}
    for number, line in enumerate(texts(page)):
        if number in by_line:
            posts[-1] = replace(posts[-1], buttons=(*posts[-1].buttons, by_line[number]))
        elif head := re.fullmatch(r"\S.* (@\S+)(?: \d+h ago)?", line):
            posts.append(Post(head[1], "", ()))
        elif line and not posts[-1].buttons and line != task.intent:
            posts[-1] = replace(posts[-1], text=line)
    owner = _post_above(posts[1:], before)
    return [replace(owner, buttons=posts[0].buttons), *posts[1:]] if owner else posts[1:]


def _post_above(posts: Sequence[Post], before: Sequence[Post]) -> Post | None:
    """The one before the first of `posts`, if that was in view already; otherwise the last there was."""
    for number, post in enumerate(before):
        if posts and post.user == posts[0].user and posts[0].text.startswith(post.text):
            return before[number - 1] if number else None
    return before[-1] if before else None


def post(task: Task, page: Observation) -> Script:
    """For the user @consectetur, click on the "Block" button: three are under each post, the others in its menu."""
    (user,) = found(task, r"user (@\w+)")
    action = quoted(task)[0]
    name = action.lower() if action in ("Reply", "Retweet", "Like") else "more"
    seen = read_posts(task, page)
    while not (buttons := [one.button(name) for one in seen if one.user == user and one.button(name)]):
        page = yield look_down()
        seen = read_posts(task, page, seen)
    button = sure(buttons[0], name)
    # Under the mouse the icons turn into other pictures, which come a moment later.
    yield point_at(button, "it is under that user's post")
    page = yield press(button, "this is what I was asked for")
    if name == "more":
        label = f"{action} {user}" if action in ("Mute", "Block") else action
        page = yield from down_to(page, lambda page: seek_named(page, label))
        yield press_named(page, label)


def posts(task: Task, page: Observation) -> Script:
    """Click the "Share" button on all posts by @annis and then click Submit. A post is known by its text."""
    amount, user = found(task, r"button on (all|\d+) posts? by (@\w+)")
    name, done = quoted(task)[0].lower(), set[str]()
    before: list[Post] = []
    seen = read_posts(task, page)
    while True:
        due = [one for one in seen if one.user == user and one.text not in done and one.button(name)]
        if due and str(len(done)) != amount:
            done.add(due[0].text)
            page = yield press(sure(due[0].button(name), name), "this post is by that user")
        elif submit := seek_named(page, "Submit"):
            yield press(submit, "all posts are done")
            return
        else:
            before = seen
            page = yield look_down("there may be more posts")
        seen = read_posts(task, page, before)


def contact(task: Task, page: Observation) -> Script:
    """Find Casie in the contact book and click on their address."""
    person, what = found(task, r"Find (\w+) in the contact book and click on their (\w+)")
    while texts(page)[1] != person:
        page = yield press_named(page, ">", "this is somebody else")
    labels = [line.removesuffix(":").lower() for line in texts(page) if line.endswith(":")]
    yield press(page.elements[labels.index(what)], f"it is the {what} of {person}")


def result(task: Task, page: Observation) -> Script:
    """Use the textbox to enter "Renda" and press "Search", then find and click the 7th search result: three a page."""
    number = ORDINALS[found(task, r"the (\d+\w\w) search result")[0]]
    page = yield write(nth(page, "textbox", 1), quoted(task)[0])
    page = yield press_named(page, "Search")
    turns, place = divmod(number - 1, 3)
    for _ in range(turns):
        page = yield press_named(page, ">", "it is on a later page")
    results = page.elements[2:]
    yield press(results[place], "counted from the first, this is the one")


def ticket(task: Task, page: Observation) -> Script:
    """Buy the ticket with the cheapest cost, the most expensive cost, the shortest or the longest duration."""
    prices = [int(re.sub(r"\D", "", one.name)) for one in of_role(page, "button")]
    lengths = [int(h) * 60 + int(m) for h, m in re.findall(r"Duration: (\d+)h (\d+)m", "\n".join(texts(page)))]
    values = prices if "cost" in task.intent else lengths
    best = min(values) if re.search("cheapest|shortest", task.intent) else max(values)
    yield press(of_role(page, "button")[values.index(best)], "no other is as good")


def calendar(task: Task, page: Observation) -> Script:
    """Select 01/14/2016 as the date and hit submit: the field opens a calendar at some month."""
    month, day, year = (int(part) for part in found(task, r"(\d+)/(\d+)/(\d+)"))
    page = yield press(nth(page, "textbox", 1), "it opens the calendar")
    while (shown := _month(page)) != (year, month):
        page = yield press_named(page, "Prev" if shown > (year, month) else "Next", "the calendar shows another month")
    page = yield press(named(page, str(day), "link"), "this is the day")
    yield press_named(page, "Submit")


def _month(page: Observation) -> tuple[int, int]:
    for line in texts(page):
        if match := re.search(rf"({'|'.join(MONTHS)}),? (\d{{4}})", line):
            return int(match[2]), MONTHS.index(match[1]) + 1
    raise ExpertLost(f"no calendar on {page.url}")


PEOPLE: dict[str, MakeScript] = {
    "email-inbox": mail,
    "email-inbox-delete": mail,
    "email-inbox-forward": mail,
    "email-inbox-important": mail,
    "email-inbox-noscroll": mail,
    "email-inbox-reply": mail,
    "email-inbox-star-reply": mail,
    "social-media": post,
    "social-media-all": posts,
    "social-media-some": posts,
    "phone-book": contact,
    "search-engine": result,
    "buy-ticket": ticket,
    "choose-date": calendar,
    "choose-date-easy": calendar,
    "choose-date-medium": calendar,
    "choose-date-nodelay": calendar,
}
