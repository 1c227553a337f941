"""Pieces of a report: plots as SVG text that follow its light or dark colours, and HTML of escaping templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from anoncore.base.extras import imported
from anoncore.kernels.arrays import Floats

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

WRITING_REPORT = "Writing a report"
"""What needs Jinja2 and MarkupSafe, in a sentence."""
PERCENT, TENTHS = "{:.0%}".format, "{:.1%}".format
"""How numbers of a drawing are written."""
WIDTH = 680
LABEL_WIDTH, VALUE_WIDTH = 190, 74
BAR, GAP, GROUP_GAP = 13, 3, 9
LABEL_CHARACTERS = 27
MOST_BINS = 40
PLOT_HEIGHT, LEFT, BOTTOM, TOP = 190, 62, 44, 10
CURVE_POINTS = 240
DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "12 3 2 3 2 3")
STYLES = len(DASHES)

SVG = '<svg viewBox="0 0 {} {:.0f}" role="img" aria-label="{}" class="plot">{}</svg>'
TEXT = '<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}{}</text>'
TURNED_TEXT = '<text x="11" y="{0}" text-anchor="middle" transform="rotate(-90 11 {0})">{1}</text>'
HINT = "<title>{}</title>"
BOX = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="fill s{}"></rect>'
GRID_LINE = '<line x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}" class="grid"></line>'
MARKS = {
    False: '<circle cx="{:.1f}" cy="{:.1f}" r="5" class="mark"></circle>',
    True: '<rect x="{:.1f}" y="{:.1f}" width="12" height="12" class="mark chosen"></rect>',
}
"""How a point is marked: the chosen one by another form, so that both are told apart in grey."""
CURVE = '<polyline points="{}" class="line s{}"{}></polyline>'
DASHED = ' stroke-dasharray="{}"'
SWATCH = (
    '<svg viewBox="0 0 34 14" width="34" height="14" class="swatch" aria-hidden="true">'
    '<line x1="0" y1="7" x2="34" y2="7" class="line s{}"{}></line></svg>'
)
OWN = "anoncore.publishing.report"
"""The package with the templates of reports."""


def markup(text: str) -> Markup:
    """A text that is HTML already, so that nothing escapes it again."""
    safe: Markup = imported("markupsafe", WRITING_REPORT).Markup(text)
    return safe


def _filled(template: str, *values: object) -> Markup:
    """A template with these values, each of which is escaped."""
    return markup(template).format(*values)


@dataclass(frozen=True, eq=False)
class Series:
    """What one release has: `values` float, NaN where there is none; `style` is its colour's number."""

    name: str
    values: Floats
    style: int = 0


def bars(labels: Sequence[str], series: Sequence[Series], text: Callable[[float], str], alt: str) -> Markup:
    """Horizontal bars on one scale from 0, a group per label and a bar per series, each with its number."""
    known = np.concatenate([one.values for one in series])
    largest = float(np.nanmax(known)) if np.isfinite(known).any() else 0.0
    scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / largest if largest > 0 else 0.0
    height, parts = 0.0, []
    for place, label in enumerate(labels):
        short = label if len(label) <= LABEL_CHARACTERS else label[: LABEL_CHARACTERS - 1] + "…"
        middle = height + len(series) * (BAR + GAP) / 2
        parts.append(_text(LABEL_WIDTH - 8, middle + 3, short, anchor="end", title=label))
        for one in series:
            value = float(one.values[place])
            if np.isfinite(value):
                length = max(value * scale, 1.0) if value > 0 else 0.0
                parts.append(_bar(LABEL_WIDTH, height, length, BAR, one.style))
                parts.append(_text(LABEL_WIDTH + length + 5, height + BAR - 2.5, text(value)))
            else:
                parts.append(_text(LABEL_WIDTH + 5, height + BAR - 2.5, "–"))
            height += BAR + GAP
        height += GROUP_GAP
    return _svg(height, parts, alt)


