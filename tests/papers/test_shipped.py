"""That the results which ship are those of today's code: their texts, and the seals of the code that made them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from dashboard import reproduction
from dashboard.reproduction import Mutant, Result
from tests.papers import book, sources
from tests.papers.contents import PAPERS, Paper
from tests.papers.mutants import MUTANTS
from tests.papers.stated import STATED
from tests.papers.wishes import WISHES

NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?")
every_paper = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)


def shipped(name: str) -> Result:
    return Result.load(reproduction.FOLDER / f"{name}.json")


@every_paper
def test_what_ships_was_made_by_the_code_as_it_is(paper: Paper):
    result = shipped(paper.name)
    due = sources.sealed(result)
    command = f"python -m tests.papers --paper {paper.name}"
    why = f"{paper.name}.json in dashboard/reproduction is older than the code that makes it, or was merged or edited"
    assert result.rows_seal == due.rows_seal, f"{why}. Run `{command}` and commit the file."
    assert result.rest_seal == due.rest_seal, f"{why}. Run `{command} --rest` and commit the file."


@every_paper
def test_all_texts_that_ship_are_those_of_the_code(paper: Paper):
    result = shipped(paper.name)
    assert (result.title, result.source, result.stated) == (paper.title, paper.source, STATED[paper.name])
    assert [(entry.label, entry.shows, entry.reason, entry.settings) for entry in result.entries] == [
        (item.label, item.shows, item.reason, item.settings) for item in paper.items
    ]
    for entry in result.entries:
        named = [broken.name for broken in MUTANTS if broken.paper == paper.name and entry.label in broken.labels]
        assert [mutant.name for mutant in entry.mutants] == named, entry.label
        own = {(one.text, one.reading) for one in entry.statements}
        assert {(text, reading) for one in entry.mutants for text, reading, _ in one.fell} <= own, entry.label
    assert len(result.experiments) == len(WISHES.get(paper.name, ()))
    literals = literals_of(paper.name)
    strange = sorted(text for text in set(texts_of(result)) if not is_made_of(text, literals))
    assert strange == [], f"not in the code: run `python -m tests.papers --paper {paper.name}` and commit its file"


def texts_of(result: Result) -> Iterator[str]:
    """Every text of a result that is written in the code, with numbers in it or without."""
    for entry in result.entries:
        for statement in entry.statements:
            yield from (statement.text, statement.cause, statement.reading, statement.tried)
            yield from (statement.least, statement.oracle)
    for study in result.studies:
        yield from (study.sizes, study.seed)
    for plot in result.plots:
        yield from (plot.title, plot.x, plot.y, *(curve.name for curve in plot.curves))
    for wish in result.experiments:
        yield from (wish.title, wish.question, *wish.columns, wish.answer, wish.run)


def literals_of(paper: str) -> dict[str, list[str]]:
    """The literals of the code behind a paper by their first character; of texts with gaps the parts between them."""
    code = [*sources.code_of_rows(paper).values(), *sources.code_of_rest(paper).values()]
    code += sources.module(book.__name__).definitions.values()
    nodes = (node for statements in code for statement in statements for node in ast.walk(statement))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return by_first(texts | {text.rstrip(".") for text in texts})


def by_first(texts: Iterable[str]) -> dict[str, list[str]]:
    """The texts in small letters by their first character."""
    sorted_in: dict[str, list[str]] = {}
    for text in {text.lower() for text in texts if text}:
        sorted_in.setdefault(text[0], []).append(text)
    return sorted_in


def is_made_of(text: str, literals: dict[str, list[str]]) -> bool:
    """Whether a text can be put together of literals, of which single letters are whole words, numbers and signs.

    Capitals count as small letters: one title is the name of a panel and of its axis.
    """
    text, reached = text.lower(), {0}
    for at in range(len(text)):
        if at not in reached:
            continue
        if not text[at].isalnum():
            reached.add(at + 1)
        if number := NUMBER.match(text, at):
            reached.update(range(at + 1, number.end() + 1))
        for literal in literals.get(text[at], ()):
            is_part = len(literal) == 1 and re.search(r"\w\w", text[max(at - 1, 0) : at + 2])
            if text.startswith(literal, at) and not is_part:
                reached.add(at + len(literal))
    return len(text) in reached


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("a smaller k, by 0.25 to 1,000", True),
        ("Heart: a smaller k", True),
        ("a smaller kind", False),
        ("a larger k", False),
        ("a smaller k, which nobody wrote", False),
        ("", True),
    ],
)
def test_a_text_is_known_only_if_the_code_has_all_of_its_words(text: str, is_known: bool):
    assert is_made_of(text, by_first({"a smaller ", "k", ", by ", " to ", "Heart"})) == is_known


def changed(result: Result, label: str, **fields: object) -> Result:
    """The result with other fields of one row."""
    entries = tuple(replace(entry, **fields) if entry.label == label else entry for entry in result.entries)
    return replace(result, entries=entries)


def test_older_or_edited_results_break_the_seal_of_their_part():
    result = sources.sealed(shipped("vertical-fragmentation"))
    first, *others = next(entry for entry in result.entries if entry.label == "figure 1").statements
    older = sources.sealed(changed(result, "figure 1", statements=(replace(first, cause="chance"), *others)))
    assert older.rows_seal != result.rows_seal
    assert older.rest_seal == result.rest_seal
    other = sources.sealed(changed(result, "figure 1", mutants=(Mutant("nothing is changed", "reproduced"),)))
    assert other.rows_seal == result.rows_seal
    assert other.rest_seal != result.rest_seal
    assert sources.sealed(replace(result, date="2000-01-01")).rows_seal != result.rows_seal


def test_code_breaks_the_seals_of_the_papers_that_it_makes(monkeypatch: pytest.MonkeyPatch):
    papers = ("foreground-knowledge", "t-closeness")
    before = {name: sources.sealed(shipped(name)) for name in papers}
    read = sources.module

    def other(name: str) -> sources.Module:
        here = read(name)
        if name != "tests.papers.foreground_statements":
            return here
        return replace(here, definitions=here.definitions | {"CAUSES": ast.parse("CAUSES = {}").body})

    monkeypatch.setattr(sources, "module", other)
    after = {name: sources.sealed(shipped(name)) for name in papers}
    assert [after[name].rows_seal != before[name].rows_seal for name in papers] == [True, False]
    assert [after[name].rest_seal == before[name].rest_seal for name in papers] == [True, True]


def test_code_is_followed_through_functions_and_modules_but_only_to_what_is_used():
    code = sources.code_of_rows("rothko")
    for used in (("rothko_book", "judged"), ("rothko_runs", "tree_run"), ("thrashing", "last"), ("worked", "rothko")):
        assert (f"tests.papers.{used[0]}", used[1]) in code
    assert ("tests.papers.worked", "slicing") not in code
    assert not any(source == "tests.papers.foreground_statements" for source, _ in code)
    assert "swapped in MB" in sources.module("tests.papers.thrashing").data
    rest = sources.code_of_rest("rothko")
    assert {("tests.papers.wishes", "exact_tests"), ("dashboard.reproduction", "Statement")} <= set(rest)
    assert ("tests.papers.wishes", "mined") not in rest


@pytest.mark.parametrize(
    ("code", "is_same"),
    [
        ('def f(a):\n    """Other words."""\n    return f"{a:.2f} of {a}"  # why', True),
        ('def f(\n    a,\n):\n    return (\n        f"{a:.2f} "\n        f"of {a}"\n    )', True),
        ('def f(a):\n    return f"{a:.3f} of {a}"', False),
        ('def f(a):\n    return f"{a:.2f} from {a}"', False),
    ],
)
def test_only_what_the_code_does_counts(code: str, is_same: bool):
    own = ast.parse('def f(a):\n    """Words."""\n    return f"{a:.2f} of {a}"')
    assert (sources.plain(ast.parse(code).body) == sources.plain(own.body)) == is_same


def test_the_rest_is_made_again_without_sealing_older_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(book, "tried", lambda result: result)
    monkeypatch.setattr(book, "wished", lambda name: ())
    paper = PAPERS[0]
    older = replace(shipped(paper.name), rows_seal="older", title="older", stated=())
    again = book.rest_of(paper, older)
    assert (again.rows_seal, again.title, again.stated) == ("older", paper.title, STATED[paper.name])
    assert again.rest_seal == sources.sealed(again).rest_seal
    with pytest.raises(ValueError, match="other rows today"):
        book.rest_of(paper, replace(older, entries=older.entries[1:]))
