"""One colour, marker and dash per run, the same in every chart.

The colours are those of Okabe and Ito, which people with colour-blindness tell apart; the two light ones have an
outline.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunStyle:
    """How a run is drawn: `color` fills, `outline` edges (the same colour where that has contrast enough)."""

    color: str
    outline: str
    symbol: str
    dash: str


BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
OUTLINE = "#5A5A5A"
ORIGINAL = "#8C8C8C"
"""The original table, wherever a chart sets a release against it."""

STYLES = (
    RunStyle(BLUE, BLUE, "circle", "solid"),
    RunStyle(VERMILLION, VERMILLION, "square", "dash"),
    RunStyle(GREEN, GREEN, "diamond", "dot"),
    RunStyle(PURPLE, PURPLE, "triangle-up", "dashdot"),
    RunStyle(ORANGE, OUTLINE, "cross", "longdash"),
    RunStyle(SKY, OUTLINE, "x", "longdashdot"),
)

SHAPES = {
    "square": "-5.5,-5.5 5.5,-5.5 5.5,5.5 -5.5,5.5",
    "diamond": "0,-7 7,0 0,7 -7,0",
    "triangle-up": "0,-6.5 6.8,5.5 -6.8,5.5",
    "cross": "-2,-6 2,-6 2,-2 6,-2 6,2 2,2 2,6 -2,6 -2,2 -6,2 -6,-2 -2,-2",
    "x": "-4.2,-6 0,-2 4.2,-6 6,-4.2 2,0 6,4.2 4.2,6 0,2 -4.2,6 -6,4.2 -2,0 -6,-4.2",
}
"""The corners of each symbol around (0, 0), within 8 units, for pictures drawn as SVG; a circle has none."""


def run_style(color_index: int) -> RunStyle:
    """The style of a run; styles repeat after six runs."""
    return STYLES[color_index % len(STYLES)]


COLOR_NAMES = {
    BLUE: "blue",
    VERMILLION: "vermillion",
    GREEN: "green",
    PURPLE: "purple",
    ORANGE: "orange",
    SKY: "sky blue",
}
