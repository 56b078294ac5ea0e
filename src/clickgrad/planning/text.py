"""A plan for the terminal: a few lines and small tables."""

from __future__ import annotations

from collections.abc import Iterator

from clickgrad.backends.memory import SPARE
from clickgrad.planning.plan import FULL, Plan
from clickgrad.report.tables import Table


def as_text(plan: Plan) -> str:
    tables = [
        Table(("a step", "seconds", "share"), tuple(_times(plan))),
        Table(("rates", ""), tuple(_rates(plan))),
        Table(("memory", "GB", ""), tuple(_memory(plan))),
        Table(("browsers", "episodes/minute", "engines busy", "cores busy"), tuple(_crowds(plan))),
        Table(("compared with the run", "plan", "run", "off by"), tuple(_comparison(plan))),
    ]
    texts = [table.text() for table in tables if table.rows]
    return "\n\n".join(["\n".join(_heading(plan)), *texts, "\n".join(_findings(plan))])


def _heading(plan: Plan) -> Iterator[str]:
    figures, rollout = plan.figures, plan.rollout
    machine, engines, learners = figures["device"], figures["engines"], figures["learners"]
    if not figures["measured"]:
        machine = f"{engines + learners} x {machine}: {engines} sample, {learners} learn"
    turns = rollout.turns / (figures["episodes"] * plan.steps)
    tokens = f"{rollout.read_tokens / rollout.turns:.0f} tokens and draws {rollout.reply_tokens / rollout.turns:.0f}"
    hosts = f"{figures['cores']:.0f} cores, {figures['browsers']} browsers"
    yield f"{figures['model']} ({figures['parameters'] / 1e9:.2f} B) on {machine}; {hosts}"
    yield f"{figures['episodes']:.0f} episodes a step, {turns:.1f} turns each; a turn reads {tokens}"
    yield figures["sources"]


def _times(plan: Plan) -> Iterator[tuple[str, ...]]:
    names = {"rollout": "rollout_s", "update": "update_s", "weights to engines": "push_s", "step": "step_s"}
    for name, key in names.items():
        if plan.figures["learners"] or name == "rollout":
            yield name, f"{plan.figures[key]:.1f}", f"{plan.figures[key] / plan.figures['step_s']:.0%}"


def _rates(plan: Plan) -> Iterator[tuple[str, ...]]:
    figures = plan.figures
    yield "episodes/minute in the rollout", f"{figures['rollout_episodes_per_min']:.1f}"
    yield "tokens/s drawn", f"{figures['sampled_tokens_per_s']:.0f}"
    yield "tokens/s read", f"{figures['read_tokens_per_s']:.0f}"
    yield "engines busy", f"{figures['engine_busy']:.0%}"
    yield "cores busy", f"{figures['cores_busy']:.0%}"
    if figures["update_s"]:
        yield "episodes/minute with updates", f"{figures['episodes_per_min']:.1f}"
        yield "tokens/s trained", f"{figures['trained_tokens_per_s']:.0f}"


def _memory(plan: Plan) -> Iterator[tuple[str, ...]]:
    memory = plan.memory
    limit = f" of {SPARE * memory.limit:.0f}" if memory.limit else ""
    if memory.engine:
        held = f"weights {memory.engine_weights:.1f}, cache {memory.engine_cache:.1f}"
        yield "an engine", f"{memory.engine:.1f}{limit}", held
    if memory.learner:
        held = f"state {memory.learner_state:.1f}, activations {memory.learner_activations:.1f}"
        yield "a learner", f"{memory.learner:.1f}{limit}", held
    yield "browsers and sites", f"{memory.browsers:.1f}", "on their hosts"


def _crowds(plan: Plan) -> Iterator[tuple[str, ...]]:
    for crowd in plan.figures["crowds"]:
        busy = (f"{crowd[part]:.0%}" for part in ("engine_busy", "cores_busy"))
        yield str(crowd["browsers"]), f"{crowd['episodes_per_min']:.1f}", *busy


def _comparison(plan: Plan) -> Iterator[tuple[str, ...]]:
    figures, seen, steps = plan.figures, plan.figures["seen"], plan.steps
    if seen:
        rate = 60 * seen["episodes"] / seen["rollout_s"]
        for name, planned, was in (
            ("episodes/minute in the rollout", figures["rollout_episodes_per_min"], rate),
            ("rollout s", figures["rollout_s"], seen["rollout_s"] / steps),
            ("update s", figures["update_s"] + figures["push_s"], seen["update_s"] / steps),
            ("a turn's reply s", figures["policy_s"], seen["policy_s"]),
            ("a turn's browser s", figures["browser_s"], seen["browser_s"]),
        ):
            if was:
                yield name, f"{planned:.2f}", f"{was:.2f}", f"{planned / was - 1:+.0%}"


def _findings(plan: Plan) -> Iterator[str]:
    enough, crowds = plan.figures["enough_browsers"], plan.figures["crowds"]
    busy = next(crowd["engine_busy"] for crowd in crowds if crowd["browsers"] == enough)
    yield from (f"does not fit: {fault}" for fault in plan.figures["too_small"])
    yield f"bottleneck: {plan.figures['bottleneck']}"
    yield f"browsers: {enough} are enough" + (f"; engines are then {busy:.0%} busy" if busy else "")
    if enough == crowds[-1]["browsers"] and 0 < busy < FULL:
        yield "more groups a step would let more browsers work at once"
