"""What attacks say that take every row for another person although the table says whose rows they are."""

from __future__ import annotations

from anoncore.release.release import Release


def rows_counted(release: Release) -> tuple[str, ...]:
    """That rows are counted and not people, as a sentence; nothing where every row is another person."""
    data = release.data
    if data.people is None:
        return ()
    return (
        f"Rows are counted here, not people: each of the {data.n_rows:,} rows is taken for another person, although "
        f"'{data.unit}' says that they are those of {data.n_people:,} people.",
    )
