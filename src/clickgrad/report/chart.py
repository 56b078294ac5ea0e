"""A line chart as inline SVG. Small on purpose: one line, two axes, values on hover."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

WIDTH, HEIGHT = 360, 200
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 30, 26


def line_chart(title: str, points: Sequence[tuple[float, float]], ceiling: float | None = None) -> Markup:
    """The vertical axis starts at 0 and ends at `ceiling`, or a little above the highest value."""
    if not points:
        return Markup("")
    high = ceiling or max(max(value for _, value in points), 1e-9) * 1.08
    first, last = points[0][0], max(points[-1][0], points[0][0] + 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - first) / (last - first) * (WIDTH - LEFT - RIGHT)
        return round(across, 1), round(HEIGHT - BOTTOM - min(y, high) / high * (HEIGHT - TOP - BOTTOM), 1)

    rules = []
    for share in (0.0, 0.5, 1.0):
        _, y = place(first, share * high)
        rules.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" class="rule"/>'
            f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{share * high:.2g}</text>'
        )
    places = [place(x, y) for x, y in points]
    dots = [
        f'<circle cx="{x}" cy="{y}" r="3"><title>step {step:g}: {value:.4g}</title></circle>'
        for (x, y), (step, value) in zip(places, points, strict=True)
    ]
    line = " ".join(f"{x},{y}" for x, y in places)
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f'<text x="{LEFT}" y="16" class="title">{escape(title)}</text>{"".join(rules)}'
        f'<text x="{LEFT}" y="{HEIGHT - 8}">{first:g}</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">step {last:g}</text>'
        f'<polyline points="{line}"/>{"".join(dots)}</svg>'
    )
