"""The reference has everything that is registered, with its facts, and opens from where a name stands."""

from __future__ import annotations

import inspect

import pytest

from anoncore.algorithms import ALGORITHMS, Mondrian, Slicing
from anoncore.measures.criteria import CRITERIA
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL
from anoncore.requirements import REQUIREMENTS, KAnonymity
from dashboard.closer import attack, utility
from dashboard.elements import about
from dashboard.elements.about import Described, Docstring
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run

ENTRIES = about.entries()


def test_everything_that_is_registered_has_its_entry_under_its_name():
    wanted = {f"algorithm:{name}" for name in ALGORITHMS} | {f"requirement:{name}" for name in REQUIREMENTS}
    wanted |= {f"criterion:{name}" for name in CRITERIA}
    for name in (*MEASURES, *MEASURES_OF_SEVERAL):
        package, _, short = name.partition(".")
        wanted.add(f"{'attack' if package == 'attacks' else 'measure'}:{short}")
    assert set(ENTRIES) == wanted
    titles = [(entry.kind, entry.title) for entry in ENTRIES.values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("key", ENTRIES)
def test_every_entry_states_its_facts(key: str):
    entry = ENTRIES[key]
    missing = [word for word in about.FACTS if len(entry.facts.get(word, "")) < 5]
    assert not missing, f"the docstring of {key} says no {missing[0]} in its Notes or References"
    assert all(text.endswith(".") for text in entry.facts.values())
    assert len(entry.definition) > 40
    assert "Raises" not in entry.definition
    for parameter in entry.parameters:
        assert parameter.meaning.endswith("."), f"{key} does not say what {parameter.name} means"
        assert parameter.default


def test_parameters_are_those_of_the_model_or_function():
    mondrian = ENTRIES["algorithm:mondrian"]
    assert [one.name for one in mondrian.parameters] == list(Mondrian.model_fields)
    split = next(one for one in mondrian.parameters if one.name == "split")
    assert (split.default, split.allowed) == ("median", "median, infogain, regression, loss")
    (k,) = ENTRIES["requirement:k-anonymity"].parameters
    assert (k.meaning, k.default, k.allowed) == ("Smallest number of people in a group.", "5", "at least 1")
    attack = ENTRIES["attack:foreground_knowledge"]
    signature = inspect.signature(MEASURES["attacks.foreground_knowledge"])
    assert [one.name for one in attack.parameters] == [
        one for one in signature.parameters if one[:2] not in ("re", "pr")
    ]
    assert next(one for one in attack.parameters if one.name == "epsilon").default == "none"


def test_a_number_shares_the_facts_of_what_it_is_read_from_but_has_its_own_source():
    entry = ENTRIES["criterion:foreground-excess"]
    assert entry.related == "attack:foreground_knowledge"
    assert entry.facts["Assumes"] == ENTRIES[entry.related].facts["Assumes"]
    assert entry.facts["Source"] == f"{CRITERIA['foreground-excess'].source}."
    assert "Lower is better" in entry.definition
    assert "Higher is better" in ENTRIES["criterion:k"].definition


SECTIONED = """What it is, for all.

    More of it.

    Parameters
    ----------
    release : Release
        The release.
    first, second : str
        Names of two fragments,
        which differ.

    Returns
    -------
    ndarray of float, shape (n, m)
        A number per row.

        Zero means none.

    Raises
    ------
    DataError
        Where there is no row.
    ParameterError
        Where there are too many.

    Notes
    -----
    Assumes: that it
      goes on.
    Cost: O(1).

    References
    ----------
    Somebody, Something,
    1999, section 3.

    Examples
    --------
    One and one:

    >>> 1 + 1
    2
    """


def test_facts_are_read_off_a_docstring():
    parts = Docstring.of(SECTIONED)
    assert parts.text == "What it is, for all.\n\nMore of it."
    assert about.facts_of(parts) == {
        "Assumes": "that it goes on.",
        "Cost": "O(1).",
        "Source": "Somebody, Something, 1999, section 3.",
    }


def test_sections_list_names_with_types_and_meanings():
    parts = Docstring.of(SECTIONED)
    assert parts.described("Parameters") == (
        Described("release", "Release", "The release."),
        Described("first", "str", "Names of two fragments, which differ."),
        Described("second", "str", "Names of two fragments, which differ."),
    )
    returned = Described("ndarray of float, shape (n, m)", "", "A number per row.\n\nZero means none.")
    assert parts.described("Returns") == (returned,)
    assert [one.name for one in parts.described("Raises")] == ["DataError", "ParameterError"]
    assert parts.sections["Examples"] == "One and one:\n\n>>> 1 + 1\n2"
    assert parts.described("Attributes") == ()


def looked_up(visitor: Visitor) -> str:
    """The title of the entry that is shown."""
    assert visitor.at.title[0].value == "Reference"
    return str(visitor.at.subheader[0].value)


@pytest.mark.parametrize("key", ["algorithm:slicing", "requirement:t-closeness", "attack:membership", "criterion:t"])
def test_the_page_shows_the_chosen_entry_and_keeps_it_in_the_address(key: str, visitor: Visitor):
    visitor.open("reference")
    visitor.at.selectbox[0].set_value(key)
    visitor.run()
    entry = ENTRIES[key]
    assert looked_up(visitor) == entry.title
    for word, fact in entry.facts.items():
        text = fact.replace("`region_membership`", "*Membership by regions*")
        assert f"**{about.FACTS[word]}**\n\n{text[:1].upper()}{text[1:]}" in visitor.texts()
    for parameter in entry.parameters:
        assert f"(`{parameter.name}`)" in visitor.texts()
    assert str(list(ENTRIES).index(key)) in visitor.at.query_params.values()


def press(visitor: Visitor, key: str) -> Visitor:
    """Press the first button that opens an entry."""
    button = next(one for one in visitor.at.button if str(one.key).startswith("about-") and str(one.key).endswith(key))
    button.click()
    return visitor.run()


def test_methods_and_requirements_open_from_where_they_are_chosen(visitor: Visitor):
    visitor.open("board")
    visitor.at.session_state["_board_dialog"] = ("method", "c1")
    assert looked_up(press(visitor.run(), "algorithm:mondrian")) == "Mondrian"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "key"),
    [
        ("method", "algorithm:mondrian"),
        ("privacy", "attack:reidentification"),
        ("privacy", "requirement:t-closeness"),
        ("closeness", "requirement:t-closeness"),
        ("attack", "attack:foreground_knowledge"),
        ("utility", "measure:query_error"),
        ("explain", "requirement:distinct-diversity"),
    ],
)
def test_other_names_open_from_where_they_stand(page: str, key: str, visitor: Visitor):
    add_run(visitor, Mondrian(requirements=(KAnonymity(k=5),)))
    assert looked_up(press(visitor.open(page), key)) == ENTRIES[key].title


def test_an_entry_leads_to_the_lesson_that_shows_it(visitor: Visitor):
    visitor.open("reference")
    visitor.at.selectbox[0].set_value("algorithm:stack-and-deal")
    visitor.run().press("Lesson: Stack & Deal")
    assert visitor.at.title[0].value == "Learn"
    assert "Cards with salaries" in visitor.texts()


def test_a_number_that_was_added_as_a_row_says_what_it_is(visitor: Visitor):
    visitor.open("board")
    visitor.at.session_state["_board_dialog"] = ("about", "max-share")
    assert ENTRIES["criterion:max-share"].definition in visitor.run().texts()
    assert looked_up(press(visitor, "criterion:max-share")) == "Largest share"


def test_every_tab_of_the_attacks_and_every_number_of_utility_has_an_entry():
    assert {entry for _, entry in attack.ATTACKS.values()} | set(utility.EXPLAINED) <= set(ENTRIES)
    assert about.key_of(Slicing) == "algorithm:slicing"
    assert about.CHOICE
