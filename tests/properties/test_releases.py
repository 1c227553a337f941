"""What must hold of every release of every registered algorithm, on random tables."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Distorted, Exact, Generalized, GroupValues, InfeasibleError, privacy
from tests.properties.published import content, rows
from tests.properties.strategies import IDENTIFIER, tagged_tables
from tests.properties.subjects import FOUND_BY_SEARCH, build, subjects

some = settings(max_examples=4)


def released(name, parameters, table):
    """The release, or None where the table does not allow one; then the early check says the same, if it can know."""
    algorithm, data = build(name, parameters), table.microdata()
    try:
        release = algorithm.anonymize(data)
    except (InfeasibleError, DataError) as error:
        refused = error
    else:
        algorithm.validate_data(data)
        return release
    assert str(refused).endswith((".", ")"))
    if name not in FOUND_BY_SEARCH:
        with pytest.raises(type(refused)):
            algorithm.validate_data(data)
    return None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
@given(table=tagged_tables(), seed=st.integers(0, 3))
@some
def test_a_release_keeps_its_promises_tells_the_truth_and_hides_who_is_who(name, parameters, table, seed):
    before = table.frame.copy(deep=True)
    release = released(name, parameters, table)
    pd.testing.assert_frame_equal(table.frame, before)
    if release is None:
        return
    assert privacy.check(release, build(name, parameters).promises(release.data)) == ()
    check_truth(release)
    check_tables(release)
    check_linking(release, np.random.default_rng(seed))


def check_truth(release):
    """Every cell allows the original value, unless it is said to be distorted."""
    for fragment in release.fragments:
        for attribute, recoding in fragment.recodings.items():
            codes, group = release.data.codes[attribute], fragment.partition.group
            low, high = recoding.bounds()
            if isinstance(recoding, Distorted) or (isinstance(recoding, GroupValues) and recoding.n_changed):
                assert (recoding.original == codes).all()
                continue
            assert (low <= codes).all()
            assert (codes <= high).all()
            if isinstance(recoding, Exact):
                assert (recoding.codes == codes).all()
            if isinstance(recoding, Generalized | GroupValues):
                for number in range(fragment.partition.n_groups):
                    assert set(codes[group == number]) <= set(recoding.values(number))
            assert ((recoding.loss() >= 0) & (recoding.loss() <= 1)).all()


def check_tables(release):
    """Every row is published, under the attributes' names, without identifiers."""
    assert set(release.attributes) <= set(release.data.attributes)
    for fragment, published in zip(release.fragments, release.tables().values(), strict=True):
        assert len(published) == release.data.n_rows
        assert [name for name in published.columns if name in release.attributes] == list(fragment.attributes)
        assert not set(published.columns) & set(release.data.identifiers)
        assert not any(IDENTIFIER in cell for row in rows(published) for cell in row)
        assert published.index.tolist() == list(range(len(published)))


def check_linking(release, rng):
    """A linking of the fragments keeps every column's cells."""
    linked, tables = release.linked(rng), release.tables()
    assert list(linked.columns) == list(release.attributes)
    for attribute in release.attributes:
        published = tables[release.fragment_of(attribute).name]
        assert Counter(rows(linked[[attribute]])) == Counter(rows(published[[attribute]]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
@given(table=tagged_tables(max_rows=20), data=st.data())
@some
def test_the_order_of_rows_and_their_labels_do_not_matter(name, parameters, table, data):
    release = released(name, parameters, table)
    again = released(name, parameters, table.reordered(data.draw(st.permutations(range(len(table.frame))))))
    assert (release is None) == (again is None)
    if release is None:
        return
    assert content(release) == content(again)
