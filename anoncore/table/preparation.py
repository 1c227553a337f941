"""What is done to columns before a table is tagged: dates shifted by a number of days per person, ids replaced."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field

from anoncore.base.errors import DataError
from anoncore.base.model import Model
from anoncore.base.random_numbers import fresh_seed, generator
from anoncore.base.texts import did_you_mean, listing
from anoncore.kernels.arrays import Int64, record
from anoncore.table.given_table import as_pandas
from anoncore.table.microdata import DateShifts, Microdata
from anoncore.table.people import require_people
from anoncore.table.pseudonyms import KEY_BYTES, Pseudonyms

MOST_DAYS = 36_500
"""A shift of more than a hundred years leaves nothing of a date."""


class DateShift(Model):
    """A column of dates is shifted by a number of days that is drawn for each person, so that intervals are kept.

    The number is drawn uniformly from `-shift` to `shift`, 0 included: if it were left out, readers would know of every
    published date that it is wrong, and have one candidate less. All columns that are shifted, and all rows of a
    person, have the same number, in all tables of one recipe. It is drawn anew for every run and never written down.

    References
    ----------
    Hripcsak et al., Preserving temporal relations in clinical data while maintaining privacy, JAMIA 23, 2016: shift and
    truncate.
    """

    name = "date-shift"
    title = "date shift"
    source = "Hripcsak et al., JAMIA 2016"

    shift: Annotated[int, Field(ge=1, le=MOST_DAYS, description="Most days, either way, by which dates are shifted.")]
    by: Annotated[str | None, Field(description="The column that says whose date it is; by default the unit.")] = None


@record
class PreparedTable:
    """A table whose dates are shifted and whose ids are pseudonyms, with what a measure has to know of that.

    Attributes
    ----------
    frame : DataFrame
        The table, ready to be tagged.
    unit : str or None
        The column that says whose row it is; None where every row is another person.
    pseudonym : str or None
        The column of pseudonyms, which is the unit; None where there is none.
    shifts : DateShifts or None
        What was shifted, and by how much; None where no date was.
    """

    frame: pd.DataFrame
    unit: str | None = None
    pseudonym: str | None = None
    shifts: DateShifts | None = field(default=None, repr=False)

    def microdata(self, **tags: Any) -> Microdata:
        """The table with its tags, as arguments of `Microdata` but for the unit."""
        data = Microdata(self.frame, **tags, unit=self.unit, pseudonym=self.pseudonym)
        data.shifts = self.shifts
        return data


def prepared(
    table: Any,
    dates: Mapping[str, DateShift] | None = None,
    pseudonyms: Mapping[str, Pseudonyms] | None = None,
    unit: str | None = None,
    seed: int | None = None,
) -> PreparedTable:
    """Shift the dates of a table, and replace the ids of its people by pseudonyms.

    Parameters
    ----------
    table : DataFrame, LazyFrame, Arrow table or DuckDB relation
        The table; it is not changed.
    dates : mapping of str to DateShift, optional
        The columns of dates that are shifted. All of them have the same number of days and the same `by`: what is
        shifted by one number per person keeps every interval, also those between columns.
    pseudonyms : mapping of str to Pseudonyms, optional
        The column of a person's id that is replaced; at most one. The pseudonyms are published.
    unit : str, optional
        The column that says whose row it is; by default the column of pseudonyms, else that of the shifts, else every
        row is another person.
    seed : int, optional
        Draws the shifts; by default the system's entropy does. A person has the same one in all tables that have the
        same seed. Whoever has it can undo them.

    Returns
    -------
    PreparedTable
        The table, to be tagged by its `microdata`.

    Raises
    ------
    DataError
        For columns that the table lacks, that hold no dates or no ids, or that do not agree on whose rows they are.

    Examples
    --------
    Ann's visits lie two days apart before and after:

    >>> import pandas as pd
    >>> from anoncore.table.preparation import DateShift, prepared
    >>> visits = pd.DataFrame(
    ...     {"name": ["Ann", "Ann", "Bob"], "day": pd.to_datetime(["2024-03-01", "2024-03-03", "2024-05-20"])}
    ... )
    >>> shifted = prepared(visits, {"day": DateShift(shift=30, by="name")}).frame["day"]
    >>> (shifted[1] - shifted[0]).days
    2
    >>> bool((abs((shifted - visits["day"]).dt.days) <= 30).all())
    True
    """
    frame, dates, pseudonyms = as_pandas(table), dates or {}, pseudonyms or {}
    if not dates and not pseudonyms:
        return PreparedTable(frame, unit)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    for name in (*dates, *(shift.by for shift in dates.values() if shift.by), *pseudonyms):
        if name not in frame.columns:
            columns = list(frame.columns)
            raise DataError(
                f"There is no column '{name}' to prepare; the table has {listing(columns, 30)}."
                f"{did_you_mean(name, columns)}"
            )
    unit = _one_unit(dates, pseudonyms, unit)
    shifts = None
    if dates:
        # Numbers of days are made of the ids, before these are replaced.
        shifts = _drawn(frame, dates, unit, fresh_seed() if seed is None else seed)
        frame = frame.assign(**{name: _shifted(frame[name], name, shifts.days) for name in dates})
    frame = frame.assign(**{name: one.of(frame[name]) for name, one in pseudonyms.items()})
    return PreparedTable(frame, unit, next(iter(pseudonyms), None), shifts)


def prepared_again(
    secret: bytes, table: Any, dates: Mapping[str, DateShift], pseudonyms: Collection[str], unit: str | None
) -> PreparedTable:
    """As `prepared`, with all that is drawn made from a secret: with it a table is prepared in the same way again.

    `pseudonyms` names the columns of ids. Raises ParameterError for a secret that is too short to be one.
    """
    keyed = secret_pseudonyms(secret)
    seed = int.from_bytes(keyed.derived(b"shifts of dates"), "big")
    return prepared(table, dates, dict.fromkeys(pseudonyms, keyed), unit, seed)


def secret_pseudonyms(secret: bytes) -> Pseudonyms:
    """The pseudonyms that `prepared_again` makes with a secret."""
    return Pseudonyms(Pseudonyms(secret).derived(b"key of pseudonyms"))


def _one_unit(dates: Mapping[str, DateShift], pseudonyms: Mapping[str, Pseudonyms], unit: str | None) -> str | None:
    """The column that says whose row it is. Raises DataError where there would be several."""
    if len(pseudonyms) > 1:
        raise DataError(
            f"Pseudonyms are made for {listing(list(pseudonyms))}, and one column says whose row it is; keep that one."
        )
    named = [*([] if unit is None else [unit]), *pseudonyms, *(one.by for one in dates.values() if one.by is not None)]
    if len(set(named)) > 1:
        raise DataError(
            f"{listing(list(dict.fromkeys(named)))} are each to say whose row it is; name one column as unit, as "
            "pseudonym and in by."
        )
    most = sorted({one.shift for one in dates.values()})
    if len(most) > 1:
        raise DataError(
            f"{listing(list(dates))} are shifted by up to {' and '.join(map(str, most))} days, and a person has one "
            "number of days for all dates; name the same shift."
        )
    if named and named[0] in dates:
        raise DataError(f"'{named[0]}' is to say whose row it is, and cannot be shifted as a date.")
    return named[0] if named else None


def _drawn(frame: pd.DataFrame, dates: Mapping[str, DateShift], unit: str | None, seed: int) -> DateShifts:
    most = next(iter(dates.values())).shift
    if unit is None:
        return DateShifts(tuple(dates), most, generator(seed).integers(-most, most, len(frame), endpoint=True))
    require_people(frame, unit)
    # A number is made of the id and the seed, so that a person has the same one in every table that has the seed.
    # Of 80 random bits no remainder is likelier than another by more than one in 2^63.
    row_person, people = pd.factorize(Pseudonyms(seed.to_bytes(KEY_BYTES, "big")).of(frame[unit]))
    words = (int.from_bytes(base64.b32decode(person), "big") for person in people)
    days = np.fromiter((word % (2 * most + 1) - most for word in words), np.int64, len(people))
    return DateShifts(tuple(dates), most, days[row_person])


def _shifted(column: pd.Series[Any], name: str, days: Int64) -> pd.Series[Any]:
    """The dates, each shifted by its number of days. Raises DataError for a column of something else."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind not in ("date", "datetime", "datetime64"):
            raise DataError(
                f"'{name}' is to be shifted, and holds {kind} instead of dates; turn it into dates first, such as "
                "2024-03-01."
            )
        column = pd.to_datetime(column)
    try:
        return column + pd.to_timedelta(pd.Series(days, index=column.index), unit="D")
    except (OverflowError, pd.errors.OutOfBoundsDatetime):
        raise DataError(
            f"'{name}' has dates so far off that none lies before or after them; mend them first."
        ) from None
