"""Charts as inline SVG; colours come from the page's style, so that they follow light and dark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH = 720
LABEL_WIDTH = 150
NOTE_WIDTH = 110
ROW_HEIGHT = 30
BAR_HEIGHT = 14
AXIS_HEIGHT = 26
PLOT_HEIGHT = 320
MARGIN = 46
DOT_RADIUS = 5
SERIES_COLOURS = 10
"""How many classes `s0`, `s1`, ... the style sheet colours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a bar chart; `mark` is a second value drawn as a tick, None = no tick."""

    label: str
    value: float
    series: int = 0
    mark: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a line chart, with one point of it that stands out."""

    label: str
    points: Sequence[tuple[float, float]]
    series: int
    highlight: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def draw_bars(bars: Sequence[Bar], *, unit: str, most: float | None = None) -> Markup:
    """Draw horizontal bars from 0 to `most` (without it, a little above the largest value)."""
    if not bars:
        return Markup("")
    largest = max(max(bar.value, bar.mark or 0.0) for bar in bars)
    scale = _Scale(0.0, most or _round_up(largest), LABEL_WIDTH, WIDTH - NOTE_WIDTH)
    height = len(bars) * ROW_HEIGHT + AXIS_HEIGHT
    parts = [_draw_x_axis(scale, height - AXIS_HEIGHT, unit)]
    parts += [_draw_bar(bar, place, scale, unit) for place, bar in enumerate(bars)]
    return _wrap(parts, height)


def draw_dots(
    rows: Mapping[str, Mapping[str, float]], series: Mapping[str, int], *, low: float
) -> Markup:
    """Draw one row a group with a dot for each series, on a scale from `low` to 1."""
    if not rows:
        return Markup("")
    scale = _Scale(low, 1.0, LABEL_WIDTH, WIDTH - MARGIN)
    height = len(rows) * ROW_HEIGHT + AXIS_HEIGHT
    parts = [_draw_x_axis(scale, height - AXIS_HEIGHT, "")]
    for place, (label, values) in enumerate(rows.items()):
        parts.append(_draw_dot_row(label, values, series, place, scale))
    return _wrap(parts, height)


def draw_curves(
    lines: Sequence[Line], *, x_title: str, y_title: str, x_most: float, x_guide: float
) -> Markup:
    """Draw lines over x from 0 to `x_most` and y from 0 to 1, and a guide at `x_guide`."""
    x = _Scale(0.0, x_most, MARGIN, WIDTH - MARGIN)
    y = _Scale(0.0, 1.0, PLOT_HEIGHT - MARGIN, 12)
    guide = x.place(x_guide)
    parts = [
        _draw_x_axis(x, y.start, "", top=y.end),
        *(_draw_y_tick(y.place(tick / 4), tick / 4) for tick in range(5)),
        f'<line class="guide" x1="{guide:.1f}" x2="{guide:.1f}" y1="{y.end}" y2="{y.start}"/>',
        _text(WIDTH / 2, PLOT_HEIGHT - 6, x_title, "axis", "middle"),
        f'<text class="axis" text-anchor="middle" transform="translate(12 '
        f'{(y.start + y.end) / 2:.0f}) rotate(-90)">{escape(y_title)}</text>',
    ]
    parts += [_draw_line(line, x, y) for line in lines]
    return _wrap(parts, PLOT_HEIGHT)


def series_class(number: int) -> str:
    """Return the style class of a series; colours repeat after SERIES_COLOURS."""
    return f"s{number % SERIES_COLOURS}"


