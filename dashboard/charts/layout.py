"""What all figures have in common: margins, legends, faint fills, and the axis of an attribute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore import Domain, Kind
from anoncore.kernels.arrays import Floats
from dashboard.charts.palette import RunStyle

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


def marker(style: RunStyle, opacity: float = 1.0) -> dict[str, Any]:
    """Bars and areas of a run: its fill, with an outline where the colour is light."""
    width = 0 if style.outline == style.color else 1
    return {"color": style.color, "opacity": opacity, "line": {"color": style.outline, "width": width}}


def faint(color: str, opacity: float) -> str:
    """A colour `#RRGGBB` at an opacity of 0 to 1, for fills that let the page through."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def shortened(text: str, most: int = LABEL_CHARACTERS) -> str:
    """A label cut to what an axis can bear; markup of plotly's own is taken literally."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return cut.replace("&", "&amp;").replace("<", "&lt;")


def distinct_labels(texts: Sequence[str]) -> list[str]:
    """Shortened labels of which no two are equal, as a category axis needs them."""
    taken: dict[str, int] = {}
    labels = []
    for text in texts:
        label = shortened(" ".join(text.split()) or "(blank)")
        taken[label] = taken.get(label, 0) + 1
        labels.append(label if taken[label] == 1 else f"{label} ({taken[label]})")
    return labels


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
        size = len(domain)
        if domain.kind is not Kind.NUMERIC or size <= min(most_bins, 12):
            return cls._of_ranks(domain, most_bins)
        positions = domain.positions
        known = positions[: len(domain.values)]
        whole = bool(np.all(known == np.round(known)))
        width = (known[-1] - known[0]) / most_bins
        width = float(np.ceil(width + 1e-9)) if whole and not domain.is_date else float(width)
        start = known[0] - (0.5 if whole and not domain.is_date else 0.0)
        count = max(int(np.ceil((known[-1] - start) / width - 1e-9)), 1)
        edges = start + width * np.arange(count + 1)
        bin_of = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, count - 1)
        coordinates = known
        texts = [_bin_text(domain, np.flatnonzero(bin_of == place)) for place in range(count)]
        ticks = _tick_codes(known)
        values, labels = list(known[ticks]), [domain.text(int(code)) for code in ticks]
        if domain.missing_code is not None:
            edges = np.append(edges, edges[-1] + 2 * width)
            bin_of = np.append(bin_of, count)
            coordinates = np.append(coordinates, edges[-1] - width)
            texts.append(domain.text(domain.missing_code))
            values.append(coordinates[-1])
            labels.append("(missing)")
        return cls(
            domain.name,
            coordinates,
            edges,
            bin_of,
            tuple(texts),
            np.array(values),
            tuple(distinct_labels(labels)),
            half=0.5 if whole and not domain.is_date else width / 4,
        )

    @classmethod
    def _of_ranks(cls, domain: Domain, most_bins: int) -> Axis:
        size = len(domain)
        step = -(-size // most_bins)
        bin_of = np.arange(size) // step
        edges = np.append(np.arange(0, size, step), size) - 0.5
        texts = [_bin_text(domain, np.flatnonzero(bin_of == place)) for place in range(len(edges) - 1)]
        shown = np.arange(0, size, -(-size // MOST_TICKS))
        labels = distinct_labels([domain.text(int(code)) for code in shown])
        return cls(
            domain.name,
            np.arange(size, dtype=np.float64),
            edges,
            bin_of,
            tuple(texts),
            shown.astype(np.float64),
            tuple(labels),
            half=0.5,
        )

    @property
    def n_bins(self) -> int:
        """Number of bins."""
        return len(self.edges) - 1

    def counts(self, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Rows per bin."""
        return np.bincount(self.bin_of[codes], minlength=self.n_bins)

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
