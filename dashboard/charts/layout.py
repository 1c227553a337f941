"""What all figures have in common: margins, legends, faint fills, and the axis of an attribute."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore import Domain, Kind
from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.palette import ORIGINAL, OUTLINE, RunStyle
from dashboard.markdown import distinct

Look = RunStyle | str | Mapping[str, Any] | Sequence[RunStyle | str]
"""How something is drawn: in the style of a run, in a colour, as plotly's marker, or each bar in its own."""
LABEL_CHARACTERS = 26
MOST_TICKS = 24
WANTED_TICKS = 6
PIXELS_PER_CHARACTER = 6.6
MARKUP = re.compile(r"<(?=[A-Za-z/!])(?!/?(?:b|i|br|sub|sup|extra)>)")
"""Where a text of a figure would be read as more than emphasis and line breaks: as links, or with styles of its own."""


def as_text(figure: go.Figure) -> go.Figure:
    """The figure with names and values that look like markup shown as they are; it itself where there are none.

    Plotly makes links of `<a href=...>` in any of its texts, and takes styles, which can ask for pictures elsewhere.
    """
    content = figure.to_plotly_json()
    changed = _without_markup(content)
    return figure if changed is content else go.Figure(changed)


def _without_markup(part: Any) -> Any:
    """A part of a figure without markup; it itself where it has none."""
    if isinstance(part, str):
        return MARKUP.sub("&lt;", part) if MARKUP.search(part) else part
    if isinstance(part, dict):
        changed = {name: _without_markup(value) for name, value in part.items()}
        return part if all(changed[name] is value for name, value in part.items()) else changed
    if isinstance(part, np.ndarray) and part.dtype.kind not in "OU":
        return part
    if isinstance(part, list | tuple | np.ndarray):
        items = part.tolist() if isinstance(part, np.ndarray) else part
        made = [_without_markup(item) for item in items]
        return part if all(one is item for one, item in zip(made, items, strict=True)) else made
    return part


def figure(
    *traces: Any,
    x: str = "",
    y: str = "",
    height: int = 300,
    legend: bool | None = None,
    labels: Sequence[str] = (),
) -> go.Figure:
    """A figure in the house style: titled axes, the legend above, no zoom by accident.

    `labels` are those of the vertical axis where they are texts. Margins are set from them: letting plotly find them
    draws every figure two or three times.
    """
    shown = [trace for trace in traces if trace.showlegend is not False and trace.name]
    with_legend = len(shown) > 1 if legend is None else legend
    result = go.Figure(
        data=list(traces),
        layout={
            "height": height,
            "margin": {
                "l": left_margin(labels, bool(y)),
                "r": 16,
                "t": 34 if with_legend else 10,
                "b": 48 if x else 30,
            },
            "showlegend": with_legend,
            "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "title": None},
            "dragmode": False,
            "hovermode": "closest",
            "bargap": 0.12,
            "uirevision": "keep",
        },
    )
    result.update_xaxes(title=x, automargin=False, fixedrange=True)
    result.update_yaxes(title=y, automargin=False, fixedrange=True)
    return result


def left_margin(labels: Sequence[str], titled: bool) -> int:
    """Pixels to the left of a figure: the longest label, or numbers, and a title."""
    longest = max((len(label) for label in labels), default=6)
    return round(16 + PIXELS_PER_CHARACTER * longest) + (22 if titled else 0)


def marker(look: Look, opacity: float = 1.0) -> dict[str, Any]:
    """Bars and areas of a run, with an outline where its colour is light; of a colour; or a look for each bar."""
    if isinstance(look, RunStyle):
        width = 0 if look.outline == look.color else 1
        return {"color": look.color, "opacity": opacity, "line": {"color": look.outline, "width": width}}
    if isinstance(look, str):
        return {"color": look}
    if isinstance(look, Mapping):
        return dict(look)
    return {"color": [one.color if isinstance(one, RunStyle) else one for one in look]}


