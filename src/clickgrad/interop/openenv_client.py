"""OpenEnv, the client's side: what goes over the wire, and a client that needs neither browser nor sites.

    with WebClient(base_url="http://127.0.0.1:8000").sync() as env:
        result = env.reset(task="shop.wish_list.0006")
        result = env.step(WebAction(reply='do(action="Click", element="3")'))

`result.reward` is None until `result.done`. What breaks on the server raises here and is never a reward.
"""

from __future__ import annotations

from typing import Any

try:
    from openenv.core.client_types import StepResult
    from openenv.core.env_client import EnvClient
    from openenv.core.env_server.types import Action, Observation, State
except ModuleNotFoundError as missing:
    raise ImportError("clickgrad.interop.openenv_client needs OpenEnv: pip install 'clickgrad[openenv]'") from missing


class WebAction(Action):
    reply: str  # as a model would write it: a remark and one action


class WebObservation(Observation):
    task: str = ""
    intent: str = ""
    url: str = ""
    page: str = ""  # as a model would read it
    truncated: bool = False  # the turn limit ended it
    standing: float | None = None  # what the checks would say if it ended here; None where nobody can tell
    checks: str = ""  # why


class WebClient(EnvClient[WebAction, WebObservation, State]):
    def _step_payload(self, action: WebAction) -> dict[str, Any]:
        return {"reply": action.reply}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[WebObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        seen = WebObservation(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=seen, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)
