"""A session saved to a file comes back whole; what is no session, or was tampered with, changes nothing."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, DataError, Hierarchy
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.pandas_versions import TEXT
from anoncore.requirements import KAnonymity
from dashboard.session import loaded_table, session_file, state
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.wishes import MOST_COLUMNS, Wishes
from dashboard.session.workspace import MicrodataStore, Workspace
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import people, put, tagged

ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "since": "quasi-identifier",
    "illness": "sensitive",
}
TOWNS = {"east": ["A*b*", "<b>C</b>"], "west": ["$D$", "E, F"]}


def _built_in(name: str, rows: int | None) -> LoadedTable:
    return loaded_table.builtin_table(name, rows)


def _frame() -> pd.DataFrame:
    frame = people(90).drop(columns="sex")
    frame["since"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(frame["visits"] * 97, unit="D")
    frame["town"] = frame["town"].astype(TEXT).where(frame["visits"] > 3)
    frame["name"], frame["illness"] = frame["name"].astype(TEXT), frame["illness"].astype(TEXT)
    return frame


def _workspace() -> Workspace:
    here, frame = Workspace("one"), _frame()
    tags = tagged(frame, ROLES)
    tags = tags.changed("hierarchies", "town", Hierarchy.from_nested(TOWNS))
    tags = tags.changed("sensitive_values", "illness", ("ulcer",))
    tags = tags.changed("orders", "illness", ("cold", "flu", "ulcer", "_gout_"))
    table = LoadedTable("id", "people.csv", frame, "digest", ("A note.",), None, untagged(frame))
    here.load(table, tags)
    data = MicrodataStore().get(table, tags)
    for algorithm in (Mondrian(requirements=(KAnonymity(k=4),)), Anatomy(l=2)):
        put(here, algorithm, table, tags, algorithm.anonymize(data))
    here.select_run(here.runs[0].id)
    return here


def _opened(content: bytes) -> session_file.Saved:
    return session_file.read(content, _built_in, MicrodataStore().get)


def _rewritten(content: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The file with each member changed, or left out where the change gives None."""
    found = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            kept = change(name, old.read(name))
            if kept is not None:
                new.writestr(name, kept)
    return found.getvalue()


@pytest.mark.slow
def test_a_sample_comes_back_as_one() -> None:
    here, frame = Workspace("one"), _frame()
    here.load(LoadedTable("id", "sample of x", frame, "digest", (), None, untagged(frame), drawn_from=5_000), Tags())
    table = _opened(session_file.save(here)).table
    assert table is not None
    assert table.drawn_from == 5_000


@pytest.mark.slow
def test_a_session_comes_back_with_releases_that_no_seed_could_repeat() -> None:
    here, there = _workspace(), Workspace("two")
    assert [getattr(run.algorithm, "seed", None) for run in here.runs] == [None, None]
    saved = _opened(session_file.save(here))
    session_file.restore(there, saved)
    assert there.table is not None
    pd.testing.assert_frame_equal(there.table.frame, _frame())
    assert (there.table.name, there.table.notes) == ("people.csv", ("A note.",))
    assert there.tags.digest == here.tags.digest
    assert [run.label for run in there.runs] == [run.label for run in here.runs]
    assert there.current == there.runs[0].id
    for one, other in zip(here.runs, there.runs, strict=True):
        assert one.algorithm == other.algorithm
        assert (one.created, one.seconds, one.color_index) == (other.created, other.seconds, other.color_index)
        assert (other.owner, other.id == one.id) == ("two", False)
        for mine, yours in zip(one.release.fragments, other.release.fragments, strict=True):
            assert np.array_equal(mine.partition.group, yours.partition.group)
            for name in mine.attributes:
                assert list(mine.recodings[name].texts()) == list(yours.recodings[name].texts())


@pytest.mark.slow
def test_releases_that_no_column_showed_become_columns_of_the_board() -> None:
    """Earlier versions made releases on a page of their own, also of other tables, and asked for k, l and t there."""
    here = _workspace()
    content = session_file.save(here)

    def earlier(name: str, old: bytes) -> bytes:
        if name != session_file.MANIFEST:
            return old
        manifest = json.loads(old)
        for run in manifest["runs"]:
            run |= {"pinned": True, "column": "", "label": f"1 · {run['label']}"}
        return json.dumps({**manifest, "current": 0}).encode()

    saved = _opened(_rewritten(content, earlier))
    assert saved.wishes is not None
    assert [(one.method, dict(one.fields)) for one in saved.wishes.columns] == [("mondrian", {}), ("anatomy", {})]
    # What the shown one promises is asked of all.
    assert dict(saved.wishes.levels) == {"k": 4}
    assert [run.column for run in saved.runs] == [one.id for one in saved.wishes.columns]
    there = Workspace("two")
    session_file.restore(there, saved)
    assert there.current == there.runs[0].id
    assert there.notices == [
        "2 releases of this session stood beside the board. They are columns of it now, under what is asked of all."
    ]
    for one, other in zip(here.runs, there.runs, strict=True):
        assert np.array_equal(one.release.fragments[0].partition.group, other.release.fragments[0].partition.group)