def faint(color: str, opacity: float) -> str:
    """A colour `#RRGGBB` at an opacity of 0 to 1, for fills that let the page through."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def stepped(colors: Sequence[str]) -> list[list[Any]]:
    """A colour scale that has one colour per whole number, without transitions."""
    count = len(colors)
    return [[place, color] for i, color in enumerate(colors) for place in (i / count, (i + 1) / count)]


def line(
    x: Any,
    y: Any,
    name: str = "",
    color: str = ORIGINAL,
    hover: str = "",
    width: float = 2,
    dash: str = "solid",
    shape: str = "linear",
    **more: Any,
) -> go.Scatter:
    """A line through points, broken where one is NaN; without a text for the pointer it does not answer to it."""
    shown = {"hovertemplate": f"{hover}<extra></extra>"} if hover else {"hoverinfo": "skip"}
    look = {"color": color, "width": width, "dash": dash, "shape": shape}
    return go.Scatter(x=x, y=y, mode="lines", name=name, line=look, **shown, **more)


def broken(*ends: npt.NDArray[np.floating]) -> Floats:
    """One coordinate of several lines as one that is broken after each; every array has the next point of them all."""
    return np.column_stack([*ends, np.full(len(ends[0]), np.nan)]).ravel()


def bound(at: float, top: float, name: str, hover: str = "") -> go.Scatter:
    """An upright dashed line from the ground to a little above `top`, which the legend names."""
    return line([at, at], [0.0, top * 1.05], name, hover=hover or name, dash="dash")


def written(x: Any, y: Any, texts: Any, name: str, **more: Any) -> go.Scatter:
    """Texts at places. Those of a heat map itself take the contrast to its colour without transparency."""
    return go.Scatter(x=x, y=y, text=texts, mode="text", hoverinfo="skip", name=name, **more)


def cells(
    x: Any,
    y: Any,
    z: Any,
    colors: Sequence[Any],
    hover: str,
    low: float | None = None,
    high: float | None = None,
    **more: Any,
) -> go.Heatmap:
    """A heat map whose colours, two or more or with places, go from `low` to `high`, else over all that is drawn."""
    scale = [[place, color] for place, color in zip(np.linspace(0, 1, len(colors)), colors, strict=True)]
    look = {"colorscale": scale if isinstance(colors[0], str) else colors, "showscale": False, "hoverongaps": False}
    return go.Heatmap(
        x=x, y=y, z=z, zmin=low, zmax=high, name="", hovertemplate=f"{hover}<extra></extra>", **look | more
    )


def bars(
    labels: Sequence[str] | npt.NDArray[Any],
    shown: Mapping[str, tuple[Any, Any]],
    title: str,
    *more: Any,
    by: str = "",
    upright: bool = False,
    form: str = ".0%",
    hover: str = "%{label}: %{value:.1%}",
    texts: str = "",
    customdata: Any = None,
    row: int | None = None,
    height: int = 310,
    end: float | None = None,
    stacked: bool = False,
    legend: bool | None = None,
) -> go.Figure:
    """Bars of one or several series beside each other: a row per label, the first on top, or upright ones.

    Parameters
    ----------
    labels : sequence of str, or ndarray of numbers
        What the bars stand for; numbers are places on an axis.
    shown : mapping of str to (values, look)
        The series by their names, which the legend has where there are several; a look is one for `marker`.
    title, by : str
        What is measured, and what the labels are.
    more : traces
        What is drawn over the bars.
    form : str
        How the ticks of what is measured are written.
    hover : str
        What the pointer shows, with `%{label}`, `%{value}` and `%{customdata}`.
    texts : str
        What is written at the end of each bar, as a template like `hover`.
    row, height : int
        Pixels of a label's row, else as the series need them; of the whole figure where bars are upright.
    end : float, optional
        Where the axis of what is measured ends; at 1 ticks stop there and texts have room.
    """
    numeric, several = isinstance(labels, np.ndarray), len(shown) > 1
    names: Any = labels if numeric else distinct_labels(list(labels))
    across, along = ("x", "y") if upright else ("y", "x")
    extra = "%{fullData.name}" if several else ""
    written_at = {"texttemplate": texts, "textposition": "outside", "cliponaxis": False} if texts else {}
    common = {across: names, "customdata": customdata, "hovertemplate": f"{hover}<extra>{extra}</extra>"} | written_at
    traces = [
        go.Bar({along: values, "name": name, "marker": marker(look)} | common, orientation="v" if upright else "h")
        for name, (values, look) in shown.items()
    ]
    if not upright:
        usual = max(26, 12 * len(shown) + 10) + (14 if texts else 0)
        height = 100 + (row or usual) * max(len(names), 3)
    titles = {along: title, across: by}
    beside = () if upright or numeric else names
    result = figure(*traces, *more, height=height, labels=beside, legend=legend, **titles)
    if texts:
        largest = max(float(np.max(values, initial=0)) for values, _ in shown.values())
        end = 1.15 if end == 1 else end or 1.2 * largest or 1.0
    ticks: dict[str, Any] = {"tickformat": form, "rangemode": "tozero"}
    if end is not None:
        ticks["range"] = [0, end]
    if end in (1, 1.15):
        ticks["tickvals"] = np.linspace(0, 1, 5)
    kinds: dict[str, Any] = {}
    if not numeric:
        slanted = upright and sum(map(len, names)) > 90
        rows = {"autorange": "reversed", "ticksuffix": " ", "tickmode": "linear", "dtick": 1}
        kinds = {"tickangle": -40 if slanted else 0, "nticks": min(len(names), 20)} if upright else rows
        kinds["type"] = "category"
        if slanted:
            # The first label reaches to the left as far as it reaches down.
            slant = 0.65 * left_margin(names, False)
            result.update_layout(margin_b=round(24 + slant), margin_l=max(round(slant), result.layout.margin.l))
    layout = {f"{along}axis": ticks, f"{across}axis": kinds, "barmode": "stack" if stacked else "group"}
    return result.update_layout(layout, bargap=0.2 if several else 0.12)


def whiskers(values: Any, low: Any, high: Any) -> dict[str, Any]:
    """The interval of each bar as plotly draws it."""
    return {
        "type": "data",
        "array": np.asarray(high - values),
        "arrayminus": np.asarray(values - low),
        "color": OUTLINE,
    }


def shortened(text: str, most: int = LABEL_CHARACTERS) -> str:
    """A label cut to what an axis can bear; markup of plotly's own is taken literally."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return cut.replace("&", "&amp;").replace("<", "&lt;")


