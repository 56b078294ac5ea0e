"""How each kind of task is done: the move to make on the page as it is now, then the next page comes back."""

from clickgrad.tasks.moves import Script, click, fill, finish, texts
from clickgrad.types import Observation, Task


def add(task: Task, page: Observation) -> Script:
    page = yield click(page, "link", task.param("list"), "the new item belongs on this list")
    page = yield fill(page, "New item", task.param("item"), "this is what I was asked to add")
    page = yield click(page, "button", "Add", "the item is written but not yet added")
    yield finish("done", "the item is on the list")


def tick(task: Task, page: Observation) -> Script:
    page = yield click(page, "link", task.param("list"), "the item is on this list")
    page = yield click(page, "button", f"Finish {task.param('item')}", "this marks the item as done")
    yield finish("done", "the item is done")


def count(task: Task, page: Observation) -> Script:
    page = yield click(page, "link", task.param("list"), "its page shows the items")
    many = sum("(open)" in line for line in texts(page))
    yield finish(str(many), f"{many} items are open")
