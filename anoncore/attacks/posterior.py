"""What an adversary who knows a person's quasi-identifiers believes about the sensitive value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import ReleaseError
from anoncore.base.number import measure
from anoncore.base.shared_work import cached
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key, first_rows, grouped_rows, numbered_inside_groups, owners, starts_of
from anoncore.kernels.matching import Columns, slicing_posterior
from anoncore.privacy.published import Cells, Entries, fragments_of, key_inside_groups, published_key
from anoncore.release.overlap import links
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.table.people import distinct_pairs

ALL_ROWS = slice(None)
MOST_KEPT = 2
"""Ways to put a table's attributes side by side whose signatures are kept with it."""
MOST_ENTRIES = 5_000_000
"""Beliefs above 0 that are held at once, unless those about a single person are more."""


@record
class SignaturePosterior(ABC):
    """Beliefs by signature: people of one signature show the adversary the same values.

    `signature` int64 (n_rows,) says which of the `n_signatures` each row has. Only beliefs above 0 are held, and those
    of some signatures after the other, as all of them may not fit into memory.
    """

    signature: Int64
    n_signatures: int
    n_codes: int

    @abstractmethod
    def leading(self, signatures: Int64) -> Entries:
        """The beliefs of the first of some signatures, of at least one and as many as fit, codes ascending."""

    def parts(self) -> Iterator[tuple[slice, Entries]]:
        """The beliefs of all signatures, some after the other, with the numbers of these."""
        begin = 0
        while begin < self.n_signatures:
            entries = self.leading(np.arange(begin, self.n_signatures))
            yield slice(begin, begin + len(entries)), entries
            begin += len(entries)

    def rows(self, part: slice) -> Int64:
        """The rows that have these signatures, int64 (n,)."""
        if part == slice(0, self.n_signatures):
            return np.arange(len(self.signature))
        begin, end = np.searchsorted(self._ordered, (part.start, part.stop))
        return self._order[begin:end]

    @cached_property
    def _order(self) -> Int64:
        """The rows by their signature."""
        return np.argsort(self.signature, kind="stable")

    @cached_property
    def _ordered(self) -> Int64:
        """The signatures of the rows in this order."""
        return self.signature[self._order]

    def dense(self, rows: Int64 | slice = ALL_ROWS) -> Floats:
        """The belief in every code about some rows, float (n, n_codes)."""
        wanted, of_row = np.unique(self.signature[rows], return_inverse=True)
        probability = np.zeros((len(wanted), self.n_codes))
        done = 0
        while done < len(wanted):
            entries = self.leading(wanted[done:])
            probability[done + entries.cell, entries.code] = entries.share
            done += len(entries)
        return probability[of_row]


def n_fitting(sizes: Int64) -> int:
    """How many of the first of some beliefs, of these sizes, fit into memory: at least one."""
    return max(1, int(np.searchsorted(np.cumsum(sizes), MOST_ENTRIES, side="right")))


def side_by_side(found: Sequence[Entries], codes: Sequence[Int64]) -> tuple[Int64, Int64, Floats]:
    """The shares of several sources about the same people, 0 where one has none.

    `codes` has the codes of the entries of each. Returns the person and the code of each pair for which some source has
    a share, ascending, and the shares, float (n_sources, n_pairs).
    """
    of_entries = np.concatenate([entries.cell for entries in found])
    place, person, code, _ = numbered_inside_groups(of_entries, np.concatenate(codes))
    shares = np.zeros((len(found), len(person)))
    source = owners([len(entries.code) for entries in found])
    shares[source, place] = np.concatenate([entries.share for entries in found])
    return person, code, shares


