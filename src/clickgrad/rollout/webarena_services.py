"""What is asked over HTTP and not in the browser: the shop's orders and reviews, the judge, the reset of the sites.

Every request has a deadline. Passwords, tokens and keys are sent and nowhere shown.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from clickgrad.errors import InfraError, UserError, WorldError, boundary
from clickgrad.tasks.webarena.sites import Account
from clickgrad.webarena import Opinion, Question

if TYPE_CHECKING:
    import httpx

SHOP_TIMEOUT_S = 30.0
_PASSING = (408, 425, 429, 500, 502, 503, 504, 529)  # what may be better the next time
_LATEST = {
    "searchCriteria[sortOrders][0][field]": "created_at",
    "searchCriteria[sortOrders][0][direction]": "DESC",
    "searchCriteria[pageSize]": "1",
}
_LIKE = (
    "A question was put to someone, and there is a reference answer. Say whether the given answer means the same as "
    "the reference; other words or another order are no fault. 'N/A' stands for 'this cannot be done'.\n"
    "Question: {intent}\nReference answer: {reference}\nGiven answer: {text}\n"
    "End with one verdict: correct, partially correct, or incorrect."
)
_REASON = (
    "A task cannot be done, for a known reason. Someone who tried it says why they gave up. Say whether what they say "
    "comes down to the known reason, if only between the lines.\n"
    "Task: {intent}\nKnown reason: {reference}\nReported reason: {text}\n"
    "Answer with one word: same, or different."
)


def _httpx() -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise UserError("httpx is not installed: pip install 'clickgrad[chat]'") from None
    return httpx


class Magento:
    """The shop's own interface for programs, as its administrator."""

    def __init__(self, url: str, admin: Account, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = url
        self._admin = admin
        self._transport = transport

    async def latest_order_url(self) -> str:
        orders = await self._get("/rest/V1/orders", _LATEST)
        with boundary(WorldError, "reading the shop's latest order"):
            return f"{self._url}/sales/order/view/order_id/{int(orders['items'][0]['increment_id'])}/"

    async def latest_review(self, sku: str) -> tuple[str, str]:
        reviews = await self._get(f"/rest/V1/products/{quote(sku, safe='')}/reviews", {})
        if not reviews:
            return "", ""
        with boundary(WorldError, f"reading the latest review of {sku}"):
            return str(reviews[-1]["nickname"]), str(reviews[-1]["ratings"][0]["percent"])

    async def _get(self, path: str, parameters: dict[str, str]) -> Any:
        with boundary(WorldError, f"asking the shop for {path}"):
            async with _httpx().AsyncClient(timeout=SHOP_TIMEOUT_S, transport=self._transport) as client:
                login = {"username": self._admin.name, "password": self._admin.password}
                token = await client.post(f"{self._url}/rest/default/V1/integration/admin/token", json=login)
                token.raise_for_status()
                headers = {"Authorization": f"Bearer {token.json()}"}
                answer = await client.get(self._url + path, params=parameters, headers=headers)
                answer.raise_for_status()
                return answer.json()


@dataclass(frozen=True, slots=True)
class Judge:
    """A model behind any OpenAI-compatible endpoint, asked what only a reader can tell."""

    url: str  # up to and without /chat/completions
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    tries: int = 4
    wait_s: float = 1.0  # before the second try; doubled before each further one
    transport: httpx.AsyncBaseTransport | None = field(default=None, repr=False)

    async def opinion(self, question: Question, intent: str) -> Opinion:
        wording = _LIKE if question.kind == "fuzzy_match" else _REASON
        reply = await self._ask(wording.format(intent=intent, reference=question.reference, text=question.text))
        return Opinion(question, read_reply(question, reply), reply)

    async def _ask(self, text: str) -> str:
        body = {"model": self.model, "messages": [{"role": "user", "content": text}], "temperature": 0}
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        httpx, wait_s = _httpx(), self.wait_s
        async with httpx.AsyncClient(timeout=self.timeout_s, transport=self.transport, headers=headers) as client:
            for tries_left in reversed(range(self.tries)):
                try:
                    answer = await client.post(f"{self.url.rstrip('/')}/chat/completions", json=body)
                    if answer.status_code not in _PASSING:
                        return self._content(answer)
                    trouble = f"status {answer.status_code}"
                except httpx.TransportError as error:
                    trouble = type(error).__name__
                if tries_left:
                    await asyncio.sleep(wait_s)
                    wait_s *= 2
        raise InfraError(f"the judge {self.model} gave no opinion in {self.tries} tries: {trouble}")

    def _content(self, answer: httpx.Response) -> str:
        if answer.status_code in (401, 403, 404):
            raise UserError(
                f"the judge at {self.url} answers {answer.status_code}: mend judge.url, judge.model or the key"
            )
        with boundary(InfraError, f"reading the opinion of the judge {self.model}"):
            answer.raise_for_status()
            return str(answer.json()["choices"][0]["message"]["content"])


def read_reply(question: Question, reply: str) -> bool | None:
    """By the words the evaluators look for, of which the unfavourable ones win."""
    reply = reply.lower()
    no, yes = (
        (("incorrect", "partially correct"), "correct") if question.kind == "fuzzy_match" else (("different",), "same")
    )
    if any(word in reply for word in no):
        return False
    return True if yes in reply else None
