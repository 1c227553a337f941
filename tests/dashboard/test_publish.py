"""The page Publish says what is published, and its files hold exactly that."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import get_args

import pandas as pd
import pytest

from anoncore import Recipe, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian, StackAndDeal, Suppression
from anoncore.base.random_numbers import fresh_seed
from anoncore.cli import main
from anoncore.publishing import Certificate, signed_by, verify
from anoncore.publishing.export import FileFormat
from anoncore.requirements import KAnonymity
from dashboard.elements import routes
from dashboard.serving import own_machine
from dashboard.views import publish, takeaway
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, people, table_of

ALGORITHM = Mondrian(requirements=(KAnonymity(k=6),))


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files of a zip by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_page_shows_what_is_published_and_what_is_not(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    visitor.open("publish")
    head = table_of(visitor, "age", "sex")
    pd.testing.assert_frame_equal(head, run.release.tables()["release"].head(50), check_dtype=False)
    text = visitor.texts()
    assert "Left out as identifiers: name." in text
    assert "**name**: left out, it is an identifier" in text
    assert "**illness**: published as it is" in text
    assert "**age**: generalized to ranges" in text
    assert "k-anonymity (k = 6) holds" in text
    assert visitor.warnings == []


@pytest.mark.parametrize("format", get_args(FileFormat))
def test_files_hold_the_release_and_no_identifier(visitor: Visitor, format: FileFormat) -> None:
    run = add_run(visitor, ALGORITHM)
    proof, file = unpacked(publish._archive(run, format)()).items()
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "excel": pd.read_excel}[format]
    table = read(io.BytesIO(file[1]))
    assert not verify(Certificate.loads(proof[1]), dict([file])).of("fails")
    assert list(table.columns) == ["age", "sex", "town", "illness", "visits"]
    assert len(table) == 240
    assert sorted(table["illness"]) == sorted(people()["illness"])


def test_ranges_are_published_in_the_form_that_is_chosen(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    visitor.open("publish")
    control = next(one for one in visitor.at.segmented_control if one.label == "Ranges of numbers")
    control.set_value("bounds")
    visitor.run()
    head = table_of(visitor, "age_low", "age_high")
    pd.testing.assert_frame_equal(head, run.release.tables("bounds")["release"].head(50), check_dtype=False)
    assert 'numbers = "bounds"' in "".join(one.value for one in visitor.at.code)


def test_without_ranges_there_is_nothing_to_choose(visitor: Visitor) -> None:
    add_run(visitor, Anatomy(l=2))
    visitor.open("publish")
    assert not [one for one in visitor.at.segmented_control if one.label == "Ranges of numbers"]


def test_buckets_come_as_a_zip_of_two_tables(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2))
    visitor.open("publish")
    labels = [button.proto.label for button in visitor.at.download_button]
    assert "CSV (zip of 2 tables)" in labels
    assert "Excel" in labels
    proof, *tables = unpacked(publish._archive(run, "csv")()).items()
    assert not verify(Certificate.loads(proof[1]), dict(tables)).of("fails")
    known, hidden = (pd.read_csv(io.BytesIO(content)) for _, content in tables)
    assert sorted(known["group"].unique()) == sorted(hidden["group"].unique())
    assert "illness" not in known
    assert "joined by the column `group` only" in visitor.texts()


def test_a_seed_of_the_method_inside_is_warned_of_too(visitor: Visitor) -> None:
    add_run(visitor, Suppression(method=StackAndDeal(k=4, seed=11)))
    visitor.open("publish")
    assert "seed 11" in visitor.warnings[0]


def test_a_seeded_run_is_not_for_publication(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2, seed=11))
    visitor.open("publish")
    assert "seed 11" in visitor.warnings[0]
    assert "Don't publish it" in visitor.warnings[0]
    assert "seed" not in takeaway.recipe(run).dumps()
    buttons = {button.proto.label: button for button in visitor.at.download_button}
    certified = [label for label in buttons if label.startswith(("CSV", "Parquet", "Excel", "Certificate"))]
    assert len(certified) == 4
    assert all(buttons[label].proto.disabled for label in certified)
    assert "There is no certificate for a release whose random choices follow from a seed" in visitor.warnings[1]
    visitor.at.checkbox(key=takeaway.guessable_key(run)).check()
    visitor.run()
    buttons = {button.proto.label: button for button in visitor.at.download_button}
    assert not any(buttons[label].proto.disabled for label in certified)
    with pytest.raises(ReleaseError, match="whoever guesses the seed"):
        publish._archive(run, "csv")()


def test_a_seed_that_was_drawn_needs_no_asking(visitor: Visitor) -> None:
    add_run(visitor, Anatomy(l=2, seed=fresh_seed()))
    visitor.open("publish")
    assert not visitor.warnings
    assert not visitor.at.checkbox


def test_the_page_says_by_whose_key_and_what_an_unsigned_certificate_proves(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed; the extra 'sign' has it")
    run = add_run(visitor, ALGORITHM)
    key = tmp_path / "ann"
    assert main(["keygen", "--name", "Ann Lee", "--output", str(key), "--quiet"]) == 0
    visitor.open("publish")
    nobody = "Nobody signs this certificate: it proves what the tables show to everybody who checks it"
    assert nobody in visitor.texts()
    for given, says in ((tmp_path / "none", "cannot be read"), (tmp_path / "ann.pub", "is a public key")):
        visitor.at.text_input(key=takeaway.SIGNING_KEY).set_value(str(given))
        visitor.run()
        assert says in visitor.warnings[0]
        assert nobody in visitor.texts()
    visitor.at.text_input(key=takeaway.SIGNING_KEY).set_value(str(key))
    visitor.run()
    assert not visitor.warnings
    assert "The certificate is signed by Ann Lee's key (SHA256:" in visitor.texts()
    signer = takeaway.Signer(key, None, "Ann Lee's key")
    proof, *tables = unpacked(publish._archive(run, "csv", signer)()).items()
    assert signed_by(proof[1], [tmp_path / "ann.pub"]).sentence == "signed by Ann Lee's key"
    assert not verify(Certificate.loads(proof[1]), dict(tables)).of("fails")
    assert signed_by(str(takeaway._certificate(run, signer).make()), [tmp_path / "ann.pub"]).is_trusted
    monkeypatch.setattr(own_machine, "is_served_alone", lambda: False)
    visitor.run()
    assert "a private key does not belong on a server" in visitor.texts()
    assert not [one for one in visitor.at.text_input if one.key == takeaway.SIGNING_KEY]


def test_the_recipe_of_a_file_names_it(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM)
    visitor.open("publish")
    recipe = Recipe.loads(takeaway.recipe(run).dumps())
    assert recipe.source.path == "people.csv"
    assert recipe.algorithm == ALGORITHM
    assert recipe.roles["name"] == "identifier"


@pytest.mark.slow
def test_the_recipe_of_a_built_in_table_runs_again(visitor: Visitor) -> None:
    (run,) = visitor.make().here.runs
    again = Recipe.loads(takeaway.recipe(run).dumps()).run()
    assert (again.release.partition.group == run.release.partition.group).all()


def test_file_names_are_plain(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM, name="Mein Ärger: 100 % / 2.csv")
    assert takeaway.file_stem(run) == "mein-ärger-100-2-mondrian"


def test_the_address_of_before_leads_to_the_page() -> None:
    assert routes.route(routes.MOVED["export"]).title == "Publish"
