"""Releases that were made elsewhere, opened from their published files as columns of the board."""

from __future__ import annotations

import io
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError, Microdata, Release, attacks, privacy, utility
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.texts import share_text
from anoncore.recipes.saved_releases import saved_releases
from anoncore.requirements import KAnonymity
from anoncore.sources import read_table
from dashboard.board import facts, grid
from dashboard.session import loaded_table, session_file, state
from dashboard.session.opened import MOST_TABLES, opened_alone, opened_files
from dashboard.session.wishes import Step, Wishes, from_plain, to_plain
from tests.dashboard.results import ROLES, loaded, people

pytestmark = pytest.mark.slow

WAIT = 120
PUBLISHED_ROLES = {name: role for name, role in ROLES.items() if role != "identifier"}


@pytest.fixture(autouse=True)
def quick_measures(monkeypatch):
    """Attacks and classifiers have tests of their own; here they answer at once, as far as they can."""

    def given(release, secret, r, progress):
        release.require_people("Foreground knowledge is turned against a person's group")
        release.require_original("Who is given away depends on what is true")
        return {"learned": True, "value": 0.25, "guess": 0.1, "control": 0.02, "excess": 0.23}

    def predictable(release, target, progress):
        release.require_original("What is predicted is compared with what is true")
        return {"value": 0.5, "original": 0.6, "guess": 0.3}

    monkeypatch.setattr(facts, "given_away", given)
    monkeypatch.setattr(facts, "about_given_away", given)
    monkeypatch.setattr(facts, "predictable", predictable)
    monkeypatch.setattr(facts, "about_predictable", predictable)


@pytest.fixture
def drawn(monkeypatch):
    """The tables that the page put up, newest last."""
    found = []
    monkeypatch.setattr(grid, "draw", lambda model, on_event: found.append(model))
    return found


@pytest.fixture
def visitor(visit, drawn):
    """A visitor whose table is tagged, with one column by Mondrian on the board."""
    made = visit()
    here = state._workspaces.get(made.workspace)
    here.load(*loaded(people(), ROLES, "people.csv"))
    made.run()
    only = Wishes().with_level("k", 5).with_column("mondrian")
    here.history.step(Step(here.tags, only))
    return made.run()


def workspace(visitor):
    return state._workspaces.get(visitor.workspace)


def finish(visitor, drawn):
    """Draw the board until everything on it is there."""
    end = time.monotonic() + WAIT
    visitor.run()
    while workspace(visitor).jobs["board"].is_busy and time.monotonic() < end:
        # What is wished for in this draw may be begun by it, and be there after it.
        time.sleep(0.05)
    visitor.run()
    return drawn[-1]


def published(k=5):
    return Mondrian(requirements=[KAnonymity(k=k)]).anonymize(Microdata(people(), ROLES)).pandas_tables()["release"]


def csv(frame):
    return frame.to_csv(index=False).encode()


def ask_for_release(visitor):
    """Click on "+ add release" and say that it was made elsewhere."""
    visitor.at.session_state["_board_dialog"] = ("add", "")
    visitor.run()
    what = next(one for one in visitor.at.segmented_control if one.label == "What to add")
    what.set_value("A release made elsewhere")
    return visitor.run()


def open_files(visitor, *files, title="", rows="people"):
    ask_for_release(visitor)
    uploader = next(one for one in visitor.at.file_uploader if one.label.startswith("Published tables"))
    uploader.set_value([(name, content, "text/csv") for name, content in files])
    visitor.run()
    whose = next(one for one in visitor.at.radio if one.label.startswith("Do these rows belong to the people of"))
    whose.set_value(rows)
    if title:
        next(one for one in visitor.at.text_input if one.label == "Name on the board").set_value(title)
        visitor.run()
    return visitor.press("Open on the board")


def cell(model, row, column=-1):
    return next(one for one in model["rows"] if one["id"] == row)["cells"][column]


def promised(model, column=-1):
    return {one["symbol"]: one for one in cell(model, "promise", column)["promises"]}


def slide(visitor, axis, value):
    next(one for one in visitor.at.select_slider if one.key.startswith(f"board-{axis}-")).set_value(value)
    return visitor.run()


