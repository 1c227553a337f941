"""Other draws of a method that draws at random: between which numbers they lie beside those of the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anoncore.algorithms import Algorithm
from anoncore.base.errors import AnonymizationError
from anoncore.front.dossier.dossier_parts import Spread
from anoncore.front.dossier.measured_release import NOT_KNOWN, MeasuredRelease
from anoncore.measures.criteria import CRITERIA, evaluate
from anoncore.search.candidates import redrawn
from anoncore.search.sweeping import Point, sweep

OTHER_DRAWS = 4
"""Further draws, as many as the board makes."""
SPREAD = ("k", "largest-belief", "believed-above-half", "reidentified-largest", "two-way-error")
"""The numbers that are compared: all of them are quick."""
NOT_DRAWN = "The method draws nothing at random: another run gives the same groups."
DRAWN_ONCE = "The method draws at random. These are the numbers of one draw; how far others differ was not measured{}."


def other_draws(measured: MeasuredRelease, draws: int) -> tuple[str, list[Spread]]:
    """Whether the method draws at random, in a sentence, and how far its numbers lie apart over several draws."""
    release = measured.release
    algorithm = release.algorithm
    if algorithm is None:
        return NOT_KNOWN, []
    if not algorithm.seeds and algorithm.is_repeatable:
        return NOT_DRAWN, []
    if not isinstance(algorithm, Algorithm) or draws < 1 or not release.data.knows_rows:
        return DRAWN_ONCE.format(""), []
    if algorithm.takes_long:
        return DRAWN_ONCE.format(", as the method takes long"), []
    secret = measured.secrets[0] if measured.secrets else None
    tried = [redrawn(algorithm, turn) for turn in range(1, draws + 1)]
    points = [point for point in sweep(release.data, tried, list(SPREAD), secret) if point is not None]
    found = [*_spreads(measured, points, secret)]
    if not found:
        return DRAWN_ONCE.format(": no number could be taken of every draw"), []
    return f"The method draws at random: the release is one draw, and {draws} further ones were measured.", found


def _spreads(measured: MeasuredRelease, points: Sequence[Point], secret: str | None) -> Iterator[Spread]:
    """The numbers that every draw has: where one of them has none, the others do not tell how far they lie apart."""
    for name, value in evaluate(measured.release, SPREAD, secret, measured.results).items():
        others = [point.values[name] for point in points if name in point.values]
        if isinstance(value, AnonymizationError) or len(others) < len(points):
            continue
        number = CRITERIA[name]
        low, high = min(others), max(others)
        texts = {"text": number.text(value), "least_text": number.text(low), "most_text": number.text(high)}
        yield Spread(
            name=name, title=measured.say(number.title), value=value, least=low, most=high, draws=len(points), **texts
        )
