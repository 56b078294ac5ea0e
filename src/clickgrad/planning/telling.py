"""A plan for the terminal: a few lines and small tables."""

from __future__ import annotations

from clickgrad.planning.memory import SPARE
from clickgrad.planning.plan import FULL, Plan
from clickgrad.report.tables import Table


def told(plan: Plan) -> str:
    parts = [_heading(plan), _times(plan).text(), _rates(plan).text(), _memory(plan).text(), _crowds(plan).text()]
    if plan.seen:
        parts.append(_comparison(plan).text())
    return "\n\n".join([*parts, "\n".join(_findings(plan))])


def _heading(plan: Plan) -> str:
    setup, rollout = plan.setup, plan.rollout
    machine, learners, device = setup.machine, setup.learning.learners, setup.device.name
    if not setup.device.measured:
        device = f"{machine.engines + learners} x {device}: {machine.engines} sample, {learners} learn"
    episodes, turns = rollout.episodes / plan.steps, rollout.turns / rollout.episodes
    tokens = f"{rollout.read_tokens / rollout.turns:.0f} tokens and draws {rollout.reply_tokens / rollout.turns:.0f}"
    return "\n".join(
        [
            f"{setup.model.name} ({setup.model.parameters / 1e9:.2f} B) on {device}; "
            f"{machine.cores:.0f} cores, {setup.browsers} browsers",
            f"{episodes:.0f} episodes a step, {turns:.1f} turns each; a turn reads {tokens}",
            setup.sources,
        ]
    )


def _times(plan: Plan) -> Table:
    whole = plan.step_s
    parts = {"rollout": plan.rollout_s}
    if plan.setup.learning.learners:
        parts |= {"update": plan.update_s, "weights to engines": plan.push_s, "step": whole}
    return Table(
        ("a step", "seconds", "share"),
        tuple((name, f"{spent:.1f}", f"{spent / whole:.0%}") for name, spent in parts.items()),
    )


def _rates(plan: Plan) -> Table:
    rollout = plan.rollout
    rates = {
        "episodes/minute in the rollout": f"{rollout.episodes_per_min:.1f}",
        "tokens/s drawn": f"{rollout.reply_tokens / rollout.seconds:.0f}",
        "tokens/s read": f"{rollout.read_tokens / rollout.seconds:.0f}",
        "engines busy": f"{rollout.engine_busy:.0%}",
        "cores busy": f"{rollout.cores_busy:.0%}",
    }
    if plan.update_s:
        rates["episodes/minute with updates"] = f"{plan.episodes_per_min:.1f}"
        rates["tokens/s trained"] = f"{plan.trained_tokens / plan.steps / plan.update_s:.0f}"
    return Table(("rates", ""), tuple(rates.items()))


def _memory(plan: Plan) -> Table:
    memory = plan.memory
    limit = f" of {SPARE * memory.limit:.0f}" if memory.limit else ""
    rows = [("browsers and sites", f"{memory.browsers:.1f}", "on their hosts")]
    if plan.setup.learning.learners:
        held = f"state {memory.learner_state:.1f}, activations {memory.learner_activations:.1f}"
        rows.insert(0, ("a learner", f"{memory.learner:.1f}{limit}", held))
    if plan.setup.machine.engines:
        held = f"weights {memory.engine_weights:.1f}, cache {memory.engine_cache:.1f}"
        rows.insert(0, ("an engine", f"{memory.engine:.1f}{limit}", held))
    return Table(("memory", "GB", ""), tuple(rows))


def _crowds(plan: Plan) -> Table:
    return Table(
        ("browsers", "episodes/minute", "engines busy", "cores busy"),
        tuple(
            (
                str(crowd.browsers),
                f"{crowd.episodes_per_min:.1f}",
                f"{crowd.engine_busy:.0%}",
                f"{crowd.cores_busy:.0%}",
            )
            for crowd in plan.crowds
        ),
    )


def _comparison(plan: Plan) -> Table:
    assert plan.seen
    seen, rollout, steps = plan.seen, plan.rollout, plan.steps
    pairs = {
        "episodes/minute in the rollout": (rollout.episodes_per_min, 60 * seen.episodes / seen.rollout_s),
        "rollout s": (plan.rollout_s, seen.rollout_s / steps),
        "update s": (plan.update_s + plan.push_s, seen.update_s / steps),
        "a turn's reply s": (rollout.policy_s / rollout.turns, seen.policy_s),
        "a turn's browser s": (rollout.browser_s / rollout.turns, seen.browser_s),
    }
    rows = ((name, f"{told:.2f}", f"{was:.2f}", f"{told / was - 1:+.0%}") for name, (told, was) in pairs.items() if was)
    return Table(("compared with the run", "plan", "run", "off by"), tuple(rows))


def _findings(plan: Plan) -> list[str]:
    enough, last = plan.enough_browsers, plan.crowds[-1]
    lines = [f"does not fit: {fault}" for fault in plan.memory.too_small()]
    lines.append(f"bottleneck: {plan.bottleneck}")
    busy = next(crowd.engine_busy for crowd in plan.crowds if crowd.browsers == enough)
    lines.append(f"browsers: {enough} are enough" + (f"; engines are then {busy:.0%} busy" if busy else ""))
    if enough == last.browsers and 0 < busy < FULL:
        lines.append("more groups a step would let more browsers work at once")
    return lines
