"""Which role each attribute may have, with the reason: by uniqueness, by separation of rows, and by name.

Suggestions are never applied by themselves. What an adversary may know is for people to say; names and counts only
tell where to look first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.pandas_versions import factorized
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import dense_key, distinct
from anoncore.table.column_words import (
    KNOWABLE,
    OUTCOME,
    SENSITIVE,
    SURVEY,
    SURVEY_WEIGHT,
    WEIGHT,
    name_words,
    says_whose_row,
)
from anoncore.table.given_table import as_pandas
from anoncore.table.identifiers.by_values import seen_in
from anoncore.table.identifiers.column_values import NAMED_SHARE, ColumnValues
from anoncore.table.identifiers.named import is_called_peoples_names
from anoncore.table.identifiers.value_forms import IDENTIFYING_LETTERS
from anoncore.table.identifiers.words import sounds_identifying
from anoncore.table.microdata import Microdata, Role
from anoncore.table.summary import ColumnSummary, summarize

MOST_OUTCOMES = 10
"""Values that such a column has at most."""
FEWEST_COLUMNS = 8
"""Columns from which on a table may be one made for prediction."""
UNIQUE_SHARE = 0.99
"""Distinct values / rows from which a column may be an identifier whatever its name."""
FEWEST_ROWS = 10
"""Rows from which different values say that a column numbers the rows."""
MOSTLY = 0.5
"""Share of the values that are written as only identifiers are, from which their column is one."""
MEASURED_SHARE = 0.5
"""Distinct values / rows above which numbers look like measurements, which others hardly know."""
BODY_WEIGHTS = (30.0, 700.0)
"""Between which numbers the largest weight of people's bodies lies, in kilograms or pounds."""
SINGLED_OUT = 0.2
"""Share of unique rows from which a set of columns counts as one that singles people out."""
MOST_CANDIDATES = 12
"""Columns whose combinations are looked at."""
MOST_TOGETHER = 3
"""Columns of the largest combination that is looked at."""
SAMPLE = 20_000
"""Rows of the sample on which combinations are looked at."""


@dataclass(frozen=True)
class Suggestion:
    """A role for one attribute and why, in one sentence."""

    attribute: str
    role: Role
    reason: str


@dataclass(frozen=True)
class Uniqueness:
    """How far a set of attributes tells rows apart.

    `n_unique` rows have a combination of values that no other row has; `n_groups` combinations occur. `separation` is
    the share of row pairs that differ in at least one of the attributes (Motwani and Xu, 2007). Where one person may
    have several rows, `counted` is "people": `n_rows` are different people, of whom `n_unique` have a combination in
    some row that no other person has.
    """

    attributes: tuple[str, ...]
    n_rows: int
    n_unique: int
    n_groups: int
    separation: float
    counted: str = "rows"

    @property
    def share(self) -> float:
        """Unique rows / rows, or people."""
        return self.n_unique / self.n_rows

    @property
    def sentence(self) -> str:
        """The count in words, e.g. `3,214 of 45,222 rows are unique in these 7 attributes`."""
        count = len(self.attributes)
        where = "this attribute" if count == 1 else f"these {count} attributes"
        return f"{self.n_unique:,} of {self.n_rows:,} {self.counted} are unique in {where}"


def uniqueness(data: Microdata, attributes: Sequence[str] | None = None) -> Uniqueness:
    """How many rows, or people, the attributes (default: the quasi-identifiers) single out."""
    names = tuple(attributes if attributes is not None else data.quasi_identifiers)
    found = _uniqueness(names, [data.codes[name] for name in names], data.n_rows)
    if data.people is None:
        return found
    group = dense_key((data.codes[name] for name in names), data.n_rows)
    combinations_of_people = np.unique(np.column_stack((group, data.people)), axis=0)
    alone = np.bincount(combinations_of_people[:, 0])[combinations_of_people[:, 0]] == 1
    n_unique = len(distinct(combinations_of_people[alone, 1]))
    return replace(found, n_rows=data.n_people, n_unique=n_unique, counted="people")


