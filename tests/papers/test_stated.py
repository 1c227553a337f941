"""That no statement of a paper is left out silently: the list of statements and the book cover each other."""

from __future__ import annotations

import pytest

from dashboard import reproduction
from dashboard.reproduction import NOT_APPLICABLE
from tests.papers.contents import PAPERS, Paper
from tests.papers.stated import STATED


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_statement_is_judged_and_everything_judged_is_a_statement(paper: Paper):
    judged = {item.label for item in paper.items if not item.reason}
    named = {label for one in STATED[paper.name] for label in one.judged}
    assert named == judged
    assert len({one.text for one in STATED[paper.name]}) == len(STATED[paper.name])


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_results_that_ship_have_all_rows_and_statements(paper: Paper):
    shipped = next(one for one in reproduction.shipped() if one.name == paper.name)
    assert [entry.label for entry in shipped.entries] == [item.label for item in paper.items]
    assert shipped.stated == STATED[paper.name]
    for entry in shipped.entries:
        assert (entry.verdict == NOT_APPLICABLE) == bool(entry.reason)
