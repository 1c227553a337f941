"""No file that says more than the release, or something else, is accepted; the sentence says what and where."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

import pytest

from anoncore.base.errors import DataError
from anoncore.publishing import Certificate, verify
from anoncore.publishing.certification.certified_tables import ORDER
from tests.publishing.certification.smuggling import METHODS, WAYS, DoesNotApplyError, Way, released, unchanged
from tests.publishing.certification.tables import certificate
from tests.publishing.certification.test_genuine import earlier

CASES = [pytest.param(way, format, id=f"{format}: {way.name}") for way in WAYS for format in way.formats]


@cache
def proof_of(method: str) -> Certificate:
    return certificate(released(method))


@cache
def earlier_proof_of(method: str) -> Certificate:
    return earlier(proof_of(method))


@pytest.mark.parametrize(
    ("way", "format"),
    [
        *CASES[::20],
        *(
            pytest.param(*one.values, id=one.id, marks=pytest.mark.slow)
            for place, one in enumerate(CASES)
            if place % 20
        ),
    ],
)
def test_what_is_smuggled_in_or_changed_is_refused(way: Way, format: str) -> None:
    """In releases of every form for some ways, in one of them for the others, so that each form meets most ways."""
    place = next(place for place, one in enumerate(CASES) if one.id == f"{format}: {way.name}")
    tried = files(way, format) if place % 20 == 0 else [first_release(way, format, place % len(METHODS))]
    for method, content in tried:
        assert way.content is None or content != unchanged(method, format)
        try:
            found = verify(proof_of(method), {"release": content})
            assert not found.holds, f"{method}: {way.name} passes"
            said = [one.sentence for one in found.findings if one.outcome == "fails"]
        except DataError as error:
            said = [str(error)]
        assert any(re.search(way.says, sentence, re.DOTALL) for sentence in said), f"{method}: {said}"


def test_there_are_more_than_forty_ways() -> None:
    assert len({way.name for way in WAYS}) > 40


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(CASES)), ids=[one.id for one in CASES])
def test_a_certificate_of_an_earlier_version_is_judged_by_the_strict_reading(place: int) -> None:
    """It cannot tell digits beyond the fifteenth, types of a format or the order of rows; all else is refused."""
    way, format = CASES[place].values
    method, content = first_release(way, format, place % len(METHODS))
    try:
        found = verify(earlier_proof_of(method), {"release": content})
    except DataError:
        return
    if found.holds:
        said = [one.sentence for one in verify(proof_of(method), {"release": content}).findings]
        assert any("are written otherwise" in one or ORDER in one for one in said), f"{method}: {way.name} passes"


def files(way: Way, format: str) -> list[tuple[str, bytes]]:
    """The releases that a way fits, each with its file."""
    found = []
    for method in METHODS:
        with suppress(DoesNotApplyError):
            found.append((method, way.file(method, format)))
    assert found, "The way fits no release; give it one that has what it changes."
    return found


def first_release(way: Way, format: str, at: int) -> tuple[str, bytes]:
    """A release that a way fits, and its file; the search begins at another method for each case."""
    methods = [*METHODS]
    for method in methods[at:] + methods[:at]:
        with suppress(DoesNotApplyError):
            return method, way.file(method, format)
    raise AssertionError(f"{way.name} fits no release.")