@record
class GroupPosterior(SignaturePosterior):
    """Beliefs that follow from the person's own group in each fragment, which are independent evidence.

    `cells` int64 (n_signatures,) are the cells of each signature in a fragment, and `entries` the values of its cells.
    `table` float (n_codes,) is the table's distribution.
    """

    cells: tuple[Int64, ...]
    entries: tuple[Entries, ...]
    table: Floats

    def leading(self, signatures: Int64) -> Entries:
        """The values in the cell of each signature, of several fragments joined."""
        sizes = sum(entries.sizes[cells[signatures]] for cells, entries in zip(self.cells, self.entries, strict=True))
        some = signatures[: n_fitting(np.asarray(sizes))]
        found = [entries.some(cells[some]) for cells, entries in zip(self.cells, self.entries, strict=True)]
        return found[0] if len(found) == 1 else self._joined(found)

    def _joined(self, found: list[Entries]) -> Entries:
        """Of each signature the independent evidence of several fragments: q times the product of the D_i / q."""
        signature, code, evidence = side_by_side(found, [entries.code for entries in found])
        probability = self.table[code] * np.prod(evidence / self.table[code], axis=0)
        total = np.bincount(signature, weights=probability, minlength=len(found[0]))[signature]
        joined = np.where(total > 0, probability / np.where(total > 0, total, 1.0), evidence.mean(axis=0))
        there = np.flatnonzero(joined)
        start = starts_of(np.bincount(signature[there], minlength=len(found[0])))
        return Entries(start, code[there], joined[there])


@record
class BucketPosterior(SignaturePosterior):
    """Beliefs that follow from all buckets that may hold the person.

    `cells` int64 (n_signatures, n_factors) are what each signature shows; `columns`, `lead`, `lead_start` and
    `lead_cells` are what the kernel reads of the buckets.
    """

    cells: Int64
    columns: Columns
    lead: int
    lead_start: Int64
    lead_cells: Int64

    def leading(self, signatures: Int64) -> Entries:
        """The values in the buckets that match each signature."""
        found = slicing_posterior(
            self.columns,
            self.cells[signatures],
            self.lead,
            self.lead_start,
            self.lead_cells,
            self.n_codes,
            MOST_ENTRIES,
        )
        return Entries(*found)


@measure(title="Beliefs about people")
@checked
def sensitive_posterior(release: Release, attribute: str) -> Floats:
    """The belief p(t, s) that the person of row t has the sensitive value of code s.

    The adversary knows every quasi-identifier of the person and that they are in the table. Where one person may have
    several rows (`Microdata.unit`), they know what the quasi-identifiers are in row t, shares are those of different
    people, and p(t, s) is the belief that the person has s in one of their rows there: several beliefs about a person
    may be large at once.

    - In a release of one fragment (generalization) the worst case counts: the adversary can map people to groups even
      where regions overlap. So p is the distribution in the person's own group; where rows of a group show different
      cells of a quasi-identifier, only among the rows that show the person's.
    - In fragments that share a partition (slicing, bucketization), p(t, s) is the sum over buckets B of p(t, B) times
      D(t, B)[s]. f_i(t, B) is the share of B's rows whose column i shows the person's published quasi-identifier cells,
      p(t, B) is in proportion to the product of the f_i, and D(t, B) is the distribution of s among the rows of B whose
      sensitive column shows the person's cells. Columns that share attributes agree on them: f(t, B) D(t, B)[s] is then
      the expected share of B's rows that show the cells and s when the columns are linked at random among equal shared
      values.
    - In fragments with partitions of their own, the person's groups in the fragments that publish the attribute are
      independent evidence: p is in proportion to q(s) times the product of D_i(s) / q(s), where q is the table's
      distribution. Where that contradicts itself, p is the mean of the D_i.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.

    Returns
    -------
    ndarray of float, shape (n_rows, m)
        The belief in each of the m codes for each person, in original row order; every row sums to 1, or to 1 and more
        where people are counted.

    Raises
    ------
    ReleaseError
        Where the attribute's single values are not published, or the columns overlap in a way that is not computed.

    Notes
    -----
    Assumes: the adversary knows every quasi-identifier of a person and that the person is in the table.
    Cost: people who look alike are computed once; buckets count only where they show the person's values.
    Use: beliefs person by person are needed, such as for own measures.
    Avoid: a number for the whole release is enough: see `attribute_disclosure`.

    References
    ----------
    Slicing paper, section 3.2; foreground-knowledge paper, section 5 (mapping people to groups).

    Examples
    --------
    One bucket has two people from J, who have the flu; one has a person from J and one from A, with flu and gout. So
    somebody from J is in the first bucket with 2/3 and has the flu with 2/3 + 1/3 * 1/2 = 5/6:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> attacks.sensitive_posterior(release, "disease")[0].round(3).tolist()
    [0.833, 0.167]
    """
    release.require_people("What is believed of a person follows from the group that holds their row")
    return signature_posterior(release, attribute).dense()