def test_an_opened_release_is_judged_like_the_one_that_was_made_here(visitor, drawn):
    open_files(visitor, ("from arx.csv", csv(published())), title="ARX, k = 5")
    found = finish(visitor, drawn)
    assert [column["title"] for column in found["columns"]] == ["Mondrian", "ARX, k = 5"]
    made, opened = workspace(visitor).runs
    assert (opened.algorithm, opened.opened.files, opened.column) == (None, ("from arx.csv",), "c2")
    assert opened.release.partition.sizes.tolist() != []
    for row in ("hides", "distance", "lost"):
        assert cell(found, row, 0)["text"] == cell(found, row, 1)["text"]
    assert np.isclose(float(utility.two_way_error(made.release)), float(utility.two_way_error(opened.release)))
    # Nobody promises anything of it; what it keeps is what was measured.
    assert promised(found, 0)["k"]["state"] == "kept"
    assert promised(found, 1)["k"] == promised(found, 0)["k"] | {
        "state": "measured",
        "words": "is 5, as measured",
        "sentence": promised(found, 1)["k"]["sentence"],
    }
    assert "does not promise" not in promised(found, 1)["k"]["sentence"]
    assert found["columns"][1]["badge"].startswith("Keeps all that is asked")
    assert found["columns"][1]["edit"] == "see how this release was read"


def test_another_k_judges_it_anew_and_leaves_its_table(visitor, drawn):
    open_files(visitor, ("arx.csv", csv(published())))
    finish(visitor, drawn)
    before = workspace(visitor).runs[1]
    slide(visitor, "k", 20)
    found = finish(visitor, drawn)
    assert workspace(visitor).runs[1] is before
    assert workspace(visitor).runs[0].release.partition.sizes.min() >= 20
    assert promised(found)["k"]["words"] == "is 5 (asked: 20)"
    assert found["columns"][1]["badge"] == "Misses k"


def test_it_is_removed_and_comes_back_with_undo(visitor, drawn):
    open_files(visitor, ("arx.csv", csv(published())))
    finish(visitor, drawn)
    before = workspace(visitor).runs[1]
    state_of = workspace(visitor).history
    state_of.step(state.replace(state_of.now, wishes=state_of.now.wishes.without_column("c2")))
    visitor.run()
    assert len(drawn[-1]["columns"]) == len(workspace(visitor).runs) == 1
    visitor.press("Undo")
    found = finish(visitor, drawn)
    assert found["columns"][1]["title"] == "arx"
    assert workspace(visitor).runs[1] is before
    visitor.press("Undo")
    assert len(drawn[-1]["columns"]) == 1


def test_other_tags_read_it_anew(visitor, drawn):
    open_files(visitor, ("arx.csv", csv(published())))
    finish(visitor, drawn)
    assert set(workspace(visitor).runs[1].data.quasi_identifiers) == {"age", "sex", "town"}
    visitor.tag(sex="insensitive")
    found = finish(visitor, drawn)
    assert set(workspace(visitor).runs[1].data.quasi_identifiers) == {"age", "town"}
    assert promised(found)["k"]["state"] == "measured"


def test_a_cell_that_cannot_be_read_is_said_with_the_column(visitor, drawn):
    wrong = published()
    wrong.loc[3, "sex"] = "robot"
    open_files(visitor, ("arx.csv", csv(wrong)))
    found = finish(visitor, drawn)
    assert found["columns"][1]["badge"] == "No release"
    why = cell(found, "promise")["why"]
    assert "'sex'" in why
    assert "robot" in why
    visitor.at.session_state["_board_dialog"] = ("method", "c2")
    visitor.run()
    assert "robot" in visitor.texts()


def test_more_rows_than_people_are_told_as_what_to_answer_in_the_dialog(visitor, drawn):
    open_files(visitor, ("twice.csv", csv(pd.concat([published(), published()]))))
    why = cell(finish(visitor, drawn), "promise")["why"]
    assert "480 rows, more than the 240 of the original" in why
    assert "open it again and say that its rows are nobody's" in why
    assert "rows=" not in why


def test_a_file_that_is_no_table_is_refused_in_the_dialog(visitor, drawn):
    open_files(visitor, ("notes.pdf", b"%PDF-1.7 nothing"))
    (refused,) = visitor.errors
    assert "notes.pdf" in refused
    assert "PDF" in refused
    assert len(drawn[-1]["columns"]) == 1
    # The page is drawn anew at any time, as when another column has come; what was refused is still said.
    visitor.run()
    assert visitor.errors == [refused]
    uploader = next(one for one in visitor.at.file_uploader if one.label.startswith("Published tables"))
    uploader.set_value([("other.csv", b"age\n1\n", "text/csv")])
    visitor.run()
    assert visitor.errors == []