@pytest.mark.slow
def test_releases_that_find_no_place_on_the_board_are_counted_and_said() -> None:
    here = _workspace()

    def earlier(name: str, old: bytes) -> bytes:
        if name != session_file.MANIFEST:
            return old
        manifest = json.loads(old)
        for run in manifest["runs"]:
            run |= {"column": ""}
        manifest["runs"] *= MOST_COLUMNS
        return json.dumps(manifest).encode()

    content = session_file.save(here)
    arrays = {name for name in zipfile.ZipFile(io.BytesIO(content)).namelist() if name.startswith("runs/")}
    file = io.BytesIO(_rewritten(content, earlier))
    with zipfile.ZipFile(file, "a") as more, zipfile.ZipFile(io.BytesIO(content)) as old:
        for number in range(2, 2 * MOST_COLUMNS):
            for name in arrays:
                if name.startswith((f"runs/{number % 2}.", f"runs/{number % 2}/")):
                    more.writestr(name.replace(f"runs/{number % 2}", f"runs/{number}", 1), old.read(name))
    saved = _opened(file.getvalue())
    assert (len(saved.runs), saved.n_moved, saved.n_left) == (MOST_COLUMNS, MOST_COLUMNS, MOST_COLUMNS)
    there = Workspace("two")
    session_file.restore(there, saved)
    assert there.notices[-1].startswith(f"{MOST_COLUMNS} more are of another table, or had no place on the board")


@pytest.mark.slow
def test_a_column_that_showed_a_run_is_one_of_its_method() -> None:
    here = _workspace()
    wishes = Wishes().with_level("k", 4).with_column("stack-and-deal")
    there_was = {"id": "c2", "color": 1, "method": {"name": "mondrian"}, "run": 0}

    def earlier(name: str, old: bytes) -> bytes:
        if name != session_file.MANIFEST:
            return old
        manifest = json.loads(old)
        for run in manifest["runs"]:
            run |= {"pinned": False, "column": ""}
        manifest["board"]["columns"].append(there_was)
        return json.dumps(manifest).encode()

    here.begin_history(here.tags, wishes)
    saved = _opened(_rewritten(session_file.save(here), earlier))
    assert saved.wishes is not None
    assert [one.method for one in saved.wishes.columns] == ["stack-and-deal", "mondrian", "anatomy"]
    assert [run.column for run in saved.runs] == ["c2", "c3"]


def test_built_in_tables_are_saved_by_their_name() -> None:
    here, there = Workspace("one"), Workspace("two")
    built_in = _built_in("census", 50)
    here.load(built_in, built_in.suggested)
    data = MicrodataStore().get(built_in, built_in.suggested)
    put(here, Mondrian(), built_in, built_in.suggested, Mondrian().anonymize(data))
    content = session_file.save(here)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert [name for name in file.namelist() if name.startswith("tables/")] == []
    session_file.restore(there, _opened(content))
    assert [run.table_name for run in there.runs] == [built_in.name]
    assert there.table is built_in


@pytest.mark.parametrize("content", [b"", b"age,sex\n1,f\n", b"PK\x03\x04broken", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_session_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match="not a session file, or it is damaged"):
        _opened(content)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.binary(min_size=1, max_size=30), st.booleans())
@settings(max_examples=10)
def test_damaged_files_are_refused_in_a_sentence_or_whole(place: int, noise: bytes, inside: bool) -> None:
    content = _saved()
    if inside:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
        chosen = names[place % len(names)]

        def change(name: str, old: bytes) -> bytes:
            at = place % max(len(old), 1)
            return old[:at] + noise + old[at + len(noise) :] if name == chosen else old

        content = _rewritten(content, change)
    else:
        at = place % len(content)
        content = content[:at] + noise + content[at + len(noise) :]
    try:
        found = _opened(content)
    except AnonymizationError:
        return
    for run in found.runs:
        for fragment in run.release.fragments:
            assert all(len(one.texts()) == run.data.n_rows for one in fragment.recodings.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "says"), [({"titel": "x"}, "no key 'titel'"), ({"title": "a\nb"}, "one line of printable text")]
)
def test_answers_that_nobody_can_have_typed_are_refused(answers: dict[str, str], says: str) -> None:
    def change(name: str, content: bytes) -> bytes:
        return json.dumps({**json.loads(content), "answers": answers}).encode() if name.endswith(".json") else content

    with pytest.raises(AnonymizationError, match=says):
        _opened(_rewritten(session_file.save(_workspace()), change))


@pytest.mark.slow
def test_a_hierarchy_never_names_a_file_of_this_machine(tmp_path: Any) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("A*b*,x\n", encoding="utf-8")

    def change(name: str, old: bytes) -> bytes:
        if not name.endswith(".toml"):
            return old
        text = old.decode()
        head, _, rest = text.partition("[hierarchies.town]\n")
        assert rest
        tail = rest[rest.index("\n[") :] if "\n[" in rest else ""
        return f'{head}[hierarchies.town]\npath = "{secret}"\n{tail}'.encode()

    with pytest.raises(DataError, match="changed by hand"):
        _opened(_rewritten(_saved(), change))


