"""The calls of helper functions in task files: `func:name('literal', ...)`, read strictly. Nothing is ever evaluated.

The names and what they look up are WebArena's, misspelling included; looking up is the venue's business.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from urllib.parse import urlsplit

from clickgrad.errors import UserError

PREFIX = "func:"
PAGE = "__page__"
LAST_URL = "__last_url__"

LATEST_ORDER_URL = "shopping_get_latest_order_url"
POST_URL = "reddit_get_post_url"
REVIEW_AUTHOR = "shopping_get_sku_latest_review_author"
REVIEW_RATING = "shopping_get_sku_latest_review_rating"
MEMBER_ROLE = "gitlab_get_project_memeber_role"

URL_CALLS = {LATEST_ORDER_URL: 0, POST_URL: 1}  # by how many texts they take
LOCATOR_CALLS = {REVIEW_AUTHOR: 1, REVIEW_RATING: 1, MEMBER_ROLE: 1}


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    texts: tuple[str, ...]


def parse_call(text: str, known: dict[str, int]) -> Call:
    """A call of a known function with texts only; the page, which some take first, is left out.

    >>> parse_call("func:gitlab_get_project_memeber_role(__page__, 'vinta')", LOCATOR_CALLS)
    Call(name='gitlab_get_project_memeber_role', texts=('vinta',))
    """
    try:
        node = ast.parse(text.removeprefix(PREFIX).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        node = None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        raise UserError(f"{text!r} is no call of a helper function: write func:name('text', ...)")
    arguments = [argument for argument in node.args if not (isinstance(argument, ast.Name) and argument.id == PAGE)]
    texts = [argument.value for argument in arguments if isinstance(argument, ast.Constant)]
    if len(texts) != len(arguments) or not all(isinstance(value, str) for value in texts):
        raise UserError(f"{text!r}: only texts in quotes can be given to a helper function")
    if known.get(node.func.id) != len(texts):
        raise UserError(f"{text!r}: known here are {', '.join(known)}, each with its number of texts")
    return Call(node.func.id, tuple(str(value) for value in texts))


def post_url(url: str) -> str:
    """The page of a forum post from the address of anything below it; other addresses stay as they are.

    >>> post_url("http://forum:9999/f/books/59421/-/comment/1")
    'http://forum:9999/f/books/59421/'
    """
    parts = urlsplit(url)
    words = parts.path.split("/")
    if len(words) < 4 or words[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{words[2]}/{words[3]}/"
