"""What was found of identifiers in a table, what was looked at, and what cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import pandas as pd

from anoncore.base.pandas_versions import TEXT
from anoncore.base.showing import Lines, Shown, clean, names_text
from anoncore.base.texts import counted, share_text
from anoncore.table.given_table import as_pandas
from anoncore.table.identifiers.kinds import ADVICE, FEW_PEOPLE, KINDS, RULE, Mend
from anoncore.table.identifiers.mends import recoded

FRAME_COLUMNS = ["column", "letter", "kind", "by", "what", "share", "mend"]
LOOKED_AT = (
    "the names of columns, in English, German, French, Spanish, Italian, Portuguese and Dutch",
    "how values are written, of more than 20,000 different ones in a column evenly many, with check digits where the "
    "kind has them",
    "e-mail addresses and URLs also inside longer texts",
)
CANNOT_SEE = (
    "names of people in a column that is not called so, unless a form of address stands before them",
    "towns and other places in a column that is not called so, unless a postal code or a street stands beside them",
    "whose numbers, dates and places they are: those of a machine or a shop are found, too",
    "what pictures, sounds and files show",
    "people who are singled out by several columns together, or by a rare value such as an occupation; "
    "`anoncore check --known` counts these",
    "what you know yourself of the people in the table, which paragraph (ii) of the rule asks for",
)
FINEST_SHARE = 4
"""Decimals of a share in a table of findings."""


@dataclass(frozen=True)
class IdentifierFinding(Shown):
    """One kind of identifiers in one column.

    Attributes
    ----------
    column : str
        Name of the column.
    letter : str
        Letter of the kind in the rule, A to R.
    what : str
        What the values are in words, such as `account numbers (IBAN)`; empty where only the name tells.
    by : str
        What tells it: `name`, `values`, or `name and values`.
    share : float
        Share of the rows with a value that have such a value. NaN where only the name tells: then it was not measured.
    mend : Mend
        What mends the column: `drop`, `pseudonym`, `year`, `three digits`, `90+` or `oldest years`.
    is_shape : bool
        Whether codes of other kinds may be written alike.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import privacy
    >>> found = privacy.identifiers(pd.DataFrame({"age": [34, 91, 57, 62]}))
    >>> print(found.findings[0].sentence)
    'age' holds ages above 89 (C) in 25.0% of its values. Put all people above 89 into one group, 90+.
    """

    column: str
    letter: str
    what: str
    by: str
    share: float
    mend: Mend
    is_shape: bool = field(default=False, repr=False)

    @property
    def kind(self) -> str:
        """The kind in words."""
        return KINDS[self.letter]

    @property
    def finding(self) -> str:
        """What was found, as a sentence."""
        column, what = clean(self.column), self.what or self.kind
        kind = self.letter if what in self.kind else f"{self.letter}: {self.kind}"
        if isnan(self.share):
            return f"'{column}' is named like {what} ({kind}); its values do not tell."
        return f"'{column}' holds {what} ({kind}) in {share_text(self.share)} of its values."

    @property
    def sentence(self) -> str:
        """What was found and what mends it, as two sentences."""
        return f"{self.finding} {ADVICE[self.mend]}"

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON holds it.

        Returns
        -------
        dict of str to object
            The fields by name, with a share of None where none was measured.
        """
        return {
            "column": self.column,
            "letter": self.letter,
            "kind": self.kind,
            "what": self.what or self.kind,
            "by": self.by,
            "share": None if isnan(self.share) else round(self.share, FINEST_SHARE),
            "mend": self.mend.value,
            "sentence": self.sentence,
        }

    def _headline(self) -> str:
        return f"{self.letter} in '{clean(self.column)}'"

    def _lines(self) -> Lines:
        return [
            ("by", self.by),
            ("what", self.what or self.kind),
            ("share", share_text(self.share)),
            ("mend", self.mend),
        ]


