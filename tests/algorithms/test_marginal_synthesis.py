"""Marginal synthesis: cells that are public, a process of its own, and a release of nobody's rows.

What OpenDP does is tried where it is installed; everything around it is tried with a process that follows a script.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import AnonymizationError, CancelledError, DataError, Microdata, ParameterError, Recipe, privacy, utility
from anoncore.algorithms import MarginalSynthesis
from anoncore.algorithms.synthesis import marginal_synthesis
from anoncore.algorithms.synthesis.marginal_synthesis import NEEDED, generated
from anoncore.algorithms.synthesis.noisy_marginals import budget, selection
from anoncore.algorithms.synthesis.public_cells import public_cells
from anoncore.base.extras import MissingPackageError, why_missing
from anoncore.cli import main
from anoncore.measures import verdict
from anoncore.publishing import Certificate, new_key, release_files, verify
from anoncore.publishing.report import Subject, report
from anoncore.recipes.source import Source
from anoncore.search.candidates import candidates
from tests.hidden_packages import hide

needs_opendp = pytest.mark.skipif(bool(why_missing(*NEEDED)), reason="OpenDP is not installed (extra dp)")
ROLES = {"name": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "disease": "sensitive"}


def people(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """People of whom the young mostly have the flu and the old mostly gout."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    often = np.where(age[:, None] < 45, [0.8, 0.15, 0.05], [0.05, 0.15, 0.8])
    disease = np.array(["flu", "cold", "gout"])[(rng.random(n)[:, None] > often.cumsum(axis=1)).sum(axis=1)]
    return pd.DataFrame(
        {"name": [f"p{row}" for row in range(n)], "age": age, "town": rng.choice(list("ABCD"), n), "disease": disease}
    )


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """Let the generator give back the cells that it gets, and two rows more; what it was asked for."""
    asked = []

    def made(cells, order, progress):
        asked.append(dict(order))
        progress(1.0, "Copying")
        return np.concatenate((cells[::-1], cells[:2]))

    monkeypatch.setattr(marginal_synthesis, "why_missing", lambda *needed: "")
    monkeypatch.setattr(marginal_synthesis, "generated", made)
    return asked


