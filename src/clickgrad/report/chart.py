"""Charts as inline SVG, without script: values on hover, colours from the page. Small on purpose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from clickgrad.report.stats import Rate

WIDTH, HEIGHT = 360, 200
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 30, 26
ROW = 46


@dataclass(frozen=True, slots=True)
class _Axes:
    """From steps and values to places in the picture."""

    first: float
    last: float
    high: float

    def x(self, step: float) -> float:
        return round(LEFT + (step - self.first) / (self.last - self.first) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        inside = min(max(value, 0.0), self.high)
        return round(HEIGHT - BOTTOM - inside / self.high * (HEIGHT - TOP - BOTTOM), 1)


def line_chart(
    title: str,
    points: Sequence[tuple[float, float]],
    ceiling: float | None = None,
    borders: tuple[float, float] | None = None,
) -> Markup:
    """The vertical axis starts at 0 and ends at `ceiling`, or at the next round number above the highest value.

    `borders` are the first steps of the second and third phase; the middle one is shaded.
    """
    if not points:
        return Markup("")
    axes = _axes([step for step, _ in points], ceiling or round_up(max(value for _, value in points)))
    places = [(axes.x(step), axes.y(value)) for step, value in points]
    dots = [
        f'<circle cx="{x}" cy="{y}" r="3"><title>step {step:g}: {value:.4g}</title></circle>'
        for (x, y), (step, value) in zip(places, points, strict=True)
    ]
    line = " ".join(f"{x},{y}" for x, y in places)
    return _picture(title, axes, _phase_band(axes, borders), f'<polyline points="{line}"/>', *dots)


def round_up(value: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten; 1 for what is not positive.

    >>> round_up(0.86), round_up(2.3), round_up(45)
    (1.0, 2.5, 50.0)
    """
    if not 0 < value < math.inf:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(factor * unit for factor in (1, 2, 2.5, 5, 10) if factor * unit >= value * (1 - 1e-9))


@dataclass(frozen=True, slots=True)
class Curve:
    name: str
    points: tuple[tuple[float, float], ...]
    intervals: tuple[tuple[float, float], ...] = ()  # around each of the points


def curves_chart(title: str, curves: Sequence[Curve], ceiling: float, unit: str) -> Markup:
    """Several curves on one scale, each in the colour of its class c0, c1 and so on; values and names on hover."""
    steps = sorted({step for curve in curves for step, _ in curve.points})
    if not steps:
        return Markup("")
    axes = _axes(steps, ceiling)
    shapes = [_curve(axes, curve, number, unit) for number, curve in enumerate(curves)]
    ticks = [f'<text x="{axes.x(step)}" y="{HEIGHT - 8}" text-anchor="middle">{step:g}</text>' for step in steps[1:-1]]
    return _picture(title, axes, *ticks, *shapes, unit=unit, form=".0%")


def _curve(axes: _Axes, curve: Curve, number: int, unit: str) -> str:
    """The intervals of one step stand a little beside each other, or the last would hide the others."""
    aside = (number % 5) * 2.5
    line = " ".join(f"{axes.x(step)},{axes.y(value)}" for step, value in curve.points)
    bars = [
        f'<line x1="{axes.x(step) + aside}" x2="{axes.x(step) + aside}" y1="{axes.y(low)}" y2="{axes.y(high)}" '
        'class="bar"/>'
        for (step, _), (low, high) in zip(curve.points, curve.intervals, strict=False)
    ]
    dots = [
        f'<circle cx="{axes.x(step)}" cy="{axes.y(value)}" r="3">'
        f"<title>{escape(curve.name)}, {unit} {step:g}: {value:.1%}</title></circle>"
        for step, value in curve.points
    ]
    return f'<g class="c{number % 5}">{"".join(bars)}<polyline points="{line}"/>{"".join(dots)}</g>'


