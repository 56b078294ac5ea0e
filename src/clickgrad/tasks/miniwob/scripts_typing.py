"""Scripts for pages with fields: what has to be typed stands in the intent or on the page."""

from __future__ import annotations

import re

from clickgrad.tasks.miniwob.reading import (
    ORDINALS,
    bare,
    down_to,
    found,
    named,
    nth,
    of_role,
    press,
    press_named,
    quoted,
    seek_named,
    wait,
    write,
    write_all,
)
from clickgrad.tasks.moves import ExpertLost, MakeScript, Script, texts
from clickgrad.types import Element, Observation, Task


def text(task: Task, page: Observation) -> Script:
    """Enter "Agustina" into the text field and press Submit."""
    yield from _submit(page, quoted(task)[0])


def text_in_case(task: Task, page: Observation) -> Script:
    """Type "agustina" in all upper case letters in the text input and press Submit."""
    word = quoted(task)[0]
    yield from _submit(page, word.upper() if "upper case" in task.intent else word.lower())


def password_twice(task: Task, page: Observation) -> Script:
    word = quoted(task)[0]
    page = yield from write_all(page, [(1, word), (2, word)])
    yield press_named(page, "Submit")


def log_in(task: Task, page: Observation) -> Script:
    """Enter the username "karrie" and the password "AU" ... A popup on the way is cancelled."""
    for number, word in enumerate(quoted(task), 1):
        while nth(page, "textbox", number).value not in (word, "*" * len(word)):
            popup = seek_named(page, "Cancel", "button")
            page = yield press(popup, "I do not want to leave") if popup else write(nth(page, "textbox", number), word)
    if popup := seek_named(page, "Cancel", "button"):
        page = yield press(popup, "I do not want to leave")
    yield press(of_role(page, "button")[0], "both fields are filled in")


def date(task: Task, page: Observation) -> Script:
    """Enter 05/20/2010 as the date and hit submit."""
    month, day, year = found(task, r"(\d+)/(\d+)/(\d+)")
    yield from _submit(page, f"{year}-{month}-{day}")


def time(task: Task, page: Observation) -> Script:
    """Enter 9:37 PM as the time and press submit."""
    hour, minute, half = found(task, r"(\d+):(\d+) (AM|PM)")
    yield from _submit(page, f"{int(hour) % 12 + 12 * (half == 'PM'):02d}:{minute}")


def arithmetic(task: Task, page: Observation) -> Script:
    """0 + 0 ="""
    left, sign, right = _on_page(page, r"^(\d+) ([-+*x×]) (\d+) =")
    a, b = int(left), int(right)
    yield from _submit(page, str(a + b if sign == "+" else a - b if sign == "-" else a * b))


def algebra(task: Task, page: Observation) -> Script:
    """0 + x = 8, x - 5 = 7, ..."""
    left, sign, right, total = _on_page(page, r"^(x|\d+) ([-+]) (x|\d+) = (-?\d+)")
    result, known = int(total), int(right if left == "x" else left)
    solved = {"x+": result - known, "+x": result - known, "x-": result + known, "-x": known - result}
    answer = solved[f"x{sign}" if left == "x" else f"{sign}x"]
    yield from _submit(page, str(answer))


def table(task: Task, page: Observation) -> Script:
    """Enter the value of Last name into the text field and press Submit."""
    (label,) = found(task, r"the value of (.*) into")
    yield from _submit(page, _rows(page)[label])


def table_twice(task: Task, page: Observation) -> Script:
    """Enter the value that corresponds with each label into the form: a label is a line that ends in a colon."""
    labels = [line.removesuffix(":") for line in texts(page) if line.endswith(":")]
    rows = _rows(page)
    page = yield from write_all(page, [(number, rows[label]) for number, label in enumerate(labels, 1)])
    yield press_named(page, "Submit")


def _rows(page: Observation) -> dict[str, str]:
    return dict(re.findall(r"^(.+?), (.+)$", "\n".join(texts(page)), re.MULTILINE))


def word_of_paragraph(task: Task, page: Observation) -> Script:
    """Find the 1st word in the paragraph, type that into the textbox and press "Submit"."""
    (place,) = found(task, r"Find the (\w+) word")
    words = texts(page)[1].split()
    yield from _submit(page, bare(words[ORDINALS[place] - 1]))


def captcha(task: Task, page: Observation) -> Script:
    """Type the text below into the text field: its letters stand apart."""
    yield from _submit(page, texts(page)[1].replace(", ", "").replace(" ", ""))