def signature_posterior(release: Release, attribute: str) -> SignaturePosterior:
    """What `sensitive_posterior` gives, computed once for all people of one signature."""
    release.fragment_of(attribute)
    release.require_linked(_known(release, attribute) | (set() if release.is_shared else {attribute}))
    if len(release.fragments) > 1 and release.is_shared:
        return _linked_by_buckets(release, attribute)
    return _own_groups(release, attribute)


def _known(release: Release, attribute: str) -> set[str]:
    return set(release.data.quasi_identifiers) - {attribute}


def _own_groups(release: Release, attribute: str) -> SignaturePosterior:
    n_codes = len(release.data.domain[attribute])
    cells_of, entries_of = [], []
    for fragment in fragments_of(release, attribute):
        key = key_inside_groups(fragment, _known(release, attribute))
        cells = Cells.of(fragment.partition, key, release.data.people)
        cells_of.append(cells.of_row)
        entries_of.append(Entries.of(fragment, cells, attribute, n_codes))
    signature, first = cells_of[0], np.arange(len(entries_of[0]))
    if len(cells_of) > 1:
        signature = dense_key(cells_of, release.data.n_rows)
        rows = first_rows(signature)
        cells_of = [of_row[rows] for of_row in cells_of]
    else:
        cells_of = [first]
    table = table_distribution(release, attribute)
    return GroupPosterior(signature, len(cells_of[0]), n_codes, tuple(cells_of), tuple(entries_of), table)


def table_distribution(release: Release, attribute: str) -> Floats:
    """The share of the original table's people with each value, float (m,), which guessing without the release goes by.

    The shares add up to 1 where every row is another person.
    """
    people = release.data.people
    if people is not None:
        return distinct_pairs(people, release.data.counted_codes(attribute), len(release.data.domain[attribute])) / (
            release.data.n_people
        )
    counts = np.bincount(release.data.counted_codes(attribute), minlength=len(release.data.domain[attribute]))
    return counts / release.data.n_rows


@record
class BucketFactor:
    """What one column shows of some attributes; with `power` -1, what two overlapping columns both show of them.

    The belief multiplies the factors of power 1 and divides by those of power -1, which are counted twice otherwise.
    """

    fragment: Fragment
    known: frozenset[str]
    is_sensitive: bool
    power: int


def bucket_factors(release: Release, attribute: str) -> list[BucketFactor]:
    """The columns that show a quasi-identifier or the attribute, in published order, then the links between columns.

    Raises ReleaseError for columns that overlap in a ring or share what the adversary does not know.
    """
    known = _known(release, attribute)
    fragments = release.fragments
    through = links([fragment.attributes for fragment in fragments])
    hidden = sorted(name for link in through for name in link.attributes - known - {attribute})
    if hidden:
        raise ReleaseError(
            f"Several columns publish {listing(hidden)}, which the adversary does not know; "
            f"beliefs about '{attribute}' are not computed for such columns."
        )
    parts = [(fragment, frozenset(fragment.attributes), 1) for fragment in fragments]
    parts += [(fragments[link.parent], link.attributes, -1) for link in through]
    return [
        BucketFactor(fragment, names & known, attribute in names, power)
        for fragment, names, power in parts
        if attribute in names or names & known
    ]


