"""What the commands write on the terminal: the results of a run line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isinf, isnan
from typing import Any

import numpy as np

from anoncore.attacks.strongest import Strongest
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import listing
from anoncore.measures import Verdict
from anoncore.measures.verdict import NOT_ASKED
from anoncore.privacy.published import fragments_of
from anoncore.recipes.recipe import RecipeRun
from anoncore.table.microdata import Microdata

SINGULAR = {"rows": "row", "people": "person", "values": "value", "tuples": "tuple"}


def verdict_lines(found: Verdict) -> Iterator[str]:
    """What a verdict's headline stands for, a line for each statement."""
    for sentence in (*found.failed, *found.held, *found.promised):
        yield f"  {sentence}"
    for failing in found.not_asked:
        yield f"  {NOT_ASKED[0].upper()}{NOT_ASKED[1:]}: {failing.sentence}"
    for sentence in found.decided:
        yield f"  {sentence}"
    # What to do about columns stands in their sentences.
    if found.mend.asking:
        yield f"  To mend it: {found.mend.asking}."


def left_out_line(data: Microdata) -> Iterator[str]:
    """The columns that no release has, in a line; none where every column has a role."""
    if data.left_out:
        yield f"  Left out, because they have no role: {listing(data.left_out, 30)}"


def summary(run: RecipeRun, found: Verdict) -> Iterator[str]:
    """The verdict, groups, guarantees, notes and measures of a run, a line each.

    Where nobody said whether rows are people, that is asked before anything is counted.
    """
    release, algorithm, data = run.release, run.release.algorithm, run.data
    yield found.headline
    asked = data.unit_note if data.people_word == "rows" else ""
    if asked:
        yield f"  {asked}"
    title = algorithm.title if algorithm is not None else "Release"
    if release.is_synthetic:
        yield f"{title}: {release.table_size}"
    parts = fragments_of(release, None)
    for fragment in () if release.is_synthetic else parts:
        sizes = release.people_per_group(fragment)
        yield (
            f"{title}: {release.table_size} in {len(sizes):,} groups of {sizes.min():,} to "
            f"{sizes.max():,} {release.counted_word}"
        )
    yield from verdict_lines(found)
    yield from left_out_line(run.data)
    for note in release.notes:
        if note != asked:
            yield f"  Note: {data.in_words(note)}"
    for name, result in run.measures.items():
        yield from map(data.in_words, result_lines(name, result))


def result_lines(name: str, result: object) -> Iterator[str]:
    """A line per score of a measure; of a result without scores its numbers, of a list its entries."""
    scores = scores_of(result)
    if not scores:
        lines = result.sentences if isinstance(result, Strongest) else _other_lines(result)
        yield from (f"{name}: {line}" for line in lines)
    for score in scores:
        attribute = getattr(score, "attribute", None)
        of = f" of '{attribute}'" if isinstance(attribute, str) else ""
        baseline = f", baseline {_figure(score, score.baseline)}" if score.baseline is not None else ""
        direction = {True: ", higher is better", False: ", lower is better", None: ""}[score.higher_is_better]
        yield f"{name}: {score.title}{of} {_figure(score, float(score))}{_unit(score)}{baseline}{direction}"


def _is_share(score: Score) -> bool:
    return score.entry.form == "share"


def _unit(score: Score) -> str:
    """What is counted, behind the figure; of a share in percent only what it is a share of."""
    if _is_share(score):
        return score.unit.removeprefix("share").removeprefix("probability")
    unit = SINGULAR.get(score.unit, score.unit) if float(score) == 1 else score.unit
    return f" {unit}" if unit else ""


def _figure(score: Score, value: float) -> str:
    """A value of a score in four digits; shares are told in percent, as everywhere else."""
    return _value_text(value, _is_share(score))


def scores_of(result: object) -> tuple[Score, ...]:
    """The scores of a measure's result: the result itself, or those that it holds."""
    return (result,) if isinstance(result, Score) else tuple(getattr(result, "scores", ()))


def _other_lines(result: object) -> Iterator[str]:
    """What is told of a result that is no score and holds none."""
    numbers: list[Any] = list(result.frame().itertuples(index=False)) if isinstance(result, Result) else []
    for number in numbers:
        is_share = number.unit.startswith(("share", "probability"))
        baseline = "" if isnan(number.baseline) else f", baseline {_value_text(number.baseline, is_share)}"
        unit = "" if is_share or not number.unit else f" {number.unit}"
        yield f"{number.name} {_value_text(number.value, is_share)}{unit}{baseline}"
    if numbers:
        return
    shape = getattr(result, "shape", ())
    if shape and getattr(getattr(result, "dtype", None), "kind", "O") in "biuf":
        values = np.asarray(result, dtype=np.float64)
        known = values[~np.isnan(values)]
        spread = f" from {known.min():.4g} to {known.max():.4g}, mean {known.mean():.4g}" if known.size else ""
        yield f"{' x '.join(f'{size:,}' for size in shape)} values{spread}"
    elif isinstance(result, Sequence) and not isinstance(result, str):
        yield f"{len(result):,} entr{'y' if len(result) == 1 else 'ies'}"
        yield from (_entry_text(entry) for entry in result)
    elif isinstance(result, Mapping):
        yield f"{len(result):,} entries"
    else:
        yield str(result) if isinstance(result, int | float | str) else type(result).__name__


def _value_text(value: float, is_share: bool) -> str:
    if isnan(value):
        return "no number"
    return "infinite" if isinf(value) else f"{100 * value:.4g}%" if is_share else f"{value:.4g}"


def _entry_text(entry: object) -> str:
    sentence = getattr(entry, "sentence", None)
    if isinstance(sentence, str):
        return sentence
    return " ".join(repr(entry).split())