def test_rows_that_fit_several_groups_are_said_with_the_column(visitor, drawn):
    wide = published().assign(age="*", town="*")
    wide.loc[: len(wide) // 2, "sex"] = "*"
    open_files(visitor, ("wide.csv", csv(wide)))
    found = finish(visitor, drawn)
    (note,) = workspace(visitor).runs[1].release.notes
    assert "fit several groups" in note
    assert note in found["columns"][1]["own"]
    visitor.at.session_state["_board_dialog"] = ("method", "c2")
    visitor.run()
    assert note in visitor.texts()
    assert "Table 'wide': 240 rows" in visitor.texts()


def test_several_files_are_one_release_and_its_buckets_do_not_pass_for_k(visitor, drawn):
    tables = Anatomy(l=2).anonymize(Microdata(people(), ROLES)).pandas_tables()
    open_files(visitor, *((f"{name}.csv", csv(table)) for name, table in tables.items()))
    slide(visitor, "k", 2)
    found = finish(visitor, drawn)
    run = workspace(visitor).runs[1]
    assert [one.name for one in run.release.fragments] == list(tables)
    # A bucket of two hides whose illness it is; the people in it are found by what is published exactly.
    assert run.release.partition.sizes.min() == 2
    assert promised(found)["k"]["words"] == "is 1 (asked: 2)"
    assert "secrets" in cell(found, "hides")["text"]


def test_a_published_table_alone_is_judged_and_says_what_needs_its_original(visit, drawn):
    visitor = visit()
    visitor.upload("published.csv", csv(published()))
    visitor.open("board")
    for label, names in (("Known to others", ["age", "sex", "town"]), ("Secret", ["illness"])):
        next(one for one in visitor.at.multiselect if one.label == label).set_value(names)
    visitor.run()
    visitor.press("It is a release already: judge it")
    found = finish(visitor, drawn)
    assert [column["title"] for column in found["columns"]] == ["published"]
    run = workspace(visitor).runs[0]
    # Ranges are read as ranges of numbers, although texts were guessed to be names of things.
    assert run.data.domain["age"].kind == "numeric"
    assert cell(found, "hides")["text"] == "5 or more people"
    assert promised(found)["k"]["words"] == "is 5 (asked: 10)"
    farthest = float(privacy.emd(run.release, "illness", "equal").max())
    assert np.isclose(cell(found, "distance")["curve"][-1], farthest, atol=1e-5)
    # What is lost cannot be told, but that it is no more than this.
    bound = utility.two_way_error_bound(run.release)
    assert cell(found, "lost")["state"] == "bound"
    assert cell(found, "lost")["text"] == f"at most {share_text(bound)}"
    assert np.isclose(sum(cell(found, "lost")["bars"]) / 4, float(bound), atol=1e-4)
    assert "the original is not here, and it may be less; cells of age, town that" in cell(found, "lost")["sub"]
    assert cell(found, "predictable")["state"] == "failed"
    assert "beside the table that it was made of" in cell(found, "predictable")["why"]
    # What single groups give away is seen in them, that nothing else was tried is said beside it, and why on hovering.
    given = cell(found, "given")
    assert given["by"] == "single groups"
    assert given["sub"].endswith("foreground knowledge cannot be tried")
    assert "beside the table that it was made of" in given["full"]
    believed = attacks.attribute_disclosure(run.release, "illness").confidence > 0.5 + 1e-9
    assert np.isclose(given["value"], believed.mean())
    # Whoever did not mean that is led back to the question.
    visitor.press("Undo")
    assert visitor.has_button("It is a release already: judge it")


def test_one_of_several_tables_is_no_original_of_them(visitor, drawn):
    """What the loaded one of Anatomy's tables lacks would be told as a column that the original lacks."""
    tables = Anatomy(l=2).anonymize(Microdata(people(), ROLES)).pandas_tables()
    files = [(f"{name}.csv", csv(table)) for name, table in tables.items()]
    (known, content), _ = files
    there = read_table(content, known)
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "town": "quasi-identifier"}
    workspace(visitor).load(*loaded(there.frame, roles, known))
    visitor.run()
    open_files(visitor, *files)
    why = cell(finish(visitor, drawn), "promise")["why"]
    assert f"'{known.removesuffix('.csv')}' is the loaded table itself" in why
    assert "Load the table that they were made of" in why
    assert "Release.from_published" in why
    # The table by itself says that others may belong to it.
    here = workspace(visitor)
    alone = opened_alone(here.table).read(Microdata(there.frame, roles), here.tags)
    assert any("'group' is called like a column that joins several tables" in note for note in alone.notes)


def test_the_loaded_table_can_be_judged_as_a_release_from_the_board(visitor, drawn):
    ask_for_release(visitor)
    visitor.press("Judge the loaded table as a release")
    found = finish(visitor, drawn)
    assert found["columns"][1]["own"].startswith("the loaded table as a release")
    ask_for_release(visitor)
    assert not visitor.has_button("Judge the loaded table as a release")