def share_chart(title: str, steps: Sequence[float], parts: Sequence[tuple[str, str, Sequence[float]]]) -> Markup:
    """Stacked shares of a whole, one column a step. A part is its name, its CSS class and its counts."""
    if not steps:
        return Markup("")
    axes = _axes(steps, 1.0)
    room = (WIDTH - LEFT - RIGHT) / len(steps)
    shapes = []
    for number, step in enumerate(steps):
        total, below = sum(counts[number] for _, _, counts in parts), 0.0
        for name, kind, counts in parts:
            share = counts[number] / total if total else 0.0
            top = axes.y(below + share)
            height = round(axes.y(below) - top, 1)
            shapes.append(
                f'<rect x="{LEFT + number * room + room * 0.08:.1f}" y="{top}" width="{room * 0.84:.1f}" '
                f'height="{height}" class="{kind}"><title>step {step:g}: {escape(name)} {counts[number]:g} of '
                f"{total:g}</title></rect>"
            )
            below += share
    return _picture(title, axes, *shapes)


def interval_chart(title: str, rates: Sequence[tuple[str, Rate]]) -> Markup:
    """A dot with its interval for each rate, one below the other, on one scale from 0 to 100 %."""
    if not rates:
        return Markup("")
    width, left, right = 720, 26, 84
    height = 30 + ROW * len(rates)

    def x(share: float) -> float:
        return round(left + share * (width - left - right), 1)

    shapes = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        shapes.append(f'<line x1="{x(share)}" x2="{x(share)}" y1="4" y2="{height - 22}" class="rule"/>')
        shapes.append(f'<text x="{x(share)}" y="{height - 6}" text-anchor="middle">{share:.0%}</text>')
    for number, (name, rate) in enumerate(rates):
        y = 30 + ROW * number
        last = " now" if number == len(rates) - 1 else ""
        shapes.append(
            f'<g class="interval{last}"><title>{escape(name)}: {escape(rate)}</title>'
            f'<text x="{left}" y="{y - 10}" class="title">{escape(name)}</text>'
            f"{_interval_shapes(rate, y, x)}"
            f'<text x="{width}" y="{y + 5}" text-anchor="end" class="value">{_percent(rate)}</text></g>'
        )
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" role="img" class="headline" aria-label="{escape(title)}">'
        f"{''.join(shapes)}</svg>"
    )


def _interval_shapes(rate: Rate, y: int, x: Callable[[float], float]) -> str:
    """Nothing when nothing was measured: a dot at 0 would be a figure."""
    if not rate.n:
        return ""
    low, high = rate.interval
    return f'<line x1="{x(low)}" x2="{x(high)}" y1="{y}" y2="{y}"/><circle cx="{x(rate.value)}" cy="{y}" r="6"/>'


def _percent(rate: Rate) -> str:
    return f"{rate.value:.1%}" if rate.n else "–"


def _axes(steps: Sequence[float], high: float) -> _Axes:
    return _Axes(steps[0], max(steps[-1], steps[0] + 1), high)


def _phase_band(axes: _Axes, borders: tuple[float, float] | None) -> str:
    if borders is None:
        return ""
    from_x, to_x = (axes.x(border - 0.5) for border in borders)
    return (
        f'<rect x="{from_x}" y="{TOP}" width="{to_x - from_x:.1f}" height="{HEIGHT - TOP - BOTTOM}" class="phase"/>'
        + "".join(f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" class="border"/>' for x in (from_x, to_x))
    )


def _picture(title: str, axes: _Axes, *shapes: str, unit: str = "step", form: str = ".4g") -> Markup:
    rules = [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{axes.y(share * axes.high)}" y2="{axes.y(share * axes.high)}" '
        f'class="rule"/><text x="{LEFT - 6}" y="{axes.y(share * axes.high) + 4}" text-anchor="end">'
        f"{share * axes.high:{form}}</text>"
        for share in (0.0, 0.5, 1.0)
    ]
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<text x="{LEFT}" y="16" class="title">{escape(title)}</text>{"".join(rules)}'
        f'<text x="{LEFT}" y="{HEIGHT - 8}">{axes.first:g}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{escape(unit)} {axes.last:g}</text>'
        f"{''.join(shapes)}</svg>"
    )