def distinct_labels(texts: Sequence[str]) -> list[str]:
    """Shortened labels of which no two are equal, as a category axis needs them."""
    return distinct(shortened(" ".join(text.split()) or "(blank)") for text in texts)


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute as an axis: where each code lies, the bin it falls into, and the labelled ticks.

    `edges` bound the bins, float (n_bins + 1,); `bin_of` int (domain size,) gives the bin of each code.
    """

    name: str
    coordinates: Floats
    edges: Floats
    bin_of: npt.NDArray[np.int64]
    bin_texts: tuple[str, ...]
    tick_values: Floats
    tick_texts: tuple[str, ...]
    half: float
    """How far a single value reaches to either side."""

    @classmethod
    def of(cls, domain: Domain, most_bins: int = 40) -> Axis:
        """Numbers at their values in bins of one width, categories at their ranks; missing is the last bin."""
        size, half = len(domain), 0.5
        if domain.kind is Kind.NUMERIC and size > min(most_bins, 12):
            places = domain.positions[: len(domain.values)]
            whole = bool(np.all(places == np.round(places))) and not domain.is_date
            width = float(places[-1] - places[0]) / most_bins
            width = float(np.ceil(width + 1e-9)) if whole else width
            start, half = places[0] - 0.5 * whole, 0.5 if whole else width / 4
            count = max(int(np.ceil((places[-1] - start) / width - 1e-9)), 1)
            edges = start + width * np.arange(count + 1)
            bin_of = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, count - 1)
            ticks = _tick_codes(places)
            if domain.missing_code is not None:
                edges = np.append(edges, edges[-1] + 2 * width)
                bin_of, places = np.append(bin_of, count), np.append(places, edges[-1] - width)
                # A tick beside that of the missing cells would be written over it.
                ticks = ticks[places[ticks] < places[-1] - width * most_bins / 10]
                ticks = np.append(ticks, domain.missing_code)
        else:
            step = -(-size // most_bins)
            places, bin_of = np.arange(size, dtype=np.float64), np.arange(size) // step
            edges = np.append(np.arange(0, size, step), size) - 0.5
            ticks = np.arange(0, size, -(-size // MOST_TICKS))
        texts = [_bin_text(domain, np.flatnonzero(bin_of == place)) for place in range(len(edges) - 1)]
        labels = distinct_labels([domain.text(int(code)) for code in ticks])
        return cls(domain.name, places, edges, bin_of, tuple(texts), places[ticks], tuple(labels), half)

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    def counts(self, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Rows per bin."""
        return np.bincount(self.bin_of[codes], minlength=self.n_bins)

    def pairs(self, up: Axis, across_codes: npt.NDArray[np.int32], up_codes: npt.NDArray[np.int32]) -> Int64:
        """Rows per cell of the plane with another axis, int64 (bins of that one, bins)."""
        cell = up.bin_of[up_codes] * self.n_bins + self.bin_of[across_codes]
        return np.bincount(cell, minlength=self.n_bins * up.n_bins).reshape(up.n_bins, self.n_bins)

    def extent(self, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Edges of regions of codes low..high, wide enough to be seen where low is high."""
        return self.coordinates[low] - self.half, self.coordinates[high] + self.half

    def layout(self) -> dict[str, Any]:
        """Ticks, range and title for a plotly axis."""
        return {
            "title": shortened(self.name),
            "tickmode": "array",
            "tickvals": self.tick_values,
            "ticktext": list(self.tick_texts),
            "range": [float(self.edges[0]), float(self.edges[-1])],
            "zeroline": False,
            "showgrid": False,
        }


def _bin_text(domain: Domain, codes: npt.NDArray[np.int64]) -> str:
    if len(codes) == 0:
        return ""
    first, last = domain.text(int(codes[0])), domain.text(int(codes[-1]))
    return first if len(codes) == 1 else f"{first} to {last}"


def _tick_codes(positions: Floats) -> npt.NDArray[np.int64]:
    """Codes whose values lie closest to evenly spaced round numbers."""
    span = float(positions[-1] - positions[0])
    rough = span / WANTED_TICKS
    power = 10 ** np.floor(np.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    goals = np.arange(np.ceil(positions[0] / step) * step, positions[-1] + step / 2, step)
    places = np.searchsorted(positions, goals).clip(0, len(positions) - 1)
    before = (places - 1).clip(0)
    nearer = np.where(np.abs(positions[before] - goals) < np.abs(positions[places] - goals), before, places)
    return np.unique(nearer)
