"""What a release tells about one person."""

from __future__ import annotations

import numpy as np

from anoncore.attacks.posterior import signature_posterior
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Floats, record
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

WITHHELD = "not published"


@record
class PersonView(Result):
    """One row of the table under one release.

    `published` has the text by which each quasi-identifier of the person is published, `group_size` the people of the
    smallest group that the row is in (rows, where every row is another person). `belief` float (m,) is p(t, s) over the
    codes of the sensitive attribute, of the adversary who knows the person's quasi-identifiers, None where the
    attribute's values are not published; `true_code` is the person's own value.
    """

    row: int
    published: dict[str, str]
    group_size: int
    belief: Floats | None
    true_code: int | None


def original_values(data: Microdata, row: int) -> dict[str, str]:
    """The person's quasi-identifiers as the table has them. Raises ParameterError for a row that does not exist."""
    _check(data, row)
    return {name: data.domain[name].text(int(data.codes[name][row])) for name in data.quasi_identifiers}


def person_view(release: Release, row: int, attribute: str | None = None) -> PersonView:
    """What the release tells about the person in `row`, counted from 0 in the original order.

    `attribute`: the sensitive attribute that the adversary is after. Raises ParameterError for a row that does not
    exist.
    """
    data = release.data
    _check(data, row)
    published = {}
    for name in data.quasi_identifiers:
        try:
            recoding = release.recoding(name)
        except ReleaseError:
            published[name] = WITHHELD
            continue
        published[name] = str(recoding.texts(np.array([row]))[0])
    size = min(int(release.people_per_group(fragment)[fragment.partition.group[row]]) for fragment in release.fragments)
    belief = true_code = None
    if attribute is not None:
        true_code = int(data.codes[attribute][row])
        try:
            belief = signature_posterior(release, attribute).dense(np.array([row]))[0]
        except ReleaseError:
            belief = None
    return PersonView(row, published, size, belief, true_code)


def _check(data: Microdata, row: int) -> None:
    if not 0 <= row < data.n_rows:
        raise ParameterError(f"There is no row {row}; the table has rows 0 to {data.n_rows - 1:,}.")