def synthetic(n=300):
    """A table that shares no row with the original, of more rows, with values that it lacks."""
    drawn = people().sample(n, replace=True, random_state=5).reset_index(drop=True).drop(columns="name")
    for place, name in enumerate(drawn):
        drawn[name] = drawn[name].sample(frac=1, random_state=place).to_numpy()
    drawn.loc[0, "age"] = 150
    return drawn


def test_a_synthetic_table_stands_beside_the_others_and_says_which_rows_make_no_sense(visitor, drawn):
    open_files(visitor, ("made up.csv", csv(synthetic())), rows="synthetic")
    found = finish(visitor, drawn)
    run = workspace(visitor).runs[1]
    assert (run.release.rows, run.release.n_records, run.data.n_rows) == ("synthetic", 300, 240)
    assert found["columns"][1]["own"].startswith("synthetic, made elsewhere, read from 'made up.csv'. No row")
    assert found["columns"][1]["badge"] == "Cannot be told: k"
    assert promised(found)["k"]["words"] == "cannot be told"
    assert "nobody's" in promised(found)["k"]["sentence"]
    assert "nobody's" in cell(found, "promise")["sub"]
    for row in ("hides", "distance", "given"):
        assert cell(found, row)["state"] == "failed"
        assert "nobody's" in cell(found, row)["why"]
    # What compares shares answers on the same scale as for Mondrian's classes.
    assert cell(found, "lost")["state"] == cell(found, "predictable")["state"] == "exact"
    assert np.isclose(sum(cell(found, "lost")["bars"]) / 4, float(utility.two_way_error(run.release)), atol=1e-4)
    assert "sub" not in cell(found, "promise", 0)
    assert cell(found, "lost", 0)["state"] == "exact"
    # A row of k = 300 people draws its axis from those columns that hide anybody.
    slide(visitor, "k", 20)
    assert promised(finish(visitor, drawn))["k"]["words"] == "cannot be told"


def opened_on(visitor, drawn, kind):
    """A column on the board: published rows of people, some of them left out, a table alone, or a synthetic one."""
    if kind == "alone":
        workspace(visitor).load(*loaded(published(), PUBLISHED_ROLES, "published.csv"))
        visitor.run()
        ask_for_release(visitor)
        visitor.press("Judge the loaded table as a release")
    elif kind == "synthetic":
        open_files(visitor, ("made up.csv", csv(synthetic())), rows="synthetic")
    else:
        open_files(visitor, ("arx.csv", csv(published().iloc[:230])))
    finish(visitor, drawn)
    run = next(one for one in workspace(visitor).runs if one.opened is not None)
    workspace(visitor).select_run(run.id)
    return run


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["people", "alone", "synthetic"])
def test_every_page_that_looks_closer_takes_it(visitor, drawn, kind):
    run = opened_on(visitor, drawn, kind)
    told = {}
    for page in ("groups", "before and after", "privacy", "closeness", "utility", "explain", "method", "publish"):
        visitor.open(page)
        told[page] = visitor.texts()
        assert run.label in told[page]
    attacks = ("Foreground knowledge", "Matching buckets", "Membership", "Known method", "Second release", "In or out")
    for attack in (*attacks, "Population", "deFinetti", "All attacks"):
        visitor.at.session_state["tabs-attack"] = attack
        visitor.open("attack")
        told[attack] = visitor.texts()
    others = ("Foreground knowledge", "Matching buckets", "Membership", "Second release", "Population")
    for attack in (*others, "deFinetti", "All attacks"):
        assert ("the rows of this table are nobody's" in told[attack]) == (kind == "synthetic")
        assert "attacks.inference" not in told[attack], "told in the words of the page"
    for tab in ("Distributions", "Associations", "Predictions"):
        visitor.at.session_state["tabs-utility-tab"] = tab
        visitor.open("utility")
    visitor.open("one person")
    assert "Which method made this release is not known" in told["method"]
    assert ("nothing to set it beside" in told["before and after"]) == (kind == "alone")
    for page in ("groups", "before and after", "privacy", "closeness", "explain"):
        assert ("the rows of this table are nobody's" in told[page]) == (kind == "synthetic")
    # What cannot be taken away says why; no recipe makes again what was made elsewhere.
    assert "nothing here makes it again" in told["publish"]
    assert ("against its original, which is not here" in told["publish"]) == (kind == "alone")
    assert ("No cell was made of a person's" in told["publish"]) == (kind == "synthetic")
    assert ("A certificate states what holds of groups of people" in told["publish"]) == (kind == "synthetic")