def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let the process run this script instead; `order` and `cells` are what it was sent."""
    start = (
        "import io, json, os, sys, time\nimport numpy as np\norder = json.loads(sys.stdin.buffer.readline())\n"
        "cells = np.load(io.BytesIO(sys.stdin.buffer.read()))\nout = sys.stdout.buffer\n"
        "def tell(**answer):\n    out.write(json.dumps(answer).encode() + b'\\n'); out.flush()\n"
    )
    path = tmp_path / "scripted.py"
    path.write_text(start + text, encoding="utf-8")
    monkeypatch.setattr(marginal_synthesis.noisy_marginals, "__file__", str(path))


CELLS = np.arange(6, dtype=np.int32).reshape(3, 2)


def test_cells_go_to_the_process_and_back_with_its_progress(tmp_path, monkeypatch):
    script(
        tmp_path,
        monkeypatch,
        "tell(share=0.5, text='Half')\ntime.sleep(0.5)\ncontent = io.BytesIO()\n"
        "np.save(content, cells + order['more'])\ntell(table=len(content.getvalue()))\nout.write(content.getvalue())\n",
    )
    told = []
    made = generated(CELLS, {"more": 3}, lambda share, text: told.append((share, text)))
    assert made.tolist() == (CELLS + 3).tolist()
    assert (0.5, "Half") in told
    assert [share for share, _ in told] == sorted(share for share, _ in told)


def test_a_table_that_is_no_longer_wanted_ends_its_process_at_once(tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, "tell(share=0.1, text=str(os.getpid()))\ntime.sleep(600)\n")
    seen = []

    def progress(_share: float, text: str) -> None:
        if text.isdigit():
            seen.append(int(text))
            raise CancelledError("The work was cancelled.")

    begin = time.monotonic()
    with pytest.raises(CancelledError):
        generated(CELLS, {}, progress)
    assert time.monotonic() - begin < 60
    assert not psutil.pid_exists(seen[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tell(problem='ValueError: too little')", "OpenDP made no table: ValueError: too little."),
        ("os._exit(9)", "its process ended, for example because there was not enough memory"),
        ("raise ValueError", "its process ended"),
    ],
)
def test_what_goes_wrong_in_the_process_is_said(tmp_path, monkeypatch, text, words):
    script(tmp_path, monkeypatch, text)
    with pytest.raises(AnonymizationError, match=words):
        generated(CELLS, {}, lambda share, text: None)


def numeric(values, **more) -> Microdata:
    return Microdata(pd.DataFrame({"x": values}), {"x": "insensitive"}, **more)


@given(
    st.lists(st.one_of(st.integers(-40, 90), st.none()), min_size=1, max_size=40),
    st.integers(2, 9),
    st.lists(st.integers(-60, 120), min_size=2, max_size=6, unique=True) | st.just([]),
)
def test_every_number_lies_in_the_range_of_its_cell_and_is_drawn_again_from_it(values, bins, given_ends):
    data = numeric(pd.array(values, dtype="Int64"), kinds={"x": "numeric"})
    domain, ends = data.domain["x"], sorted(given_ends)
    if not domain.values:
        return
    found = public_cells(domain, bins, ends)
    cells = np.repeat(np.arange(found.size, dtype=np.int32), 50)
    drawn = found.values(cells, np.random.default_rng(0))
    if found.first is None:
        assert len(domain.values) <= bins
        assert drawn[drawn.notna()].isin(domain.values).all()
        return
    low, high = (ends[0], ends[-1]) if ends else (domain.values[0], domain.values[-1])
    assert (found.first[0], found.last[-1]) == (low, high)
    assert (found.first[1:] == found.last[:-1] + 1).all()
    for code, value in enumerate(domain.values):
        cell = found.of_code[code]
        assert found.first[cell] <= min(max(value, low), high) <= found.last[cell]
    missing = cells == len(found.first)
    assert (drawn.isna() == missing).all()
    inside = drawn[~missing].to_numpy(dtype=np.int64)
    assert (inside >= found.first[cells[~missing]]).all()
    assert (inside <= found.last[cells[~missing]]).all()
    if len(ends) == 2:
        widths = found.last - found.first + 1
        assert widths.max() - widths.min() <= 1, "ranges are equally wide, as far as whole numbers allow"
        assert len(widths) == min(bins, high - low + 1)


def test_ends_that_matter_are_kept_apart():
    gain = public_cells(numeric([0, 0, 0, 15024, 99999, 7]).domain["x"], 2, [0, 1, 5000, 100_000])
    assert list(zip(gain.first.tolist(), gain.last.tolist(), strict=True)) == [(0, 0), (1, 4999), (5000, 100_000)]
    assert gain.of_code.tolist() == [0, 1, 2, 2]
    assert set(gain.values(np.zeros(9, dtype=np.int32), np.random.default_rng())) == {0}


def test_numbers_keep_their_decimals_and_dates_their_days():
    grams = public_cells(numeric([0.25, 1.5, 2.75, 9.0]).domain["x"], 2)
    drawn = grams.values(np.repeat([0, 1], 200).astype(np.int32), np.random.default_rng(1))
    assert (drawn == drawn.round(2)).all()
    assert (drawn != drawn.round(1)).any()
    assert drawn.between(0.25, 9.0).all()
    for zone in (None, "Europe/Berlin"):
        days = pd.Series(pd.date_range("2020-01-01", periods=40, tz=zone))
        found = public_cells(numeric(days).domain["x"], 4, ["2020-01-01", "2020-12-31"])
        drawn = found.values(np.repeat([0, 3], 100).astype(np.int32), np.random.default_rng(2))
        assert (drawn == drawn.dt.normalize()).all()
        assert (drawn[:100].dt.month <= 4).all()
        assert (drawn[100:].dt.month >= 9).all()
        assert drawn.dtype.kind == "M" or str(drawn.dt.tz) == zone


@pytest.mark.parametrize(
    ("values", "ends", "words"),
    [
        (["a", "b", "c"], [0, 1], "'x' is not numeric, so it has no ranges"),
        (range(40), [0], "need at least two ends, from the smallest to the largest"),
        (range(40), [3, 1], "need at least two ends"),
        (range(40), [0, 0.2, 0.4, 9], "No value of 'x' lies in range 2 of the 3"),
        (range(40), ["low", "high"], "have an end that is no number: 'low', 'high'"),
    ],
)
def test_ranges_that_do_not_fit_are_refused(values, ends, words):
    with pytest.raises(ParameterError, match=words):
        public_cells(numeric(list(values)).domain["x"], 4, ends)


def test_the_release_is_nobodys_and_says_what_was_promised(copying):
    data = Microdata(people(), ROLES)
    algorithm = MarginalSynthesis(epsilon=0.5, delta=1e-7, ranges={"age": [18, 99]})
    told = []
    release = algorithm.anonymize(data, lambda share, text: told.append(share))
    assert copying == [{"sizes": [16, 4, 3], "epsilon": 0.5, "delta": 1e-7, "contributions": 1}]
    assert told == sorted(told)
    assert told[-1] == 1
    assert release.is_synthetic
    assert (release.n_records, release.attributes) == (402, ("age", "town", "disease"))
    assert release.algorithm == algorithm
    table = release.tables()["release"]
    assert table["age"].between(18, 99).all()
    assert table["disease"].value_counts(normalize=True)["gout"] == pytest.approx(
        (people()["disease"] == "gout").mean(), abs=0.01
    )
    (promise,) = privacy.personal_guarantees(release)
    assert (promise.attribute, promise.asked, promise.level) == (None, 0.5, "epsilon = 0.5, delta = 1e-07")
    assert privacy.guarantees(release) == ()
    found = verdict(release)
    assert found.headline == "What the method promises of everybody no table can show."
    assert found.promised == (promise.sentence,)
    assert not found.held
    assert not found.is_good
    assert 0 < float(utility.two_way_error(release)) < 0.9


def test_what_counts_as_public_is_said_and_nothing_counted_of_the_original(copying):
    data = Microdata(people(), ROLES)
    notes = " ".join(MarginalSynthesis().anonymize(data).notes)
    assert "The smallest and largest number of 'age' come from the table and count as public." in notes
    assert "The values of 'town', 'disease' that occur come from the table and count as public." in notes
    given = " ".join(MarginalSynthesis(ranges={"age": [0, 120]}).anonymize(data).notes)
    assert "smallest and largest" not in given


def test_a_certificate_says_that_it_cannot_be_rechecked(copying):
    data = Microdata(people(), ROLES)
    release = MarginalSynthesis(epsilon=2.0).anonymize(data)
    key = new_key()
    files = release_files(release, "made", key)
    certificate = Certificate.loads(files.pop("made-certificate.json"))
    (promise,) = certificate.people
    assert (promise.attribute, promise.asked, promise.rechecked) == (None, 2.0, False)
    assert "No table can show an epsilon, so nothing re-checks it." in promise.sentence
    assert promise.sentence in certificate.not_checked
    assert any("number of rows of the original stands here without noise" in one for one in certificate.not_checked)
    assert certificate.requirements == []
    assert "nothing can repeat them" in certificate.method.seed
    found = verify(certificate, files, data=data, key=key)
    assert found.code == 3
    about = [one for one in found.findings if one.check == "promise about everybody"]
    assert [(one.outcome, "no table can show how much noise" in one.sentence) for one in about] == [("claimed", True)]
    changed = {"made.csv": files["made.csv"].replace(b"gout", b"flu", 1)}
    assert verify(certificate, changed).of("fails")


def test_report_and_recipe_name_the_promise(copying):
    data = Microdata(people(), ROLES)
    algorithm = MarginalSynthesis(epsilon=2.0, bins=8, ranges={"age": (18, 50, 99)}, contributions=3)
    release = algorithm.anonymize(data)
    text = report([Subject("Synthesis", release)])
    assert "epsilon = 2, delta = 1e-06 for every person with at most 3 rows each" in text
    assert "age: 18, 50, 99" in text
    assert "its random choices come from the system, and nothing can repeat them" in text
    assert "What a table of nobody&#39;s rows gives away is not measured by itself" in text
    recipe = Recipe.of(Source(path="people.csv"), data, algorithm, ("utility.two_way_error",))
    assert Recipe.loads(recipe.dumps()).algorithm == algorithm
    assert recipe.dumps().count("epsilon = 2.0") == 1


def test_the_command_line_makes_it_and_says_what_is_promised(copying, tmp_path, capsys):
    people().to_csv(tmp_path / "people.csv", index=False)
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    (tmp_path / "made.toml").write_text(
        f'measures = ["utility.two_way_error"]\n[source]\npath = "people.csv"\n[roles]\n{roles}\n'
        '[algorithm]\nname = "dp-marginals"\nepsilon = 0.5\nranges = {age = [18, 99]}\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "made.toml"), "--output", str(out), "--report"]) == 0
    told = capsys.readouterr().out
    assert "Marginal synthesis: 402 synthetic rows" in told
    assert "Promised: differential privacy with epsilon = 0.5, delta = 1e-06 for every person" in told
    assert "holds" not in told
    assert main(["verify", str(out / "made-release-certificate.json")]) == 3
    claimed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("claimed, not checked: ")]
    assert len(claimed) == 1
    assert "no table can show how much noise went into it" in claimed[0]
    assert main(["sweep", str(tmp_path / "made.toml"), "--try", "dp-marginals epsilon=0.5,2"]) == 0
    assert "dp-marginals (epsilon = 2.0" in capsys.readouterr().out


def test_several_rows_of_one_person_need_a_number(copying):
    frame = people(60).assign(name=lambda one: one["name"].str.slice(0, 2))
    data = Microdata(frame, ROLES, unit="name")
    most = int(frame["name"].value_counts().max())
    with pytest.raises(DataError, match=r"One person may have several rows by 'name'.*`contributions`"):
        MarginalSynthesis().anonymize(data)
    with pytest.raises(DataError, match=f"Somebody has more than the {most - 1} rows"):
        MarginalSynthesis(contributions=most - 1).validate_data(data)
    MarginalSynthesis(contributions=most).anonymize(data)
    assert copying[-1]["contributions"] == most


def test_only_attributes_that_can_be_counted_are_taken(copying):
    frame = people(1200).assign(constant=1, code=lambda one: one["name"])
    data = Microdata(frame, {"name": "identifier", "*": "insensitive"})
    with pytest.raises(DataError, match="'code' has 1,200 values, and noise hides"):
        MarginalSynthesis().anonymize(data)
    release = MarginalSynthesis(attributes=("disease", "constant", "age")).anonymize(data)
    assert release.attributes == ("age", "disease", "constant")
    assert set(release.tables()["release"]["constant"]) == {1}
    with pytest.raises(DataError, match="needs at least two"):
        MarginalSynthesis(attributes=("disease", "constant")).validate_data(data)
    with pytest.raises(ParameterError, match="Ranges are given of 'age'"):
        MarginalSynthesis(attributes=("disease", "town"), ranges={"age": [0, 9]}).validate_data(data)
    with pytest.raises(DataError, match="height"):
        MarginalSynthesis(attributes=("disease", "height")).validate_data(data)


def test_without_opendp_everybody_is_told_how_to_install_it(monkeypatch, capsys, tmp_path):
    hide(monkeypatch, "opendp", "mbi")
    sentence = why_missing(*NEEDED)
    for ask in (MarginalSynthesis().validate_data, MarginalSynthesis().anonymize):
        with pytest.raises(MissingPackageError, match=r"install (it|them) with: pip install 'anoncore\[dp\]'"):
            ask(Microdata(people(), ROLES))
    assert MarginalSynthesis.why_unavailable() == sentence
    main(["algorithms"])
    assert sentence in " ".join(capsys.readouterr().out.split())
    recipe = tmp_path / "made.toml"
    recipe.write_text(
        'format = 2\n[source]\npath = "people.csv"\n[roles]\nage = "quasi-identifier"\n'
        '[algorithm]\nname = "dp-marginals"\n',
        encoding="utf-8",
    )
    people().to_csv(tmp_path / "people.csv", index=False)
    for command in ("recipe", "script"):
        assert main([command, str(recipe)]) == 0
        assert sentence in " ".join(capsys.readouterr().err.split()), command
    for command in ("run", "evaluate"):
        assert main([command, str(recipe)]) == 2
        assert sentence in " ".join(capsys.readouterr().err.split()), command


def test_epsilon_is_an_axis_of_a_sweep():
    data = Microdata(people(), ROLES)
    found = candidates({"dp-marginals": {"epsilon": [0.5, 1, 2]}}, data)
    assert [one.epsilon for one in found] == [0.5, 1.0, 2.0]


@needs_opendp
@pytest.mark.slow
def test_the_budget_of_selections_adds_up_whatever_epsilon_and_number_of_attributes():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-6), (1.0, 0.0), (3.7, 1e-9)):
        loss = budget(dp, epsilon, delta)
        for n_pairs in range(1, 40):
            n_selected, share = selection(dp, loss, n_pairs)
            assert n_selected == n_pairs or (n_selected == n_pairs - 1 and n_pairs % 4 == 0)
            assert 0.87 <= share <= 0.9


@needs_opendp
@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_rho_is_what_keeps_epsilon_and_delta(epsilon):
    """Bun and Steinke (2016): rho gives epsilon = rho + 2 sqrt(rho ln(1/delta)), which is above what is needed."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    delta = 1e-6
    _, rho = budget(dp, epsilon, delta)
    loose = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    assert loose <= rho <= 2 * loose
    assert budget(dp, epsilon, 0.0)[1] == epsilon


@needs_opendp
@pytest.mark.slow
def test_more_epsilon_leaves_less_noise_and_nothing_of_it_is_imported_here():
    data = Microdata(people(3_000), ROLES)
    costs = [
        float(utility.two_way_error(MarginalSynthesis(epsilon=epsilon, bins=4).anonymize(data, told)))
        for epsilon, told in ((0.02, lambda share, text: None), (20.0, lambda share, text: None))
    ]
    assert costs[1] < 0.15
    assert costs[0] > costs[1] + 0.1
    assert "jax" not in sys.modules


@needs_opendp
@pytest.mark.slow
def test_as_many_attributes_as_opendp_itself_refuses_are_within_the_budget():
    """With nine attributes MST alone ends with an error about its budget, at whatever share for measuring."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"a{place}": rng.integers(0, 3, 500) for place in range(9)})
    release = MarginalSynthesis(epsilon=1.0).anonymize(Microdata(frame, {"a0": "quasi-identifier", "*": "insensitive"}))
    assert len(release.attributes) == 9
    assert 250 < release.n_records < 1_000
