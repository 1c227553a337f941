"""A release: fragments of attributes, each with a partition of the rows and a recoding per attribute."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.model import Model
from anoncore.base.pandas_versions import TEXT
from anoncore.base.progress import Progress
from anoncore.base.random_numbers import drawn_along, is_guessable
from anoncore.base.showing import Lines, Shown, SizesDrawn, names_text
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.checking import people_and_pairs
from anoncore.kernels.grouping import dense_key, starts_of
from anoncore.release.openness import Minimality, Openness
from anoncore.release.overlap import Link, links
from anoncore.release.partition import Partition
from anoncore.release.published_numbers import NumberColumns, Numbers, Ranges, cells_of, column_names, ranges_of
from anoncore.release.reading.published_table import cell_ranks
from anoncore.release.reading.published_values import ADVICE
from anoncore.release.recoding import Exact, Generalized, GroupValues, Recoding
from anoncore.table.coding import content_head
from anoncore.table.given_table import Cells
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Kinds, Microdata, Roles, content_order

GROUP_COLUMN = "group"
ONLY_TABLE = "release"
"""What the table of a release of one fragment is called."""
Rows = Literal["people", "synthetic"]
"""Whether published rows are those of people, or nobody's."""
ASK_INSTEAD = (
    "What it gives away is measured by attacks.inference, attacks.singling_out and attacks.linkability, with people "
    "who are not in the original as control."
)


@checked_methods
@record
class Fragment(Shown):
    """Attributes that are published together in one table.

    Which row of one fragment belongs to which row of another is not published: within a group, any may.

    Attributes
    ----------
    name : str
        Name of the table.
    partition : Partition
        The groups of its rows.
    recodings : mapping of str to Recoding
        How each attribute is published, in published order.

    Examples
    --------
    Anatomy publishes what an adversary may know and what they must not learn in two fragments:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Anatomy
    >>> people = pd.DataFrame({"age": [21, 22, 44, 46], "disease": ["flu", "flu", "cold", "cold"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> [fragment.attributes for fragment in Anatomy(l=2).anonymize(data).fragments]
    [('age',), ('disease',)]
    """

    name: str
    partition: Partition
    recodings: Mapping[str, Recoding]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The fragment's attributes, in published order."""
        return tuple(self.recodings)

    def _headline(self) -> str:
        return f"Fragment '{self.name}': {self.partition._inline()}"

    def _lines(self) -> Lines:
        forms: dict[str, list[str]] = {}
        for name, recoding in self.recodings.items():
            forms.setdefault(type(recoding).__name__, []).append(name)
        return [(form, names_text(names)) for form, names in forms.items()]


class ReleaseMethod(Model):
    """The side of an algorithm that a release shows to those who judge it: its names, its parameters, its promises.

    Algorithms make releases, so a release cannot name their class. It names what it needs of them instead. Requirements
    judge partitions and lie above the release too, which is why promises have no closer type here.
    """

    family: ClassVar[str] = "other"
    """How it protects, for people: generalization, bucketization, ..."""
    group_word: ClassVar[str] = "equivalence class"
    """What the literature of the method calls a group."""
    summary: ClassVar[str] = ""
    """One plain sentence for people who choose a method."""
    packages: ClassVar[tuple[str, ...]] = ()
    """The packages beside those that anoncore always needs by which it makes releases."""
    is_repeatable: ClassVar[bool] = True
    """Whether its random choices, if it makes any, follow from a seed."""
    minimality: ClassVar[Minimality] = Minimality(
        Openness.OPEN,
        "Nobody said whether its groups depend on who has which sensitive value, so readers who know the method may "
        "learn more from its release than from what is published.",
    )
    """Whether readers who know the method learn more from its release than from what is published, and why."""

    @property
    def takes_long(self) -> bool:
        """Whether it may take half a minute or more also on a small table."""
        return False

    @property
    def minimality_here(self) -> Minimality:
        """What `minimality` comes to with these parameters."""
        return self.minimality

    @property
    def seeds(self) -> tuple[int | None, ...]:
        """The seeds of its random choices and of those of a method inside it, None for one that is not given; empty for
        a method that draws nothing.
        """
        found: list[int | None] = []
        for name in type(self).model_fields:
            value = getattr(self, name)
            if name == "seed":
                found.append(value)
            elif isinstance(value, ReleaseMethod):
                found += value.seeds
        return tuple(found)

    @property
    def has_guessable_seed(self) -> bool:
        """Whether its random choices, or some of them, follow from a seed that was given and that others can guess."""
        return any(is_guessable(seed) for seed in self.seeds)

    @property
    def judged_by_groups(self) -> bool:
        """Whether its requirements are about every group; not where these parameters ask them of something else."""
        return True

    @abstractmethod
    def anonymize(self, data: Microdata, progress: Progress | None = None) -> Release:
        """Make a release of a table; attacks run the method again on tables in which there is nothing to learn."""

    @abstractmethod
    def promises(self, data: Microdata) -> tuple[Any, ...]:
        """The requirements that every release of this method satisfies."""

    def refusals(self, release: Release) -> Any:
        """What readers of a release who know the method know it to have refused; None where that is not worked out.

        The attack `minimality` measures every method that says it.
        """
        return None

    def cell_knowledge(self, release: Release) -> Any:
        """What its cells tell readers who know it to generalize no more than it must; None where that is not known.

        The attack `downcoding` measures every method that says it.
        """
        return None

    def personal_guarantees(self, release: Release) -> tuple[Any, ...]:
        """What it promises about people rather than groups, measured in its release; by default nothing."""
        return ()


