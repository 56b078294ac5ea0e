"""A stored trajectory as the player shows it. Takes records of any version: what is missing is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clickgrad.agent.prompt import PLACEHOLDER, page_lines
from clickgrad.report.episodes import MOST
from clickgrad.report.index import SUFFIX, read_json
from clickgrad.report.metrics import leads_out
from clickgrad.run_layout import picture_name
from clickgrad.types import Observation

Plain = Mapping[str, Any]


def show_trajectory(record: Plain, screenshots: Sequence[Path], file: Path) -> dict[str, Any]:
    verdict, task = record.get("verdict") or {}, record["task"]
    return {
        "checks": task.get("checks", []),
        "start_url": task.get("start_url", ""),
        "user": task.get("user"),
        "expert_turns": task.get("expert_turns"),
        "outcome": verdict.get("outcome", ""),
        "results": [dict(result) for result in verdict.get("results", [])],
        "second": _second_verdict(file, str(record["episode"])),
        "evidence": record.get("evidence"),
        "prompt_format": record.get("prompt_format", ""),
        "seed": record.get("seed"),
        "blocked": sum(one["requests"] for one in record.get("blocked", [])),
        "placeholder": PLACEHOLDER,
        "turn_list": [
            show_turn(turn) | {"screenshot": _picture(turn, f"{record['episode']}-{number:02d}", screenshots)}
            for number, turn in enumerate(record["turns"])
        ],
    }


def _picture(turn: Plain, name: str, screenshots: Sequence[Path]) -> str | None:
    """The file's name, stored with the turn or drawn later."""
    names = (turn.get("screenshot"), picture_name(name))
    return next((one for one in names if one and any(is_picture(place / str(one)) for place in screenshots)), None)


def show_turn(turn: Plain) -> dict[str, Any]:
    observation, completion, action = turn.get("observation") or {}, turn["completion"], turn.get("action") or {}
    element = element_of(observation, action)
    lines = _lines(observation)
    return {
        "url": observation.get("url", ""),
        "title": observation.get("title", ""),
        "lines": list(lines),
        "acted_line": _line_of(element, observation, len(lines)),
        "reply": str(completion.get("text", "")),
        "logprobs": [_number(value) for value in completion.get("logprobs", [])],
        "finish": completion.get("finish", ""),
        "policy_version": completion.get("policy_version"),
        "action": describe(action, element),
        "parsed": action.get("is") != "Unparsable",
        "element": element,
        "prompt_tokens": len(turn.get("prompt_ids", ())),
        "policy_s": _number(turn.get("policy_s")) or 0.0,
        "browser_s": _number(turn.get("browser_s")) or 0.0,
    }


def is_picture(path: Path) -> bool:
    """Whether the file is there. A name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _number(value: Any) -> float | None:
    """None for a figure that is none."""
    return value if isinstance(value, int | float) and -MOST < value < MOST else None


def _lines(observation: Plain) -> Sequence[str]:
    return page_lines(
        Observation(
            url=str(observation.get("url", "")),
            title=str(observation.get("title", "")),
            lines=tuple(map(str, observation.get("lines", ()))),
            elements=(),
            tabs=tuple(map(str, observation.get("tabs", ()))),
            tab=int(observation.get("tab", 0)),
            notice=str(observation.get("notice", "")),
            first=int(observation.get("first", 0)),
        )
    )


def element_of(observation: Plain, action: Plain) -> Plain | None:
    number = action.get("element")
    found = (element for element in observation.get("elements", ()) if element.get("id") == number)
    return next(found, None) if number is not None else None


def _line_of(element: Plain | None, observation: Plain, shown: int) -> int | None:
    """Of the `shown` lines, the last of which are the page's, the one it stands on; None in files from before."""
    line = element.get("line") if element else None
    if not isinstance(line, int) or line < int(observation.get("first", 0)):
        return None
    return shown - len(observation.get("lines", ())) + line


def describe(action: Plain, element: Plain | None) -> str:
    """`Click link "Mugs" [3]`, `Type "blue" into textbox "Search" [5]`, `Exit "$12.50"`."""
    kind = str(action.get("is", "?"))
    if kind == "Unparsable":
        return f"no action: {action.get('reason', '')}"
    target = ""
    if "element" in action:
        named = f'{element.get("role", "")} "{element.get("name", "")}" ' if element else ""
        target = f"{named}[{action['element']}]"
    words = next((str(action[name]) for name in ("text", "option", "message") if name in action), None)
    if words is None:
        tab = f" {action['tab']}" if "tab" in action else ""
        return f"{kind}{tab} {target}".strip()
    if kind == "Exit" and not words:
        return "Exit, without an answer"
    return f'{kind} "{words}" {"in " if target else ""}{target}'.strip()


def _second_verdict(file: Path, episode: str) -> Any:
    """What the last `clickgrad rejudge` said of this episode; None when it was not asked."""
    stem = file.name.removesuffix(SUFFIX)
    files = sorted(file.parent.glob(f"{stem}.rejudged-*.json"), key=lambda path: (len(path.name), path.name))
    if not files:
        return None
    try:
        return None if leads_out(files[-1]) else read_json(files[-1].read_bytes()).get(episode)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