def autocomplete(task: Task, page: Observation) -> Script:
    """Enter an item that starts with "An" and ends with "ica"."""
    start, *end = quoted(task)
    old = {element.name for element in page.elements}

    def fitting(page: Observation) -> list[Element]:
        items = (element for element in page.elements if element.name not in old)
        return [item for item in items if item.name.startswith(start) and item.name.endswith("".join(end))]

    page = yield write(nth(page, "textbox", 1), start)
    if not fitting(page):
        page = yield wait("the list of items is still coming")
    page = yield press(fitting(page)[0], "it starts and ends as it should")
    yield press_named(page, "Submit")


def movie_search(task: Task, page: Observation) -> Script:
    """Search for action movies directed by Bowen from year 1998: the labels stand before or after their fields."""
    genre, director, year = found(task, r"for (.*) movies directed by (.*) from year (\d+)")
    wanted = {"genre": genre, "director": director, "year": year, "date": year}
    fields = {element.line for element in of_role(page, "textbox")}
    lines = (line.lower() for number, line in enumerate(texts(page)) if number and number not in fields)
    labels = [line for line in lines if any(word in line for word in wanted)]
    for number, label in enumerate(labels[-3:], 1):
        (word,) = {value for key, value in wanted.items() if key in label}
        page = yield write(nth(page, "textbox", number), word)
    yield press(of_role(page, "button")[-1], "the form is filled in")


def radio_and_number(task: Task, page: Observation) -> Script:
    """Check the 1st radio button and enter the number "-5" into the 2nd textbox."""
    radio, number, box = found(task, r'the (\w+) radio button and enter the number "(-?\d+)" into the (\w+) textbox')
    page = yield press(nth(page, "radio", ORDINALS[radio]), "this is the one I was given")
    page = yield write(nth(page, "textbox", ORDINALS[box]), number)
    yield press_named(page, "Submit")


def dropdown_and_button(task: Task, page: Observation) -> Script:
    """Choose 5ft 9in from the dropdown, then click the button labeled "Yes"."""
    (height,) = found(task, r"Choose (.*) from the dropdown")
    page = yield press(page.elements[0], "it opens the list of heights")
    page = yield from down_to(page, lambda page: seek_named(page, height))
    page = yield press(named(page, height), "this is the height I was given")
    yield press_named(page, quoted(task)[0])


def spinner(task: Task, page: Observation) -> Script:
    """Select -10 with the spinner and hit Submit."""
    wanted = int(found(task, r"Select (-?\d+)")[0])
    while (value := int(nth(page, "textbox", 1).value)) != wanted:
        up, down = of_role(page, "button")[:2]
        page = yield press(up if value < wanted else down, f"it shows {value}")
    yield press_named(page, "Submit")


def guess(task: Task, page: Observation) -> Script:
    """Guess the number between 0-9: the page says whether it is higher or lower."""
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        page = yield write(nth(page, "textbox", 1), str(middle), "it halves what is left")
        page = yield press_named(page, "Submit")
        said = " ".join(texts(page)[1:]).lower()
        low, high = (middle + 1, high) if "higher than" in said else (low, middle - 1)


def generate(task: Task, page: Observation) -> Script:
    """Generate a number less than 5, then press submit."""
    bound = int((re.search(r"\d+", task.intent) or ["0"])[0])
    wants = {"less": range(bound), "greater": range(bound + 1, 99), "odd": range(1, 99, 2), "even": range(0, 99, 2)}
    wanted = wants[found(task, r"(less|greater|odd|even)")[0]]
    while not any(line.isdigit() and int(line) in wanted for line in texts(page)[1:]):
        page = yield press_named(page, "Generate", "the number there is not what I need")
    yield press_named(page, "Submit")


def _on_page(page: Observation, pattern: str) -> tuple[str, ...]:
    for line in texts(page):
        if match := re.search(pattern, line):
            return tuple(match.groups())
    raise ExpertLost(f"nothing like {pattern!r} on {page.url}")


def _submit(page: Observation, word: str) -> Script:
    page = yield write(nth(page, "textbox", 1), word)
    yield press_named(page, "Submit", "the field is filled in")


TYPING: dict[str, MakeScript] = {
    "enter-text": text,
    "enter-text-dynamic": text,
    "enter-text-2": text_in_case,
    "enter-password": password_twice,
    "login-user": log_in,
    "login-user-popup": log_in,
    "enter-date": date,
    "enter-time": time,
    "simple-arithmetic": arithmetic,
    "simple-algebra": algebra,
    "read-table": table,
    "read-table-2": table_twice,
    "find-word": word_of_paragraph,
    "text-transform": captcha,
    "use-autocomplete": autocomplete,
    "use-autocomplete-nodelay": autocomplete,
    "multi-layouts": movie_search,
    "multi-orderings": movie_search,
    "form-sequence-2": radio_and_number,
    "form-sequence-3": dropdown_and_button,
    "use-spinner": spinner,
    "guess-number": guess,
    "generate-number": generate,
}