def _linked_by_buckets(release: Release, attribute: str) -> SignaturePosterior:
    factors = bucket_factors(release, attribute)
    keys, signature, shown = _signatures(release, factors)
    return bucket_posterior(release, attribute, factors, keys, signature.astype(np.int64), shown)


def _signatures(release: Release, factors: Sequence[BucketFactor]) -> tuple[tuple[Codes, ...], Codes, Int64]:
    """What each factor shows of the rows, as numbers int32 (n_rows,), the signature of each row, int32 (n_rows,), and
    what each signature shows, int64 (n_signatures, n_factors).

    Releases of a table that put the same exact attributes side by side share them.
    """

    def numbered() -> tuple[tuple[Codes, ...], Codes, Int64]:
        keys = tuple(published_key(factor.fragment, factor.known).astype(np.int32) for factor in factors)
        signature = dense_key(keys, release.data.n_rows)
        first = first_rows(signature)
        shown = np.column_stack([key[first] for key in keys]).astype(np.int64)
        return keys, signature.astype(np.int32), shown

    for factor in factors:
        for name in factor.known:
            recoding = factor.fragment.recodings[name]
            if not isinstance(recoding, Exact) or recoding.codes is not release.data.codes[name]:
                return numbered()
    # Numbers follow the published order of the attributes.
    asked = tuple(
        (tuple(name for name in factor.fragment.recodings if name in factor.known), factor.power) for factor in factors
    )
    return cached(release.data, "signatures", asked, numbered, MOST_KEPT)


def bucket_posterior(
    release: Release,
    attribute: str,
    factors: list[BucketFactor],
    keys: Sequence[Int64 | Codes],
    signature: Int64,
    shown: Int64,
) -> BucketPosterior:
    """p(t, s) of people by the cells that they show.

    `keys` number what each factor shows of the rows, (n_rows,) each; `shown` int64 (n_signatures, n_factors) are
    such numbers, of people who fit at least one bucket, and `signature` those among these people who have the rows.
    """
    n_codes = len(release.data.domain[attribute])
    cells = [Cells.of(release.partition, key, release.data.people) for key in keys]
    starts = starts_of([len(one) for one in cells])
    lead = int(np.argmax([int(key.max()) for key in keys]))
    lead_cells, lead_starts = grouped_rows(cells[lead].value, int(keys[lead].max()) + 1)
    return BucketPosterior(
        signature,
        len(shown),
        n_codes,
        shown,
        _columns(factors, cells, starts, attribute, n_codes),
        lead,
        lead_starts,
        starts[lead] + lead_cells,
    )


def _columns(factors: list[BucketFactor], cells: list[Cells], starts: Int64, attribute: str, n_codes: int) -> Columns:
    sensitive = [column for column, factor in enumerate(factors) if factor.is_sensitive]
    entries = {column: Entries.of(factors[column].fragment, cells[column], attribute, n_codes) for column in sensitive}
    sizes = [
        np.diff(entries[column].start) if column in entries else np.zeros(len(cells_of_column), np.int64)
        for column, cells_of_column in enumerate(cells)
    ]
    return Columns(
        bucket_start=np.array([start + one.starts for one, start in zip(cells, starts, strict=False)]),
        bucket=np.concatenate([cells_of_column.group for cells_of_column in cells]),
        value=np.concatenate([cells_of_column.value for cells_of_column in cells]),
        share=np.concatenate([cells_of_column.share for cells_of_column in cells]),
        power=np.array([factor.power for factor in factors], np.int64),
        sensitive=np.array(sensitive, np.int64),
        entry_start=starts_of(np.concatenate(sizes)),
        entry_code=np.concatenate([entries[column].code for column in sensitive]),
        entry_share=np.concatenate([entries[column].share for column in sensitive]),
        entry_total=np.concatenate(
            [
                entries[column].totals if column in entries else np.ones(len(cells_of_column))
                for column, cells_of_column in enumerate(cells)
            ]
        ),
    )
