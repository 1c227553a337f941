"""Why a release with a seed that somebody gave gets no certificate: tables tell whoever guesses it so."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian, StackAndDeal, Suppression
from anoncore.base.random_numbers import fresh_seed, is_guessable
from anoncore.publishing import Certificate, certify, new_key, publish, release_archive, release_files, verify
from anoncore.requirements import KAnonymity
from anoncore.search import Target, candidates, default_candidates

SEED = 12_345
TRIED = 20_000


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    n = 600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "zip": rng.permutation(10_000)[:n],
            "illness": rng.choice(list("abcde"), n, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
        }
    )
    return Microdata(frame, roles={"age": "quasi-identifier", "zip": "quasi-identifier", "illness": "sensitive"})


def deviations(tables, seeds):
    """How far the rows of a bucket lie apart in the order that each seed deals them in, in standard deviations.

    Anatomy deals a shuffled table, and rows that are dealt together stood at about the same share of their values. The
    order before the shuffle is that of content, which the published quasi-identifiers tell.
    """
    known = tables["quasi-identifiers"].sort_values(["age", "zip"])
    bucket = known["group"].to_numpy()
    n, sizes = len(bucket), np.bincount(bucket)
    spreads = np.empty(len(seeds))
    place = np.empty(n)
    for number, seed in enumerate(seeds):
        place[np.random.default_rng(seed).permutation(n)] = np.arange(n)
        spreads[number] = np.mean((place - (np.bincount(bucket, place) / sizes)[bucket]) ** 2)
    return (spreads - spreads.mean()) / spreads.std()


@pytest.mark.slow
def test_a_seed_is_singled_out_by_the_published_tables_alone(data):
    found = deviations(Anatomy(l=3, seed=SEED).anonymize(data).tables(), range(TRIED))
    assert found.argmin() == SEED
    assert found[SEED] < -15
    assert np.delete(found, SEED).min() > -6


@pytest.mark.slow
def test_a_drawn_seed_is_not_among_those_that_can_be_tried(data):
    seed = fresh_seed()
    tables = Anatomy(l=3, seed=seed).anonymize(data).tables()
    assert deviations(tables, range(TRIED // 4)).min() > -6
    assert deviations(tables, [*range(200), seed]).argmin() == 200  # it would be seen if it were tried


def test_seeds_that_are_drawn_have_128_bits():
    drawn = [fresh_seed() for _ in range(200)]
    assert len(set(drawn)) == 200
    assert all(0 <= seed < 2**128 for seed in drawn)
    assert max(drawn) >= 2**127
    assert sum(bin(seed).count("1") for seed in drawn) / (200 * 128) == pytest.approx(0.5, abs=0.03)
    assert not any(map(is_guessable, drawn))
    assert not is_guessable(None)
    assert is_guessable(0)
    assert is_guessable(2**64 - 1)
    assert not is_guessable(2**64)


def test_searches_draw_theirs_so(data):
    for tried in (
        candidates({"stack-and-deal": {"k": [2, 3]}, "anatomy": {"l": [2]}}, data),
        default_candidates(data, [Target("k", 4)], methods=["stack-and-deal", "mask"]),
    ):
        seeds = [seed for one in tried for seed in one.seeds]
        assert seeds
        assert not any(one.has_guessable_seed for one in tried)
        assert all(seed >= 2**64 for seed in seeds)


def test_no_certificate_without_being_asked_by_name(data, tmp_path):
    release = Anatomy(l=3, seed=SEED).anonymize(data)
    for work in (
        lambda **more: certify(release, new_key(), **more),
        lambda **more: release_files(release, "people", new_key(), **more),
        lambda **more: release_archive(release, "people", new_key(), **more),
        lambda **more: publish(release, tmp_path / "out", "people", new_key(), **more),
    ):
        with pytest.raises(ReleaseError, match=r"whoever guesses the seed.*guessable_seed=True"):
            work()
        assert not (tmp_path / "out").exists()
        work(guessable_seed=True)
    text = certify(release, new_key(), guessable_seed=True).dumps()
    assert str(SEED) not in text
    assert json.loads(text)["method"]["seed"].startswith("given by whoever made the release: whoever guesses it")
    assert any("Whoever guesses that seed" in one for one in json.loads(text)["not_checked"])


@pytest.mark.parametrize("seed", [SEED, None])
def test_whoever_verifies_is_told_of_a_given_seed(data, seed):
    release = Anatomy(l=3, seed=fresh_seed() if seed is None else seed).anonymize(data)
    files = release_files(release, "people", new_key(), guessable_seed=True)
    certificate = Certificate.loads(files.pop("people-certificate.json"))
    found = verify(certificate, files)
    told = [one.sentence for one in found.of("claimed")]
    assert (found.code, len(told)) == ((0, 0) if seed is None else (3, 1))
    assert all("follow from a seed that was given" in one for one in told)
    assert certificate.method is not None
    method = certificate.method.model_copy(update={"seed": "proven to be safe"})
    found = verify(certificate.model_copy(update={"method": method}), files)
    assert [one.sentence for one in found.of("claimed")] == [
        "The certificate says of the seed of the random choices: 'proven to be safe'."
    ]


def test_a_seed_of_a_method_inside_counts(data):
    inner = StackAndDeal(k=3, seed=5)
    release = Suppression(method=inner).anonymize(data)
    with pytest.raises(ReleaseError, match="whoever guesses the seed"):
        certify(release, new_key())
    drawn = Suppression(method=inner.replace(seed=fresh_seed())).anonymize(data)
    assert "left out" in certify(drawn, new_key()).method.seed
    plain = certify(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data), new_key())
    assert plain.method.seed == "the method makes no random choices"