@checked
def suggest(frame: Any, summaries: Sequence[ColumnSummary] | None = None) -> tuple[Suggestion, ...]:
    """One suggestion per column of a table of any kind, in column order; insensitive where nothing speaks for another.

    An identifier nearly numbers the rows, is named like one, or has values such as e-mail addresses, telephone numbers
    and account numbers (in a sample of 20,000 rows). A column that is called people's names is one however few they
    are. A sensitive attribute is suggested by its name; where none is, the last of many columns is one if it has few
    values, as the outcome has in tables made for prediction.
    A survey weight is suggested as insensitive, and stays out of every release until somebody decides to publish it:
    nobody knows it of a neighbour, but its many values join a release with other files of the same survey (Hundepool et
    al., Statistical Disclosure Control, 2012, treat it apart from key variables, too). A quasi-identifier is named like
    something that neighbours know, or belongs to a minimal set of at most three attributes that makes at least a fifth
    of the rows unique (in a sample of 20,000 rows).
    """
    frame = as_pandas(frame)
    known = tuple(summaries) if summaries is not None else summarize(frame)
    suggestions: dict[int, Suggestion] = {}
    step = -(-len(frame) // SAMPLE) or 1
    for column, summary in enumerate(known):
        values = ColumnValues(frame.iloc[::step, column], summary)
        suggestion = _by_itself(values) or _by_values(values)
        if suggestion is not None:
            suggestions[column] = suggestion
    if all(one.role is not Role.SENSITIVE for one in suggestions.values()):
        suggestions.update(_last_outcome(known, suggestions))
    others = [column for column in range(len(known)) if column not in suggestions]
    sets = separating_sets(frame, known, others)
    left_aside = _by_number_of_values(known, others)[MOST_CANDIDATES:]
    for column in others:
        suggestions[column] = _by_separation(known[column], sets, column in left_aside)
    return tuple(suggestions[column] for column in range(len(known)))


def separating_sets(
    frame: pd.DataFrame, summaries: Sequence[ColumnSummary], columns: Sequence[int]
) -> tuple[Uniqueness, ...]:
    """Minimal sets of at most three of the given columns that make a fifth of the rows unique, best first.

    A set is minimal if no smaller set inside it does that. Only the twelve columns with the most values are looked at,
    and none that is a mere measurement, with a value of its own in more than half of the rows.
    """
    candidates = _by_number_of_values(summaries, columns)[:MOST_CANDIDATES]
    step = -(-len(frame) // SAMPLE)
    sample = frame.iloc[::step] if step > 1 else frame
    codes = {column: factorized(sample.iloc[:, column])[0] for column in candidates}
    separating: list[tuple[frozenset[int], Uniqueness]] = []
    for count in range(1, MOST_TOGETHER + 1):
        for together in combinations(candidates, count):
            if any(smaller <= set(together) for smaller, _ in separating):
                continue
            names = tuple(summaries[column].name for column in together)
            result = _uniqueness(names, [codes[column] for column in together], len(sample))
            if result.share >= SINGLED_OUT:
                separating.append((frozenset(together), result))
    return tuple(sorted((result for _, result in separating), key=lambda result: -result.share))


def _by_number_of_values(summaries: Sequence[ColumnSummary], columns: Sequence[int]) -> list[int]:
    """The columns that may single people out beside others, those with the most values first."""
    able = [
        column
        for column in columns
        if summaries[column].n_distinct > 1 and summaries[column].distinct_share <= MEASURED_SHARE
    ]
    return sorted(able, key=lambda column: -summaries[column].n_distinct)


def _uniqueness(names: tuple[str, ...], columns: Sequence[Codes | Int64], n_rows: int) -> Uniqueness:
    sizes = np.bincount(dense_key(columns, n_rows))
    pairs = n_rows * (n_rows - 1) / 2
    joined = float((sizes * (sizes - 1) / 2).sum())
    return Uniqueness(names, n_rows, int((sizes == 1).sum()), len(sizes), 1 - joined / pairs if pairs else 1.0)


def _by_itself(values: ColumnValues) -> Suggestion | None:
    """What the column alone tells: an identifier, a sensitive attribute, or nothing to protect; None if it tells
    nothing.
    """
    summary = values.summary
    name, words = summary.name, name_words(summary.name)
    share = summary.distinct_share
    if summary.n_distinct <= 1:
        what = "It has no values." if summary.n_distinct == 0 else "It has the same value in every row."
        return Suggestion(name, Role.INSENSITIVE, what)
    if sounds_identifying(name) and share >= NAMED_SHARE and summary.type != "number":
        return Suggestion(
            name, Role.IDENTIFIER, f"Its name sounds like an identifier, and it has {summary.n_distinct:,} values."
        )
    if is_called_peoples_names(values):
        # Many people share a name, and one person may have many rows, so that its values may be few.
        return Suggestion(
            name, Role.IDENTIFIER, f"Its name says that it holds people's names, and it has {summary.n_distinct:,}."
        )
    if says_whose_row(name) and share >= NAMED_SHARE:
        return Suggestion(
            name, Role.IDENTIFIER, f"Its name says whose row it is, and it has {summary.n_distinct:,} values."
        )
    if values.is_called_free_text:
        return Suggestion(name, Role.IDENTIFIER, "Its name says that it is free text, which may name people.")
    if values.is_free_text:
        return Suggestion(name, Role.IDENTIFIER, "It is free text of many different values; it may name people.")
    if is_survey_weight(summary):
        return Suggestion(
            name,
            Role.INSENSITIVE,
            "Its name and numbers are those of a survey weight: nobody knows it of a neighbour, but its values join "
            "the rows with other files of the survey; leave it out, or round it coarsely before you publish it.",
        )
    if is_numbering(summary):
        return Suggestion(name, Role.IDENTIFIER, f"It has a value of its own in {share:.0%} of the rows.")
    if SENSITIVE.names(words):
        return Suggestion(name, Role.SENSITIVE, "Its name sounds like a private matter.")
    if OUTCOME.names(words) and summary.n_distinct <= MOST_OUTCOMES:
        return Suggestion(name, Role.SENSITIVE, "Its name says that it is what is predicted of people.")
    return None


def _by_values(values: ColumnValues) -> Suggestion | None:
    """An identifier where most values are written as only identifiers are; None where they are not."""
    summary = values.summary
    if summary.type not in ("text", "whole number"):
        return None
    if numbers_rows(values):
        return Suggestion(
            summary.name, Role.IDENTIFIER, f"It has a value of its own in {summary.distinct_share:.0%} of the rows."
        )
    for seen in seen_in(values):
        if seen.letter in IDENTIFYING_LETTERS and seen.share >= MOSTLY:
            return Suggestion(summary.name, Role.IDENTIFIER, f"Its values look like {seen.what}.")
    return None


def _last_outcome(summaries: Sequence[ColumnSummary], taken: Collection[int]) -> dict[int, Suggestion]:
    """The last column as the outcome, where it has few values and no name of what neighbours know."""
    column = len(summaries) - 1
    if len(summaries) < FEWEST_COLUMNS or column in taken:
        return {}
    summary = summaries[column]
    if summary.n_distinct > MOST_OUTCOMES or KNOWABLE.names(name_words(summary.name)):
        return {}
    reason = f"It is the last column and has {summary.n_distinct} values, like the outcome in tables for prediction."
    return {column: Suggestion(summary.name, Role.SENSITIVE, reason)}


def is_survey_weight(summary: ColumnSummary) -> bool:
    """Whether numbers are those of a survey weight: by a name that surveys give theirs, or where they are only called
    weight, because people's bodies do not weigh that.
    """
    words = name_words(summary.name)
    if not summary.is_number or not (SURVEY_WEIGHT | WEIGHT).names(words):
        return False
    if SURVEY_WEIGHT.names(words) or SURVEY.names(words):
        return True
    low, high = BODY_WEIGHTS
    return not KNOWABLE.names(words - WEIGHT.words) and not low <= float(summary.highest) <= high


def is_numbering(summary: ColumnSummary) -> bool:
    """Whether a column numbers the rows: nearly all values differ, and they are texts, or whole numbers that are dense
    or all equally long.
    """
    if summary.distinct_share < UNIQUE_SHARE or summary.n_rows < FEWEST_ROWS:
        return False
    if summary.type == "text":
        return True
    if summary.type != "whole number":
        return False
    low, high = float(summary.lowest), float(summary.highest)
    return high - low < 1.5 * summary.n_distinct or (
        len(summary.lowest) == len(summary.highest) >= 6 and not summary.lowest.startswith("-")
    )


def numbers_rows(values: ColumnValues) -> bool:
    """Whether a column numbers the rows, also by numbers that lost the zeros in front."""
    summary = values.summary
    is_unique = summary.distinct_share >= UNIQUE_SHARE and summary.n_rows >= FEWEST_ROWS
    return is_numbering(summary) or (is_unique and values.has_lost_zeros)


def _by_separation(summary: ColumnSummary, sets: Sequence[Uniqueness], is_left_aside: bool) -> Suggestion:
    """Quasi-identifier by name or as a member of a separating set, else insensitive; of a column that is left aside
    nobody knows what sets it belongs to.
    """
    name = summary.name
    best = next((candidate for candidate in sets if name in candidate.attributes), None)
    reasons = []
    if best is not None:
        others = [f"'{other}'" for other in best.attributes if other != name]
        together = f"With {' and '.join(others)} it" if others else "It alone"
        reasons.append(f"{together} makes {best.share:.0%} of the rows unique.")
    if KNOWABLE.names(name_words(name)):
        reasons.append("Its name sounds like something others know.")
    if reasons:
        return Suggestion(name, Role.QUASI_IDENTIFIER, " ".join(reasons))
    if summary.distinct_share > MEASURED_SHARE:
        return Suggestion(
            name, Role.INSENSITIVE, "It looks like a measurement; tag it quasi-identifier if others may know its value."
        )
    if is_left_aside:
        return Suggestion(
            name,
            Role.INSENSITIVE,
            f"Not counted: whether columns together single people out is looked at for the {MOST_CANDIDATES} with the "
            "most values only. Tag it quasi-identifier if others may know its value.",
        )
    return Suggestion(name, Role.INSENSITIVE, "Nothing in its name or values speaks for another role.")