def histogram(
    values: Floats,
    x: str,
    y: str,
    text: Callable[[float], str],
    alt: str,
    style: int = 0,
    weights: Floats | None = None,
) -> Markup:
    """How many of the values lie where, in at most 40 bins; few different whole numbers have a bar each.

    With `weights` (n_values,) a value counts as often as its weight says.
    """
    edges = _edges(values)
    counts, _ = np.histogram(values, edges, weights=weights)
    top = max(int(counts.max()), 1)
    axis = _Axis(float(edges[0]), float(edges[-1]))
    parts = _frame(top, "{:,.0f}".format, x, y, [one for one in _round(0, top) if one == int(one)])
    for start, end, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True):
        if count:
            left, right, height = axis.place(start), axis.place(end), count / top * PLOT_HEIGHT
            parts.append(_bar(left + 0.5, TOP + PLOT_HEIGHT - height, max(right - left - 1, 1), height, style))
    parts += axis.ticks(text, whole=_are_whole(values))
    return _svg(TOP + PLOT_HEIGHT + BOTTOM, parts, alt)


def curves(series: Sequence[Series], x: str, of: str, text: Callable[[float], str], alt: str) -> Markup:
    """Share of the values at or below each point: one climbing curve per series."""
    low = min(0.0, *(float(one.values.min()) for one in series))
    high = max(float(one.values.max()) for one in series)
    axis = _Axis(low, high if high > low else low + 1.0)
    parts = _frame(1.0, PERCENT, x, f"share of {of}", [0.0, 0.25, 0.5, 0.75, 1.0])
    grid = np.linspace(axis.low, axis.high, CURVE_POINTS)
    for one in series:
        # A share that is met but for rounding counts.
        reached = np.searchsorted(np.sort(one.values), grid + 1e-12 * (axis.high - axis.low), side="right")
        up = TOP + PLOT_HEIGHT * (1 - reached / len(one.values))
        points = [f"{axis.place(grid[0]):.1f},{up[0]:.1f}"]
        for place in range(1, len(grid)):
            across = axis.place(grid[place])
            points += [f"{across:.1f},{height:.1f}" for height in dict.fromkeys((up[place - 1], up[place]))]
        parts.append(_filled(CURVE, " ".join(points), one.style % STYLES, _dashes(one.style)))
    parts += axis.ticks(text)
    return _svg(TOP + PLOT_HEIGHT + BOTTOM, parts, alt)


@dataclass(frozen=True)
class Mark:
    """A point of a picture: its label, its place as shares, and whether it is the chosen one."""

    label: str
    x: float
    y: float
    is_chosen: bool = False


def points(marks: Sequence[Mark], x: str, y: str, text: Callable[[float], str], alt: str) -> Markup:
    """Points with a label each, from 0 to the largest on both axes; what is below 0 stands at 0.

    Points that lie on each other share a label.
    """
    axis = _Axis(0.0, max(0.01, *(mark.x for mark in marks)) * 1.04)
    top = max(0.01, *(mark.y for mark in marks)) * 1.08
    parts = _frame(top, text, x, y, _round(0, top))
    labels: list[tuple[float, float, list[str]]] = []
    for mark in sorted(marks, key=lambda mark: mark.is_chosen):
        across, up = axis.place(max(mark.x, 0.0)), TOP + PLOT_HEIGHT * (1 - max(mark.y, 0.0) / top)
        corner = 6 if mark.is_chosen else 0
        parts.append(_filled(MARKS[mark.is_chosen], across - corner, up - corner))
        near = next((one for one in labels if abs(one[0] - across) < 22 and abs(one[1] - up) < 14), None)
        if near is None:
            labels.append((across, up, [mark.label]))
        else:
            near[2].append(mark.label)
    for across, up, names in labels:
        is_far_right = across > WIDTH - 60
        place, anchor = (across - 10, "end") if is_far_right else (across + 10, "start")
        parts.append(_text(place, up - 5, ", ".join(names), anchor=anchor))
    parts += axis.ticks(text)
    return _svg(TOP + PLOT_HEIGHT + BOTTOM, parts, alt)