@checked_methods
@record
class Release(SizesDrawn):
    """What is published of a table: one or several fragments, which may share their groups.

    Every method makes such a release, so that privacy, attacks and utility are measured on all of them alike.

    Attributes
    ----------
    data : Microdata
        The table that was anonymized.
    fragments : tuple of Fragment
        The tables that are published.
    algorithm : Algorithm or None
        The algorithm that made the release, with its parameters; None where it is not known.
    notes : tuple of str
        Sentences that a reader should know.
    suppressed_group : int or None
        The group of the rows that are left out: a region of all values in every quasi-identifier. None where there is
        none; otherwise all fragments share their groups.
    numbers : {"text", "bounds", "midpoints"}
        How ranges of numbers are published, see `tables`.
    rows : {"people", "synthetic"}
        Whether each published row was made of one person's, or rows are nobody's, as those of a synthetic table. Then
        there is one fragment, whose partition and recodings are of its own rows, which may be more or fewer than those
        of `data`; and the domains of `data` also hold the values that only the published table has.
    made_with : mapping of str to float
        Numbers that the method chose while it made the release, by their names, for whoever has the table and looks at
        how it was made. They are never published.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [44, 21, 22, 46], "disease": ["cold", "flu", "flu", "flu"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> release.partition.group.tolist()
    [1, 0, 0, 1]
    >>> print(release.tables()["release"].to_string(index=False))
      age disease
    21-22     flu
    21-22     flu
    44-46    cold
    44-46     flu
    """

    data: Microdata
    fragments: tuple[Fragment, ...]
    algorithm: ReleaseMethod | None = None
    notes: tuple[str, ...] = ()
    suppressed_group: int | None = None
    numbers: Numbers = "text"
    rows: Rows = "people"
    made_with: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_published(
        cls,
        published: Any,
        roles: Roles | None = None,
        original: Microdata | None = None,
        *,
        kinds: Kinds | None = None,
        orders: Mapping[str, Sequence[Any]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        sensitive_values: Mapping[str, Collection[Any]] | None = None,
        values: Mapping[str, Collection[Any]] | None = None,
        missing: Literal["suppressed", "value"] | None = None,
        rows: Rows = "people",
    ) -> Release:
        """Read published tables back, made by any tool, so that they are measured and attacked like any release.

        Cells are read in the ways tools write them: `20-29`, `[20, 30)`, `20..29`, `{a, b}`, `a|b`, `>=90`, `90+`,
        `<18`, `476**`, `*` for everything, nodes of a hierarchy, and numbers that were rounded.

        With the original, each row of it gets a line of every table: by an identifier that the tables still hold, else
        by a maximum flow in which every cell allows its row's value. Which line that is may not be certain; the notes
        say for how many rows. Whatever depends on groups and not on single people is the same for every assignment.
        Values that no line allows count as changed.

        Without the original, the tables are judged by what they show themselves: sizes of groups, k, l and t, unique
        rows, beliefs, risks of re-identification. Whatever compares with the original raises ReleaseError, and so does
        what asks which rows of several tables belong to one person. The information loss is that of the cells as they
        are written, where these tell the domain; the notes say what is assumed.

        Rows of a synthetic table are nobody's (`rows="synthetic"`). It may have more or fewer of them, and hold values
        that the original lacks. It is compared with the original by shares, and attacked by those who
        read it as records; whatever asks in which group a person is raises ReleaseError.

        Parameters
        ----------
        published : DataFrame, LazyFrame, Arrow table, DuckDB relation, or mapping of str to these
            One published table, or several by name. Tables that have a column `group` (or `bucket`, `GroupID` and the
            like) that is no attribute are joined by it, as in `tables`. Of an attribute that has no column, two columns
            such as `age_low` and `age_high` are read as ranges.
        roles : mapping of str to Role or str, optional
            Role of each column, and by `"*"` that of all others. Nothing can be left out of tables that are published:
            a column without a role counts as insensitive and undecided, and a verdict says what it gives away. The
            original says it better, where it is given.
        original : Microdata, optional
            The table of which they were made.
        kinds, orders, hierarchies, sensitive_values : mapping, optional
            What is known of the columns where the original is not given, as for `Microdata`.
        values : mapping of str to collection, optional
            All values that an attribute has in the original, from a list of codes for example, with None where it may
            be missing. Cells that allow everything, ranges without an end and missing numbers tell the information loss
            then, too.
        missing : {"suppressed", "value"}, optional
            What a missing cell of a quasi-identifier means. By default it was suppressed, unless as few are missing as
            in the original. In a synthetic table it is a value.
        rows : {"people", "synthetic"}
            Whether each row was made of one person's, or rows are nobody's: the table is synthetic, or so noisy that no
            row can be called a person's. The latter needs the original.

        Returns
        -------
        Release
            The release, whose `notes` say how it was read. Its `algorithm` is not known. With the original its rows
            are those of the original, but for those that were not published; without it those of the tables.

        Raises
        ------
        DataError
            For a cell that cannot be read, with column, row and cell; for columns that the original lacks, more rows
            than it has, and tables whose groups do not match; for a synthetic table without its original, and for
            several of them.

        Notes
        -----
        Where a text may be a value as well as a region, such as a town called `*`, the original decides; without it
        `*` is everything. Groups are what readers see: rows with equal quasi-identifiers, or with the same number in
        the column that joins the tables.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Microdata, Release, privacy, utility
        >>> published = pd.DataFrame(
        ...     {"age": ["20-29", "20-29", ">=40", ">=40"], "disease": ["flu", "cold", "flu", "flu"]}
        ... )
        >>> roles = {"age": "quasi-identifier", "disease": "sensitive"}
        >>> alone = Release.from_published(published, roles)
        >>> float(privacy.profile(alone).k), float(privacy.profile(alone).score("distinct-l"))
        (2.0, 1.0)

        A range of ages loses its width as a share of the domain. Where the tables tell the domain, that is measured
        without the original; here `>=40` has no end, so it takes the original:

        >>> people = pd.DataFrame({"age": [44, 21, 60, 26], "disease": ["flu", "cold", "flu", "flu"]})
        >>> release = Release.from_published(published, roles, Microdata(people, roles))
        >>> release.partition.group.tolist()
        [1, 0, 1, 0]
        >>> round(float(utility.information_loss(release)), 3)
        0.269
        """
        # Finding rows again takes libraries that take long to import, and that nothing else of a release needs.
        from anoncore.release.reading.opening import opened_with_original
        from anoncore.release.reading.opening_alone import opened_alone
        from anoncore.release.reading.published_frames import published_frames
        from anoncore.release.reading.tags import check_tags, tags_of

        frames = published_frames(
            published, {*(roles or {}), *(original.roles if original is not None else ())}, ONLY_TABLE
        )
        missing_is_value = None if missing is None else missing == "value"
        columns = dict.fromkeys(name for frame in frames for name in frame.columns)
        tags = tags_of(roles, kinds, orders, hierarchies, sensitive_values, values, columns)
        if original is not None:
            check_tags(tags, original)
            left_out = [name for name in columns if name in original.left_out]
            original = original.publishing(left_out) if left_out else original
        if rows == "synthetic":
            from anoncore.release.reading.opening_synthetic import opened_synthetic

            if original is None:
                raise DataError(
                    "The original is not given, and a synthetic table says nothing of people by itself: give the table "
                    "that it is compared with as `original`."
                )
            opened = opened_synthetic(frames, original, missing_is_value is not False)
        elif original is None:
            opened = opened_alone(frames, tags, missing_is_value)
        else:
            opened = opened_with_original(frames, original, missing_is_value)
        fragments = tuple(Fragment(one.name, one.partition, one.recodings) for one in opened.tables)
        return cls(opened.data, fragments, None, opened.notes, opened.suppressed_group, rows=rows)

    def _headline(self) -> str:
        method = "" if self.algorithm is None else f" by {self.algorithm.title}"
        return f"Release{method}: {self.table_size}"

    def _lines(self) -> Lines:
        lines = []
        for fragment in self.fragments:
            lines.append((fragment.name, fragment.partition.text()))
            lines += [(f"  {form}", names) for form, names in fragment._lines()]
        return [*lines, *(("note", note) for note in self.notes)]

    def _group_sizes(self) -> tuple[str, Int64]:
        partitions = [fragment.partition for fragment in self.fragments[: 1 if self.is_shared else None]]
        return "rows per group", np.concatenate([partition.sizes for partition in partitions])

    @property
    def group_word(self) -> str:
        """What the literature of the method calls a group: equivalence class, bucket, A-group."""
        return self.algorithm.group_word if self.algorithm is not None else "group"

    @cached_property
    def promises(self) -> tuple[Any, ...]:
        """The requirements that its algorithm promises; none where it is not known."""
        return () if self.algorithm is None else self.algorithm.promises(self.data)

    @cached_property
    def is_shared(self) -> bool:
        """Whether all fragments share one partition."""
        first = self.fragments[0].partition
        return all(
            fragment.partition is first or np.array_equal(fragment.partition.group, first.group)
            for fragment in self.fragments[1:]
        )

    @property
    def partition(self) -> Partition:
        """The shared partition. Raises ReleaseError if fragments have their own, and where rows are nobody's."""
        self.require_people("Groups are made of people's rows")
        if not self.is_shared:
            raise ReleaseError(
                "Each fragment of this release has groups of its own, so there are no groups of the whole release that "
                "this could be about."
            )
        return self.fragments[0].partition

    def require_original(self, reason: str) -> None:
        """Check that the table that was anonymized is known, for measures that compare with it.

        Parameters
        ----------
        reason : str
            What it is needed for, as the first half of a sentence.

        Raises
        ------
        ReleaseError
            Where the release was read from published tables alone.
        """
        if not self.data.knows_rows:
            raise ReleaseError(f"{reason}, and this release was read from published tables alone. {ADVICE}")

    def require_widths(self, attributes: Collection[str]) -> None:
        """Check that it is known what share of its domain a cell of some attributes covers.

        Parameters
        ----------
        attributes : collection of str
            The attributes.

        Raises
        ------
        ReleaseError
            Where the release was read from published tables alone, and these do not tell.
        """
        unknown = {name: self.data.unknown_widths[name] for name in attributes if name in self.data.unknown_widths}
        if unknown:
            told = "; ".join(dict.fromkeys(unknown.values()))
            raise ReleaseError(
                f"What a cell loses is a share of the domain, which the published tables alone do not tell: {told}. "
                f"{ADVICE}"
            )

    def require_people(self, reason: str) -> None:
        """Check that the rows are those of people, for measures that ask in which group a person is.

        Parameters
        ----------
        reason : str
            What people are needed for, as the first half of a sentence.

        Raises
        ------
        ReleaseError
            Where the rows are nobody's.
        """
        if self.is_synthetic:
            raise ReleaseError(f"{reason}, and the rows of this table are nobody's: it is synthetic. {ASK_INSTEAD}")

    @property
    def is_synthetic(self) -> bool:
        """Whether the rows are nobody's."""
        return self.rows == "synthetic"

    @property
    def n_records(self) -> int:
        """Number of rows of each published table: that of the original's, but where the rows are nobody's."""
        return self.fragments[0].partition.n_rows

    @cached_property
    def records_order(self) -> Int64:
        """The published rows in an order in which that of the original rows has no part, int64 (n_records,).

        Rows of people are in their canonical order. Of rows whose original values are equal, what is published and the
        numbers of groups decide, so that only rows which nothing tells apart may have changed places.
        """
        columns = [column for fragment in self.fragments for column in (*_content(fragment), fragment.partition.group)]
        if self.is_synthetic:
            return content_order(columns, [int(column.max()) + 1 for column in columns])
        order, words = self.data.canonical_order, self.data.content_words
        alike = (words[:, order[1:]] == words[:, order[:-1]]).all(axis=0)
        if not alike.any():
            return order
        # The rows of people in runs of equal ones; only runs of several rows are sorted again.
        run = starts_of(~alike).astype(np.int32)
        several = np.concatenate((alike, [False])) | np.concatenate(([False], alike))
        rows = order[several]
        keys = [run[several], *(column[rows] for column in columns)]
        refined = order.copy()
        refined[several] = rows[content_order(keys, [int(key.max()) + 1 for key in keys])]
        return refined

    def require_linked(self, attributes: Collection[str]) -> None:
        """Check that it is known what every person shows of some attributes together.

        Parameters
        ----------
        attributes : collection of str
            The attributes.

        Raises
        ------
        ReleaseError
            Where they stand in several tables that were read without their original, which alone joins them.
        """
        tables = [fragment.name for fragment in self.fragments if not set(attributes).isdisjoint(fragment.attributes)]
        if len(tables) > 1:
            self.require_original(
                f"What belongs to one person stands in several tables, {listing(tables)}, without a sign in which rows"
            )

    @property
    def suppressed_rows(self) -> Bools:
        """Whether each row is left out, so that its quasi-identifiers may have any value, bool (n_rows,).

        Raises ReleaseError where rows are nobody's.
        """
        self.require_people("Rows are left out of a table of people")
        if self.suppressed_group is None:
            return np.zeros(self.data.n_rows, np.bool_)
        left_out: Bools = self.partition.group == self.suppressed_group
        return left_out

    @property
    def counted_word(self) -> str:
        """What the size of a group counts: `people` where one person may have several rows, else `rows`."""
        return "rows" if self.data.people is None else "people"

    @property
    def table_size(self) -> str:
        """How large the table is, in words: its rows, and its people where these are fewer."""
        if self.is_synthetic:
            return f"{self.n_records:,} synthetic rows"
        rows = f"{self.data.n_rows:,} rows"
        return rows if self.data.people is None else f"{rows} ({self.data.n_people:,} people)"

    def people_per_group(self, fragment: Fragment) -> Int64:
        """How many different people each group of a fragment has.

        Parameters
        ----------
        fragment : Fragment
            The fragment.

        Returns
        -------
        ndarray of int64, shape (n_groups,)
            Different people; rows where every row is another person.

        Raises
        ------
        ReleaseError
            Where rows are nobody's.
        """
        self.require_people("The size of a group counts the people in it")
        partition, people = fragment.partition, self.data.people
        if people is None:
            return partition.sizes
        return people_and_pairs(partition.order, partition.starts, people, people)[0]

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every published attribute, in column order of the original table."""
        published = {name for fragment in self.fragments for name in fragment.attributes}
        return tuple(name for name in self.data.attributes if name in published)

    def fragment_of(self, attribute: str) -> Fragment:
        """The first fragment that publishes an attribute.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        Fragment
            The fragment.

        Raises
        ------
        ReleaseError
            Where no fragment publishes it.
        """
        for fragment in self.fragments:
            if attribute in fragment.recodings:
                return fragment
        raise ReleaseError(f"The release does not publish '{attribute}'; it has {listing(self.attributes)}.")

    def recoding(self, attribute: str) -> Recoding:
        """How an attribute is published in the first fragment that has it.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        Recoding
            Its published form.

        Raises
        ------
        ReleaseError
            Where no fragment publishes it.
        """
        return self.fragment_of(attribute).recodings[attribute]

    def published_codes(self, attribute: str) -> Codes:
        """The published codes of an attribute whose single values are published.

        Parameters
        ----------
        attribute : str
            Name of the attribute.

        Returns
        -------
        ndarray of int32, shape (n_rows,)
            A code per row, in original row order.

        Raises
        ------
        ReleaseError
            Where the attribute is not published, or only as regions.
        """
        recoding = self.recoding(attribute)
        if not isinstance(recoding, Exact):
            raise ReleaseError(f"'{attribute}' is generalized in this release; its single values are not published.")
        return recoding.codes

    def tables(self, numbers: Numbers | None = None) -> dict[str, Any]:
        """The tables that may be published, of the kind of the table that was anonymized.

        They hold no identifiers. Their rows are sorted by content, so that neither the original order nor the numbers
        of groups tell anything; those of several tables, in groups, by what their cells read. Tables that are joined by
        their groups share a column `group`, numbered anew at random at every call. Columns whose values are published
        keep their type; what is generalized is text.

        Parameters
        ----------
        numbers : {"text", "bounds", "midpoints"}, optional
            How ranges of numbers or dates are published; by default as the release says, which is text unless someone
            chose otherwise. `"text"` publishes one column of texts such as `20-29`. `"bounds"` publishes two columns of
            numbers, `age_low` and `age_high`, and a third one, `age_or_missing`, where some cells may also be missing.
            `"midpoints"` publishes one column of numbers, the middle of each range, which tells less than the range.

        Returns
        -------
        dict of str to DataFrame, LazyFrame, Arrow table or DuckDB relation
            A table of n_rows rows per fragment, by the fragment's name. Relations belong to DuckDB's default
            connection.

        Examples
        --------
        >>> import pandas as pd
        >>> from anoncore import Microdata
        >>> from anoncore.algorithms import Mondrian
        >>> from anoncore.requirements import KAnonymity
        >>> data = Microdata(pd.DataFrame({"age": [44, 21, 22, 46]}), roles={"age": "quasi-identifier"})
        >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
        >>> print(release.tables(numbers="bounds")["release"].to_string(index=False))
         age_low  age_high
              21        22
              21        22
              44        46
              44        46
        """
        return {
            fragment.name: self._of_given_kind(columns, fragment.recodings)
            for fragment, columns in self._fragment_columns(numbers)
        }

    def pandas_tables(self, numbers: Numbers | None = None, most: int | None = None) -> dict[str, pd.DataFrame]:
        """The tables that may be published as pandas DataFrames, whatever kind of table was anonymized.

        Parameters
        ----------
        numbers : {"text", "bounds", "midpoints"}, optional
            How ranges of numbers are published, see `tables`.
        most : int, optional
            Only so many rows of each, the first ones, which takes a fraction of the time; by default all.

        Returns
        -------
        dict of str to DataFrame
            A table of n_rows rows per fragment, by the fragment's name, as `tables` has them.

        Raises
        ------
        ParameterError
            For a negative number of rows.
        """
        if most is not None and most < 0:
            raise ParameterError(f"most is {most}; ask for at least 0 rows, or for None, which means all.")
        return {
            fragment.name: pd.DataFrame({name: cells.series() for name, cells in columns})
            for fragment, columns in self._fragment_columns(numbers, most)
        }

    def _fragment_columns(
        self, numbers: Numbers | None, most: int | None = None
    ) -> Iterator[tuple[Fragment, Iterator[tuple[str, Cells]]]]:
        """The fragments with their published columns, each made when it is asked for."""
        shown = self if numbers is None else replace(self, numbers=numbers)
        joined = len(self.fragments) > 1 and self.is_shared
        label: Codes | None = None
        if joined:
            names = np.random.default_rng().permutation(self.partition.n_groups).astype(np.int32)
            label = names[self.partition.group]
        for fragment in self.fragments:
            yield fragment, shown._published_columns(fragment, label, most)

    @cached_property
    def number_columns(self) -> Mapping[str, NumberColumns]:
        """The columns in which ranges of numbers are published, by attribute; none where they are no bounds."""
        if self.numbers != "bounds":
            return {}
        by_attribute: dict[str, list[Ranges]] = {}
        for fragment in self.fragments:
            for name in fragment.attributes:
                found = self._ranges(fragment, name)
                if found is not None:
                    by_attribute.setdefault(name, []).append(found)
        taken = [*self.data.roles, self._group_column()]
        columns: dict[str, NumberColumns] = {}
        for name, ranges in by_attribute.items():
            columns[name] = column_names(name, ranges, taken)
            taken += columns[name].names
        return columns

    def _ranges(self, fragment: Fragment, name: str) -> Ranges | None:
        return None if self.numbers == "text" else ranges_of(fragment.recodings[name])

    def _columns(self, fragment: Fragment, name: str, rows: Int64) -> dict[str, Cells]:
        """The published columns of an attribute: one of its name, or the bounds of its ranges."""
        ranges = self._ranges(fragment, name)
        if ranges is None:
            return {name: _cells(fragment.recodings[name], rows)}
        columns = cells_of(name, ranges, self.number_columns.get(name), rows)
        return {name: Cells(column) for name, column in columns.items()}

    def _published_columns(
        self, fragment: Fragment, label: Codes | None, most: int | None
    ) -> Iterator[tuple[str, Cells]]:
        content = _content(fragment)
        if len(self.fragments) > 1:
            content = [*self._as_read(fragment), *content]  # what reads alike may be of two types
        keys = content if label is None else [label, *content]
        order = content_order(keys, [int(key.max()) + 1 for key in keys]) if most is None else content_head(keys, most)
        del content, keys
        if label is not None:
            yield self._group_column(), Cells(pd.Series(label[order]))
        for name in fragment.attributes:
            yield from self._columns(fragment, name, order).items()

    def _as_read(self, fragment: Fragment) -> list[Codes]:
        """Integer columns that order rows by what their cells read, which nobody chooses.

        The order of values may be somebody's own, and in rows of two tables it could say which belong together. So the
        rows of several tables stand in an order that every reader can check.
        """
        every = np.arange(fragment.partition.n_rows)
        columns = (cells for name in fragment.attributes for cells in self._columns(fragment, name, every).values())
        return [cell_ranks(one.values) if one.rows is None else cell_ranks(one.values)[one.rows] for one in columns]

    def _of_given_kind(self, columns: Iterable[tuple[str, Cells]], recodings: Mapping[str, Recoding]) -> Any:
        # Values that only a synthetic table has may not fit the types of the original's columns.
        are_own = () if self.is_synthetic else recodings.items()
        kept = [name for name, recoding in are_own if isinstance(recoding, Exact)]
        return self.data.given.same_kind(columns, kept)

    def _group_column(self) -> str:
        name = GROUP_COLUMN
        while name in self.data.roles:
            name += "_"
        return name

    def linking(self, rng: np.random.Generator) -> tuple[Int64, ...]:
        """One random linking of the fragments: which of their rows make one row together.

        Rows are linked within a shared group, where fragments that overlap agree on what they share. Fragments with
        partitions of their own are linked within equal values of the attributes that they share with the first. Values
        that a group publishes only as a set are filled in at random. Where changed values leave different numbers of
        the same value, the rows that are left over are linked at random.

        Parameters
        ----------
        rng : numpy.random.Generator
            Where the random numbers come from.

        Returns
        -------
        tuple of ndarray of int64, shape (n_records,)
            For each fragment, the row that goes with row i of the first fragment.

        Raises
        ------
        ReleaseError
            Where fragments share neither groups nor values, or overlap in a ring.
        """
        linked = {0: np.arange(self.n_records)}
        if self.is_shared:
            through = links([fragment.attributes for fragment in self.fragments])
        else:
            through = tuple(Link(number, 0, frozenset()) for number in range(1, len(self.fragments)))
        for link in through:
            parent, fragment = self.fragments[link.parent], self.fragments[link.column]
            here, there = self._link_keys(parent, fragment, link.attributes, rng)
            here = here[linked[link.parent]]
            linked[link.column] = _paired(here, there, self.records_order, rng)
        return tuple(linked[number] for number in range(len(self.fragments)))

    def _link_keys(
        self, first: Fragment, other: Fragment, shared: frozenset[str], rng: np.random.Generator
    ) -> tuple[Int64, Int64]:
        """A number for each row of either fragment; rows with the same number may be linked."""
        columns = []
        if self.is_shared:
            columns.append(np.tile(self.partition.group, 2))
            for name in sorted(shared):
                cells = zip(first.recodings[name].content(), other.recodings[name].content(), strict=True)
                columns += map(np.concatenate, cells)
        else:
            for name, recoding in first.recodings.items():
                match = other.recodings.get(name)
                if isinstance(recoding, Exact | GroupValues) and isinstance(match, Exact | GroupValues):
                    columns.append(np.concatenate([_values(one, self.records_order, rng) for one in (recoding, match)]))
        if not columns:
            raise ReleaseError(
                f"Nothing links the rows of '{first.name}' and '{other.name}': they share neither groups nor values."
            )
        key = columns[0] if len(columns) == 1 else dense_key(columns, 2 * self.data.n_rows, is_sorted=True)
        key = key.astype(np.int64)
        return key[: self.data.n_rows], key[self.data.n_rows :]

    def linked(self, rng: np.random.Generator | None = None) -> Any:
        """One random linking of the fragments as one table, for analysis, of the kind of the table that was anonymized.

        Parameters
        ----------
        rng : numpy.random.Generator, optional
            Where the random numbers come from; by default fresh ones.

        Returns
        -------
        DataFrame, LazyFrame, Arrow table or DuckDB relation
            A table of n_records rows in random order, with every published attribute.

        Raises
        ------
        ReleaseError
            Where fragments share neither groups nor values, or overlap in a ring.
        """
        rng = rng if rng is not None else np.random.default_rng()
        links = self.linking(rng)
        shuffled = rng.permutation(self.n_records)
        columns: dict[str, Cells] = {}
        recodings = {}
        for name in self.attributes:
            number = next(i for i, fragment in enumerate(self.fragments) if name in fragment.recodings)
            recodings[name] = self.fragments[number].recodings[name]
            columns.update(self._columns(self.fragments[number], name, links[number][shuffled]))
        return self._of_given_kind(columns.items(), recodings)


def _values(recoding: Exact | GroupValues, order: Int64, rng: np.random.Generator) -> Codes:
    """The value of each row; of a set, random values of which each stands at least once in its group."""
    return recoding.codes if isinstance(recoding, Exact) else recoding.version(rng, order)


def _paired(here: Int64, there: Int64, along: Int64, rng: np.random.Generator) -> Int64:
    """For each row of `here` a different row of `there`, drawn at random for the rows along an order.

    Rows with the same number are paired as far as there are enough on both sides; the rows that are left over are
    paired with each other whatever their numbers.
    """
    size = int(max(here.max(), there.max())) + 1
    orders, paired = [], []
    # Rows of each number that find a partner: as many as the side with fewer of them has.
    fewer = np.minimum(np.bincount(here, minlength=size), np.bincount(there, minlength=size))
    for numbers in (here, there):
        # By number, at random among rows of one number; `rank` counts them, so the first `fewer` of each are paired.
        order = np.lexsort((drawn_along(along, rng), numbers))
        counts = np.bincount(numbers, minlength=size)
        rank = np.arange(len(order)) - (np.cumsum(counts) - counts)[numbers[order]]
        paired.append(rank < fewer[numbers[order]])
        orders.append(order)
    rows = np.empty(len(here), np.int64)
    rows[orders[0][paired[0]]] = orders[1][paired[1]]
    rows[orders[0][~paired[0]]] = rng.permutation(orders[1][~paired[1]])
    return rows


def _content(fragment: Fragment) -> list[Codes]:
    """Integer columns that order rows as the contents of the recodings do, one recoding after the other.

    Neighbouring recodings whose cells are the same for all rows of a group become one column, because there are far
    fewer groups than rows to sort.
    """
    columns: list[Codes] = []
    shared: list[Codes] = []
    for recoding in [*fragment.recodings.values(), None]:
        by_group = None
        if recoding is not None and recoding.partition is fragment.partition:
            by_group = recoding.group_content()
        if by_group is not None:
            shared += by_group
            continue
        if shared:
            columns.append(_ranks(shared)[fragment.partition.group])
            shared = []
        columns += recoding.content() if recoding is not None else ()
    return columns


def _ranks(columns: Sequence[Codes]) -> Codes:
    """The rank of each row among the different rows, int32 (n_rows,); equal rows have the same rank."""
    order = content_order(columns, [int(column.max()) + 1 for column in columns])
    starts = np.zeros(len(order), np.int32)
    for column in columns:
        ordered = column[order]
        starts[1:] |= ordered[1:] != ordered[:-1]
    ranks = np.empty_like(starts)
    ranks[order] = np.cumsum(starts, dtype=np.int32)
    return ranks


def _cells(recoding: Recoding, rows: Int64) -> Cells:
    """The published cells of the given rows: values with the column's own type, or the texts of regions."""
    if isinstance(recoding, Exact):
        values = recoding.domain.decoded
        return Cells(pd.Series(values, dtype=object if values.dtype == object else None), recoding.codes[rows])
    if isinstance(recoding, Generalized | GroupValues):
        return Cells(pd.Series(recoding.group_texts, dtype=TEXT), recoding.partition.group[rows])
    return Cells(pd.Series(recoding.texts(rows), dtype=TEXT))