def _draw_bar(bar: Bar, place: int, scale: _Scale, unit: str) -> str:
    middle = place * ROW_HEIGHT + ROW_HEIGHT / 2
    end = scale.place(bar.value)
    mark_end = end if bar.mark is None else max(end, scale.place(bar.mark))
    note, tick = _format(bar.value, unit), ""
    if bar.mark is not None:
        note = f"{_format(bar.value, '')} / {_format(bar.mark, unit)}"
        spot = scale.place(bar.mark)
        tick = (
            f'<line class="tick" x1="{end:.1f}" x2="{spot:.1f}" y1="{middle}" y2="{middle}"/>'
            f'<line class="tick" x1="{spot:.1f}" x2="{spot:.1f}" y1="{middle - 5}" '
            f'y2="{middle + 5}"/>'
        )
    return (
        f"<g><title>{escape(bar.label)}: {escape(note)}</title>"
        + _text(LABEL_WIDTH - 10, middle + 4, bar.label, "label", "end")
        + f'<rect class="{series_class(bar.series)}" x="{scale.start}" '
        f'y="{middle - BAR_HEIGHT / 2}" width="{max(end - scale.start, 1):.1f}" '
        f'height="{BAR_HEIGHT}" rx="3"/>'
        + tick
        + _text(mark_end + 6, middle + 4, note, "value", "start")
        + "</g>"
    )


def _draw_dot_row(
    label: str, values: Mapping[str, float], series: Mapping[str, int], place: int, scale: _Scale
) -> str:
    middle = place * ROW_HEIGHT + ROW_HEIGHT / 2
    spots = [scale.place(value) for value in values.values()]
    dots = "".join(
        f'<circle class="{series_class(series[name])}" cx="{scale.place(value):.1f}" '
        f'cy="{middle}" r="{DOT_RADIUS}"><title>{escape(label)} · {escape(name)}: '
        f"{value:.3f}</title></circle>"
        # The first series is drawn last, on top.
        for name, value in reversed(list(values.items()))
    )
    span = (
        f'<line class="span" x1="{min(spots):.1f}" x2="{max(spots):.1f}" y1="{middle}" '
        f'y2="{middle}"/>'
        if spots
        else ""
    )
    return f"<g>{_text(LABEL_WIDTH - 10, middle + 4, label, 'label', 'end')}{span}{dots}</g>"


def _draw_line(line: Line, x: _Scale, y: _Scale) -> str:
    visible = [point for point in line.points if point[0] <= x.high]
    if not visible:
        return ""
    path = " ".join(f"{x.place(left):.1f},{y.place(up):.1f}" for left, up in visible)
    style = series_class(line.series)
    spot = ""
    if line.highlight is not None:
        left, up = line.highlight
        spot = (
            f'<circle class="{style} spot" cx="{x.place(left):.1f}" cy="{y.place(up):.1f}" '
            f'r="{DOT_RADIUS + 1}"><title>{escape(line.label)} as shipped: {up:.3f} refused, '
            f"{left:.3f} wrongly</title></circle>"
        )
    return f'<polyline class="{style} line" points="{path}"/>{spot}'


def _draw_x_axis(scale: _Scale, base: float, unit: str, top: float = 0) -> str:
    ticks = []
    for tick in range(5):
        value = scale.low + (scale.high - scale.low) * tick / 4
        left = scale.place(value)
        ticks.append(
            f'<line class="grid" x1="{left:.1f}" x2="{left:.1f}" y1="{top}" y2="{base}"/>'
            + _text(left, base + 16, _format(value, unit), "axis", "middle")
        )
    return "".join(ticks)


def _draw_y_tick(place: float, value: float) -> str:
    line = f'<line class="grid" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{place}" y2="{place}"/>'
    return line + _text(MARGIN - 6, place + 4, _format(value, ""), "axis", "end")


def _text(left: float, base: float, text: str, style: str, anchor: str) -> str:
    return (
        f'<text class="{style}" x="{left:.1f}" y="{base:.1f}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def _wrap(parts: Sequence[str], height: float) -> Markup:
    body = "".join(parts)
    # All labels went through escape() above.
    return Markup(f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img">{body}</svg>')  # noqa: S704


def _format(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004
    return f"{number} {unit}".strip()


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 6, 8 x a power of ten, so that quarters of it are round."""
    if value <= 0:
        return 1.0
    power = 1.0
    while value > 10 * power:
        power *= 10
    while value <= power:
        power /= 10
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if value <= step * power)
