"""What slicing and random buckets share: fields that choose columns, column generalization, and the sliced release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.slicing.attribute_partition import given_columns, partition_attributes
from anoncore.base.errors import DataError
from anoncore.base.model import TupleOf
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.requirements import Requirement
from anoncore.table.microdata import Microdata

ColumnCount = Annotated[
    int, Field(ge=1, title="Columns", description="Number of columns that the attributes are clustered into.")
]
SensitiveColumnSize = Annotated[
    int | None,
    Field(
        ge=1,
        title="Sensitive column",
        description="Attributes in the sensitive column, itself included; empty: as the clustering has it.",
    ),
]
AttributeColumns = Annotated[
    TupleOf[TupleOf[str]] | None,
    Field(
        min_length=1,
        title="Columns by hand",
        description="The attributes of each column; then nothing is clustered. Columns may share attributes.",
    ),
]
Intervals = Annotated[
    int, Field(ge=2, title="Intervals", description="Numbers are cut into so many intervals to see what correlates.")
]

GROUPING_FIELDS = ("columns", "sensitive_column_size", "intervals")


def choose_columns(
    data: Microdata,
    by_hand: Sequence[Sequence[str]] | None,
    columns: int,
    sensitive_column_size: int | None,
    intervals: int,
) -> tuple[tuple[str, ...], ...]:
    """The columns by hand, or those of the clustering. Raises DataError where they do not fit the table."""
    if by_hand is not None:
        return given_columns(data, by_hand)
    return partition_attributes(data, columns, sensitive_column_size, intervals).columns


def propose_columns(
    data: Microdata, columns: int, sensitive_column_size: int | None, intervals: int
) -> AttributeProposal:
    """The columns that clustering gives, with what they were made from."""
    clustering = partition_attributes(data, columns, sensitive_column_size, intervals)
    return AttributeProposal(
        word="column",
        groups=clustering.columns,
        centre_word="medoid",
        centres=clustering.medoids,
        association=clustering.association,
        measure="phi squared",
        meaning="From 0 (independent) to 1 (one value tells the other): what belongs together stays together.",
        may_overlap=True,
    )


def column_classes(
    data: Microdata, columns: Sequence[Sequence[str]], requirements: Sequence[Requirement]
) -> dict[str, Generalized]:
    """Column generalization: the region of every quasi-identifier's cells.

    Strict Mondrian on each column alone gives regions that do not overlap, each with rows that satisfy the
    requirements. Empty without requirements. Raises DataError for columns that share a quasi-identifier,
    InfeasibleError where the whole table fails a requirement. Source: Li et al., slicing, definition 4, section 4.2.
    """
    if not requirements:
        return {}
    names = [name for column in columns for name in column if name in data.quasi_identifiers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            f"'{twice}' stands in several columns, which cannot be generalized one by one; "
            "put it into one column or drop the column requirements."
        )
    regions: dict[str, Generalized] = {}
    mondrian = Mondrian(requirements=requirements, strict=True)
    for column in columns:
        known = [name for name in column if name in data.quasi_identifiers]
        if known:
            recodings = mondrian.anonymize(data.with_quasi_identifiers(known)).fragments[0].recodings
            regions |= {name: recoding for name in known if isinstance(recoding := recodings[name], Generalized)}
    return regions


def sliced_release(
    data: Microdata,
    partition: Partition,
    columns: Sequence[Sequence[str]],
    algorithm: Algorithm | None = None,
    classes: Mapping[str, Generalized] | None = None,
) -> Release:
    """The sliced table of an attribute partition and a tuple partition.

    One attribute per column is multiset-based generalization; all quasi-identifiers in one column and the sensitive
    attribute in another is bucketization. `classes` are the regions of generalized columns. A single column is joined
    with no other, so its buckets are not published: its groups are the rows whose quasi-identifiers are published
    alike. Source: Li et al., slicing, definition 3 and section 2.
    """
    if len(columns) == 1:
        known = [name for name in columns[0] if name in data.quasi_identifiers]
        cells = [classes[name].content() if classes and name in classes else (data.codes[name],) for name in known]
        partition = Partition.alike([codes for content in cells for codes in content])
    fragments = []
    for number, column in enumerate(columns, start=1):
        recodings: dict[str, Recoding] = {}
        for name in column:
            if classes and name in classes:
                recodings[name] = ColumnRegions(data.domain[name], partition, classes[name])
            else:
                recodings[name] = Exact(data.domain[name], partition, data.codes[name])
        fragments.append(Fragment(f"column {number}", partition, recodings))
    return Release(data, tuple(fragments), algorithm)