def test_a_file_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = _saved()
    monkeypatch.setattr(session_file, "MOST_UNPACKED", 1_000)
    with pytest.raises(DataError, match="more than 2 GB"):
        _opened(content)
    monkeypatch.setattr(session_file, "MOST_BYTES", 100)
    with pytest.raises(DataError, match="larger than"):
        _opened(content)


def test_a_made_up_table_of_a_billion_rows_is_refused() -> None:
    here = Workspace("one")
    table = _built_in("census", 50)
    here.load(table, table.suggested)

    def change(name: str, old: bytes) -> bytes:
        if name != session_file.MANIFEST:
            return old
        manifest = json.loads(old)
        manifest["tables"][0]["rows"] = 10**9
        return json.dumps(manifest).encode()

    with pytest.raises(DataError, match="more than 1,000,000 rows"):
        _opened(_rewritten(session_file.save(here), change))


def test_a_table_that_would_not_come_back_is_not_saved() -> None:
    here = Workspace("one")
    frame = pd.DataFrame({"mixed": [1, "x", None]}, dtype=object)
    here.load(LoadedTable("id", "odd.csv", frame, "digest", (), None, Tags()), Tags())
    with pytest.raises(DataError, match=r"'odd\.csv' cannot be saved"):
        session_file.save(here)


@pytest.mark.slow
def test_the_page_opens_what_it_saved(visitor: Visitor, visit: Callable[..., Visitor]) -> None:
    visitor.upload("own.csv", _frame().to_csv(index=False).encode())
    visitor.tag(age="quasi-identifier", illness="sensitive")
    visitor.make()
    content = session_file.save(state._workspaces.get(visitor.workspace))
    other = visit().open("table")
    box = next(one for one in other.at.file_uploader if one.label == "Open a saved session")
    box.set_value(("session.anoncore", content, "application/octet-stream"))
    other.run()
    assert "own.csv" in other.texts()
    assert [run.label for run in state._workspaces.get(other.workspace).runs] == ["Mondrian (k = 5)"]
    box = next(one for one in other.at.file_uploader if one.label == "Open a saved session")
    box.set_value(("session.anoncore", b"nonsense", "application/octet-stream"))
    other.run()
    assert any("Nothing was changed." in sentence for sentence in other.errors)
    assert "own.csv" in other.texts()


_KEPT: list[bytes] = []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda about: about | {"x": [[]] * 1_500_000}, "says more than 4 MB in 'session.json'"),
        (lambda about: about | {"tables": about["tables"] * 200}, "more than 100 tables"),
        (lambda about: about | {"opened": [{"rows": "people", "tables": [*range(13)]}]}, "more than 12 tables"),
    ],
)
def test_a_session_that_says_too_much_is_refused_before_it_is_read(
    change: Callable[[dict[str, Any]], dict[str, Any]], sentence: str
) -> None:
    def changed(name: str, content: bytes) -> bytes:
        return json.dumps(change(json.loads(content))).encode() if name == "session.json" else content

    with pytest.raises(DataError, match=sentence):
        _opened(_rewritten(_saved(), changed))


@pytest.mark.slow
def test_a_recipe_of_a_session_with_a_very_deep_key_is_refused() -> None:
    deep = b"a." * 500_000 + b"a = 1\n"
    content = _rewritten(_saved(), lambda name, old: deep + old if name == "tags.toml" else old)
    with pytest.raises(AnonymizationError, match="a key of more than 64 parts"):
        _opened(content)


def _saved() -> bytes:
    if not _KEPT:
        _KEPT.append(session_file.save(_workspace()))
    return _KEPT[0]


@pytest.mark.slow
def test_what_nobody_decided_on_in_a_session_of_before_stays_left_out_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the first format a column of one's own table was insensitive until somebody tagged it."""

    def as_before(name: str, content: bytes) -> bytes:
        return content.replace(b"format = 2", b"format = 1") if name.endswith(".toml") else content

    monkeypatch.setitem(ROLES, "visits", "insensitive")
    here, there = _workspace(), Workspace("two")
    saved = _opened(_rewritten(session_file.save(here), as_before))
    assert saved.undecided == ("visits",)
    session_file.restore(there, saved)
    assert "visits" not in there.tags.roles
    assert there.notices[0] == (
        "Nobody decided on 'visits', which an earlier version published as it was. Now it is left out of every release "
        "until somebody decides."
    )
    for before, run in zip(here.runs, there.runs, strict=True):
        assert run.data.left_out == ("visits",)
        assert [name for name in before.release.attributes if name != "visits"] == list(run.release.attributes)
        assert "Nobody decided on 'visits', so what this release had of them is left out." in run.release.notes
        for mine, yours in zip(before.release.fragments, run.release.fragments, strict=True):
            assert np.array_equal(mine.partition.group, yours.partition.group)
    # A session of now holds decisions.
    assert _opened(session_file.save(here)).undecided == ()
    assert _opened(session_file.save(here)).tags.roles["visits"] == "insensitive"