def test_the_dialog_publish_says_what_can_be_taken_of_it(visitor, drawn):
    open_files(visitor, ("arx.csv", csv(published())))
    finish(visitor, drawn)
    workspace(visitor).select_run(workspace(visitor).runs[1].id)
    visitor.at.session_state["_board_dialog"] = ("publish", "")
    visitor.run()
    assert "made elsewhere and is not made anew here" in visitor.texts()
    assert "k-anonymity (k = 5) holds" in visitor.texts()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["people", "alone", "synthetic"])
def test_a_saved_session_brings_it_back(visitor, drawn, visit, tmp_path, kind):
    alone = kind == "alone"
    if alone:
        ask_for_release(visitor)
        visitor.press("Judge the loaded table as a release")
    else:
        table = published() if kind == "people" else synthetic()
        open_files(visitor, ("arx.csv", csv(table)), title="ARX", rows=kind)
    finish(visitor, drawn)
    here = workspace(visitor)
    content = session_file.save(here)
    other = visit()
    there = workspace(other)
    saved = session_file.read(content, loaded_table.builtin_table, state._microdata.get)
    session_file.restore(there, saved)
    other.run()
    found = finish(other, drawn)
    assert [column["title"] for column in found["columns"]] == ["Mondrian", "people" if alone else "ARX"]
    before, after = here.runs[1], there.runs[1]
    # It was read once, when the session was opened, and not again for the board.
    assert after.id == saved.runs[1].id
    assert after.opened.notes == before.opened.notes
    tables, again = before.release.pandas_tables(), after.release.pandas_tables()
    assert all(again[name].equals(table) for name, table in tables.items())
    assert (after.release.rows, after.opened.rows) == (before.release.rows, kind)
    if kind != "synthetic":
        assert np.array_equal(after.release.partition.group, before.release.partition.group)
    path = tmp_path / "saved.zip"
    path.write_bytes(content)
    # Nothing can be laid beside a release of which nobody knows whose rows it has.
    assert len(saved_releases(path)) == (2 if kind == "people" else 1)


def test_wishes_with_an_opened_release_come_back_from_plain_values():
    opened = opened_files([("arx.csv", csv(published()))], "ARX")
    wishes = Wishes().with_column("mondrian").with_column("", opened=opened)
    plain = to_plain(wishes, [opened])
    assert from_plain(plain, [opened]) == wishes
    with pytest.raises((ValueError, IndexError)):
        from_plain(plain)


def test_a_zip_and_a_workbook_hold_the_tables_of_one_release():
    tables = Anatomy(l=2).anonymize(Microdata(people(), ROLES)).pandas_tables()
    packed, book = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, table in tables.items():
            file.writestr(f"release/{name}.csv", csv(table))
        file.writestr("release/certificate.json", "{}")
    with pd.ExcelWriter(book) as writer:
        for name, table in tables.items():
            table.to_excel(writer, sheet_name=name, index=False)
    data = Microdata(people(), ROLES)
    for name, content in (("release.zip", packed), ("release.xlsx", book)):
        opened = opened_files([(name, content.getvalue())], "")
        assert (opened.title, list(opened.frames)) == ("release", list(tables))
        release = opened.read(data, loaded(people(), ROLES, "people.csv")[1])
        assert isinstance(release, Release)
        assert release.partition.n_groups == 120


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PK\x03\x04 broken", "damaged"),
        (b"", "empty"),
    ],
)
def test_files_that_hold_no_table_are_refused_by_name(content, says):
    with pytest.raises(DataError, match=says) as error:
        opened_files([("strange.zip", content)], "")
    assert "strange.zip" in str(error.value)


def test_a_zip_without_tables_and_too_many_tables_are_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("readme.md", "nothing")
    with pytest.raises(DataError, match="holds no table"):
        opened_files([("none.zip", packed.getvalue())], "")
    with pytest.raises(DataError, match=f"more than {MOST_TABLES}"):
        opened_files([(f"{place}.csv", b"age,town\n1,Ulm\n") for place in range(MOST_TABLES + 1)], "")


def test_two_files_of_one_name_are_two_tables():
    opened = opened_files([("a/part.csv", b"age\n1\n"), ("b/part.csv", b"town\nUlm\n")], "")
    assert list(opened.frames) == ["part", "part (2)"]
    assert opened.title == "part and 1 more"


def test_the_loaded_table_alone_takes_no_memory_of_its_own():
    table, _ = loaded(published(), PUBLISHED_ROLES, "published.csv")
    assert opened_alone(table).n_bytes == 0
    assert opened_files([("arx.csv", csv(published()))], "").n_bytes > 1000