@dataclass(frozen=True)
class IdentifiersFound(Shown):
    """Which columns of a table hold identifiers of HIPAA's safe harbor, as far as a program can tell.

    Attributes
    ----------
    findings : tuple of IdentifierFinding
        One for each column and kind, in the order of the columns.
    columns : tuple of str
        All columns that were looked at.
    n_rows : int
        Rows of the table.
    free_text : tuple of str
        Columns of free text, which may name people in ways that are not seen.
    year : int
        The year in which ages are counted from years of birth.
    few_people : tuple of str
        The first three digits of ZIP codes that may not stand.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import privacy
    >>> people = pd.DataFrame({"age": [34, 91], "born": ["1988-02-01", "1931-05-17"], "IBAN": ["none", "none"]})
    >>> found = privacy.identifiers(people, year=2024)
    >>> found.frame()[["column", "letter", "mend"]].to_dict("list")
    {'column': ['age', 'born'], 'letter': ['C', 'C'], 'mend': ['90+', 'year']}
    >>> found.mended(people).to_dict("list")
    {'age': ['34', '90+'], 'born': ['1988', '1934 or earlier'], 'IBAN': ['none', 'none']}
    """

    findings: tuple[IdentifierFinding, ...]
    columns: tuple[str, ...]
    n_rows: int
    free_text: tuple[str, ...]
    year: int
    few_people: tuple[str, ...] = field(default=FEW_PEOPLE, repr=False)

    @property
    def headline(self) -> str:
        """How many findings there are, in a sentence that does not say that the rule is met."""
        where = f"{counted(len(self.columns), 'column')} and {counted(self.n_rows, 'row')}"
        looked = f"Looked for the 18 kinds of identifiers of {RULE} in {where}"
        if not self.findings:
            return f"{looked}, and found none. That does not say that there are none."
        n_columns = len({one.column for one in self.findings})
        return f"{looked}: {counted(len(self.findings), 'finding')} in {counted(n_columns, 'column')}."

    @property
    def looked_at(self) -> tuple[str, ...]:
        """What was looked at, in words."""
        few = f"{counted(len(self.few_people), 'beginning')} of ZIP codes that may not stand"
        source = " (by the Census of 2000; the rule asks for current figures)" if self.few_people == FEW_PEOPLE else ""
        return (*LOOKED_AT, f"{few}{source}, and ages as of {self.year}")

    @property
    def cannot_see(self) -> tuple[str, ...]:
        """What the search cannot see, in words."""
        inside = "identifiers inside free text, but for e-mail addresses and URLs"
        named = f"; free text is in {names_text(self.free_text)}" if self.free_text else ""
        return (CANNOT_SEE[0], f"{inside}{named}", *CANNOT_SEE[1:])

    def sentences(self) -> tuple[str, ...]:
        """Everything in sentences, as `anoncore check --identifiers` prints it.

        Returns
        -------
        tuple of str
            The headline, the findings with what mends them, what was looked at, and what cannot be seen.
        """
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield self.headline
        yield from (f"  {one.sentence}" for one in self.findings)
        yield "Looked at:"
        yield from (f"  {one}" for one in self.looked_at)
        yield "Cannot be seen:"
        yield from (f"  {one}" for one in self.cannot_see)

    def frame(self) -> pd.DataFrame:
        """The findings as a table.

        Returns
        -------
        DataFrame
            A row per finding: `column`, `letter`, `kind`, `by`, `what`, `share` (NaN where it was not measured) and
            `mend`.
        """
        rows = [{name: getattr(one, name) for name in FRAME_COLUMNS} for one in self.findings]
        types = {name: "float64" if name == "share" else TEXT for name in FRAME_COLUMNS}
        return pd.DataFrame(rows, columns=FRAME_COLUMNS).astype(types)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it, without a value of the table.

        Returns
        -------
        dict of str to object
            `rule`, `rows`, `columns`, `found`, `free_text`, `looked_at` and `cannot_see`.
        """
        return {
            "rule": RULE,
            "rows": self.n_rows,
            "columns": list(self.columns),
            "found": [one.to_dict() for one in self.findings],
            "free_text": list(self.free_text),
            "looked_at": list(self.looked_at),
            "cannot_see": list(self.cannot_see),
        }

    def mended(self, frame: Any) -> pd.DataFrame:
        """The table with every finding mended: columns dropped, or recoded to years, three digits and 90+.

        Parameters
        ----------
        frame : DataFrame
            The table in which the identifiers were found, of any kind.

        Returns
        -------
        DataFrame
            Its rows in their order. A column that needs a pseudonym is dropped, and one of free text is left as it is.

        Raises
        ------
        DataError
            Where a value cannot be recoded, such as a date without a year of four digits.
        """
        table = as_pandas(frame)
        mended: dict[str, Any] = {str(name): column for name, column in table.items()}
        for one in self.findings:
            column = mended.pop(one.column, None)
            if column is not None and one.mend not in (Mend.DROP, Mend.PSEUDONYM):
                mended[one.column] = recoded(column, one.mend, self.few_people, self.year)
        return pd.DataFrame(
            {name: mended[name] for name in map(str, table.columns) if name in mended}, index=table.index
        )

    def _headline(self) -> str:
        n_columns = len({one.column for one in self.findings})
        return f"{counted(len(self.findings), 'finding')} in {n_columns:,} of {counted(len(self.columns), 'column')}"

    def _lines(self) -> Lines:
        found = [(f"{one.letter} {clean(one.column)}", f"{one.what or one.kind}, by {one.by}") for one in self.findings]
        return [*found, ("cannot see", "; ".join(self.cannot_see[:2]))]