def swatch(style: int | None) -> Markup:
    """A small sample of a series' colour and dash, for legends."""
    return _filled(SWATCH, (style or 0) % STYLES, _dashes(style or 0))


def _dashes(style: int) -> Markup:
    """The attribute that dashes a line; nothing for a style whose lines are whole."""
    dashes = DASHES[style % STYLES]
    return _filled(DASHED, dashes) if dashes else markup("")


def _are_whole(values: Floats) -> bool:
    return bool((values == np.round(values)).all())


def _edges(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    whole = _are_whole(values)
    if whole and high - low < MOST_BINS:
        return np.arange(low - 0.5, high + 1.0)
    if high <= low:
        return np.array([low - 0.5, low + 0.5])
    if whole:
        step = np.ceil((high - low + 1) / MOST_BINS)
        found: Floats = np.arange(low - 0.5, high + step, step)
        return found
    return np.linspace(low, high, MOST_BINS + 1)


@dataclass(frozen=True)
class _Axis:
    """The horizontal axis of a plot."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value stands."""
        return LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - LEFT - 12)

    def ticks(self, text: Callable[[float], str], whole: bool = False) -> list[Markup]:
        """Round values with their text, each text once; `whole`: between whole numbers there is nothing."""
        shown: dict[str, float] = {}
        for value in _round(self.low, self.high):
            if not whole or value == int(value):
                shown.setdefault(text(value), value)
        return [_text(self.place(value), TOP + PLOT_HEIGHT + 17, one, anchor="middle") for one, value in shown.items()]


def _round(low: float, high: float) -> list[float]:
    """Four to nine round values from low to high."""
    step = 10.0 ** np.floor(np.log10(high - low))
    step = next(
        one for one in (step, step / 2, step / 4 if step > 1 else step / 5, step / 10) if (high - low) / one >= 3
    )
    return [float(one) for one in np.arange(np.ceil(low / step), np.floor(high / step + 1e-9) + 1) * step]


def _frame(top: float, text: Callable[[float], str], x: str, y: str, values: Sequence[float]) -> list[Markup]:
    """Grid lines at the given values with their texts, and what the axes are."""
    parts = []
    for value in values:
        height = TOP + PLOT_HEIGHT * (1 - value / top)
        parts.append(_filled(GRID_LINE, LEFT, height, WIDTH - 12, height))
        parts.append(_text(LEFT - 6, height + 4, text(value), anchor="end"))
    parts.append(_text((LEFT + WIDTH) / 2, TOP + PLOT_HEIGHT + 38, x, anchor="middle"))
    parts.append(_filled(TURNED_TEXT, TOP + PLOT_HEIGHT / 2, y))
    return parts


def _bar(x: float, y: float, width: float, height: float, style: int) -> Markup:
    return _filled(BOX, x, y, width, height, style % STYLES)


def _text(x: float, y: float, text: str, anchor: str = "start", title: str | None = None) -> Markup:
    hint = markup("") if title is None or title == text else _filled(HINT, title)
    return _filled(TEXT, x, y, anchor, hint, text)


def _svg(height: float, parts: Sequence[Markup], alt: str) -> Markup:
    return _filled(SVG, WIDTH, height, alt, markup("").join(parts))


@dataclass(frozen=True)
class Section:
    """A section of the report: its heading and the HTML below it."""

    title: str
    content: Markup


@dataclass(frozen=True)
class Figure:
    """A drawing with what it shows."""

    drawing: Markup
    caption: str


def section(title: str, template: str, **values: object) -> Section:
    """A section whose content is a template filled with the values."""
    return Section(title, rendered(template, **values))


def rendered(template: str, **values: object) -> Markup:
    """A template filled with the values; a value that the template names and that is not given is an error."""
    return markup(environment_of(OWN).get_template(template).render(**values))


@cache
def environment_of(*packages: str) -> Environment:
    """What fills the templates of packages; of several with one name, that of the first package."""
    # Imported here: most runs of the program write no report.
    jinja2 = imported("jinja2", WRITING_REPORT)
    environment: Environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["swatch"] = swatch
    return environment
