"""More than forty mistakes in Python: each is an error of the library whose sentence says what to do."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anoncore import (
    AnonymizationError,
    DataError,
    Hierarchy,
    InfeasibleError,
    Microdata,
    ParameterError,
    Partition,
    Recipe,
    RecipeError,
    Release,
    ReleaseError,
    UnmetRequirementError,
    anonymize,
    attacks,
    check,
    extend,
    utility,
)
from anoncore.algorithms import Anatomy, Mondrian, Slicing, VerticalFragmentation
from anoncore.datasets import table
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness

PEOPLE = pd.DataFrame(
    {"age": [20, 21, 30, 31] * 5, "zip": list("1122") * 5, "disease": list("abcd") * 5, "town": list("wxyz") * 5}
)
ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"}
DATA = Microdata(PEOPLE, ROLES)
RELEASE = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(DATA)

MISTAKES: list[tuple[Callable[[], object], type[AnonymizationError], str]] = [
    (lambda: Microdata(PEOPLE, {"agee": "quasi-identifier"}), DataError, "Did you mean 'age'?"),
    (
        lambda: Microdata(PEOPLE, {"age": "quasi"}),
        DataError,
        "The role of 'age' is 'quasi'; use one of 'identifier', 'quasi-identifier',",
    ),
    (
        lambda: Microdata(PEOPLE, {"age": "secret"}),
        DataError,
        "The role of 'age' is 'secret'; use one of 'identifier', 'quasi-identifier',",
    ),
    (
        lambda: Microdata(PEOPLE, ["age"]),
        ParameterError,
        "Microdata needs entries by name as roles, not a list: give a dictionary such as",
    ),
    (
        lambda: Microdata("people.csv", ROLES),
        DataError,
        "A table is given as a pandas or Polars DataFrame, a Polars LazyFrame, an Arrow",
    ),
    (lambda: Microdata(PEOPLE.iloc[:0], ROLES), DataError, "The table has column names but no rows."),
    (
        lambda: Microdata(pd.DataFrame([[1, 2]], columns=["a", "a"]), {"a": "sensitive"}),
        DataError,
        "Columns share a name: 'a'; give every column its own.",
    ),
    (
        lambda: Microdata(PEOPLE, ROLES, unit="patient"),
        DataError,
        "unit names 'patient', which the table lacks; it has 'age', 'zip', 'disease', 'town'.",
    ),
    (
        lambda: Microdata(PEOPLE, ROLES, kinds={"town": "number"}),
        DataError,
        "The kind of 'town' is 'number'; use one of 'numeric', 'ordinal', 'nominal'.",
    ),
    (
        lambda: Microdata(PEOPLE, ROLES, hierarchies={"zip": "x"}),
        DataError,
        "The hierarchy of 'zip' is a str; make it a Hierarchy first.",
    ),
    (
        lambda: Microdata(PEOPLE, {**ROLES, "name": "identifier"}),
        DataError,
        "roles names 'name', which the table lacks; it has 'age', 'zip', 'disease', 'town'.",
    ),
    (
        lambda: Hierarchy.from_nested({"a": [1, 1]}),
        DataError,
        "The hierarchy lists the value '1' twice; keep one line for it.",
    ),
    (lambda: Hierarchy.from_nested([]), DataError, "is empty; give it a value, or leave it out."),
    (lambda: KAnonymity(k=0), ParameterError, "k-anonymity: k should be greater than or equal to 1, not 0."),
    (
        lambda: KAnonymity(k="many"),
        ParameterError,
        "k-anonymity: k should be a valid integer, unable to parse string as an integer,",
    ),
    (lambda: TCloseness(t=2), ParameterError, "t-closeness: t should be less than or equal to 1, not 2."),
    (
        lambda: TCloseness(t=0.2, ground="euclid"),
        ParameterError,
        "t-closeness: ground should be 'ordered', 'interval', 'equal' or 'hierarchical',",
    ),
    (
        lambda: DistinctDiversity(l=0.5),
        ParameterError,
        "distinct l-diversity: l should be a valid integer, got a number with a",
    ),
    (lambda: Mondrian(requirements=KAnonymity(k=2), spilt="loss"), ParameterError, "Did you mean 'split'?"),
    (
        lambda: Mondrian(split="best"),
        ParameterError,
        "Mondrian: split should be 'median', 'infogain', 'regression' or 'loss', not 'best'.",
    ),
    (
        lambda: Mondrian(requirements=["k=2"]),
        ParameterError,
        "Mondrian: requirements.0 should be a valid dictionary or instance of",
    ),
    (lambda: Mondrian(requirements=[KAnonymity(k=30)]).anonymize(DATA), InfeasibleError, "choose k at most 20"),
    (
        lambda: Mondrian(requirements=[KAnonymity(k=2)]).anonymize(PEOPLE),
        ParameterError,
        "Microdata(frame, roles={'age': 'quasi-identifier', 'disease': 'sensitive'}) makes it of a table.",
    ),
    (lambda: Mondrian(requirements=[DistinctDiversity(l=9)]).anonymize(DATA), InfeasibleError, "choose l at most 4"),
    (
        lambda: Mondrian(requirements=[TCloseness(t=0.1, attribute="ilness")]).anonymize(DATA),
        DataError,
        "There is no attribute 'ilness' to protect; the table has 'age', 'zip', 'disease'.",
    ),
    (lambda: Anatomy(l=9).anonymize(DATA), InfeasibleError, "choose l at most 4."),
    (
        lambda: Slicing(l=2, attribute_columns=[["age", "zpi"]]).anonymize(DATA),
        DataError,
        "The columns name 'zpi', which the table lacks or never publishes; it has 'age',",
    ),
    (lambda: VerticalFragmentation(k=50).anonymize(DATA), InfeasibleError, "choose k at most 20"),
    (
        lambda: attacks.foreground_knowledge(RELEASE, "diseas"),
        DataError,
        "There is no attribute 'diseas' to protect; the table has 'age', 'zip', 'disease'.",
    ),
    (
        lambda: attacks.foreground_knowledge(RELEASE, "disease", r=0),
        ParameterError,
        "r must be at least 1, so that 1 / r is a probability, not 0.",
    ),
    (
        lambda: attacks.inference(RELEASE, "town"),
        ReleaseError,
        "The release does not publish 'town'; it has 'age', 'zip', 'disease'.",
    ),
    (
        lambda: attacks.composition([RELEASE], "disease"),
        ParameterError,
        "A composition needs at least two releases, not 1.",
    ),
    (
        lambda: attacks.definetti(PEOPLE, "disease"),
        ParameterError,
        "definetti needs a Release as release, not a DataFrame:",
    ),
    (
        lambda: attacks.memorization(RELEASE, "disease", PEOPLE),
        ParameterError,
        "memorization needs Microdata as control, not a DataFrame: Microdata(frame,",
    ),
    (
        lambda: utility.information_loss(PEOPLE),
        ParameterError,
        "information_loss needs a Release as release, not a DataFrame:",
    ),
    (lambda: utility.two_way_error(DATA), ParameterError, "two_way_error needs a Release as release, not Microdata:"),
    (
        lambda: utility.least_loss(DATA, k=50),
        InfeasibleError,
        "k = 50 is not possible: the table has 20 people; choose k at most 20.",
    ),
    (
        lambda: utility.least_loss(DATA, k=2, seconds=-1),
        ParameterError,
        "seconds should be greater than or equal to 0, not -1.",
    ),
    (
        lambda: anonymize(PEOPLE, ["age"], secret="disease", k=2, method="mondrain"),
        ParameterError,
        "There is no algorithm 'mondrain'; did you mean 'mondrian'? There is 'anatomy',",
    ),
    (
        lambda: anonymize(PEOPLE, ["age"], secret="disease", k=2, kk=3),
        ParameterError,
        "There is no parameter of anonymize or field of Mondrian 'kk'; did you mean 'k'?",
    ),
    (
        lambda: check(PEOPLE, ["age"], secret="disease", require="k=50"),
        UnmetRequirementError,
        "anoncore.anonymize makes a release of the table in which it holds.",
    ),
    (lambda: check(PEOPLE, ["age"], secret="diseas"), ParameterError, "Did you mean 'disease'?"),
    (
        lambda: check(PEOPLE, "age,zip"),
        ParameterError,
        "'age,zip' is one text; give several columns as a list, such as ['age', 'zip'].",
    ),
    (
        lambda: check([1, 2], ["age"]),
        DataError,
        "A table is given as a pandas or Polars DataFrame, a Polars LazyFrame, an Arrow",
    ),
    (
        lambda: Release.from_published(PEOPLE, {"agee": "quasi-identifier"}),
        DataError,
        "No published table has the columns 'agee'; there is 'age', 'zip', 'disease', 'town'.",
    ),
    (
        lambda: Release.from_published(PEOPLE, ROLES, original=PEOPLE),
        ParameterError,
        "from_published needs Microdata as original, not a DataFrame: Microdata(frame,",
    ),
    (
        lambda: Recipe.load("none.toml"),
        RecipeError,
        "The recipe 'none.toml' cannot be read: no such file or directory.",
    ),
    (
        lambda: table("censsus"),
        DataError,
        "There is no built-in table 'censsus'; there are census, rothko-synthetic, wide,",
    ),
    (
        lambda: table("census").load(n_rows=0),
        DataError,
        "A generated table needs a whole number of rows of at least 1; 0 was given.",
    ),
    (lambda: Partition([0, 2]), DataError, "A partition needs one whole group id per row, and every id from 0 to the"),
    (lambda: extend.register(int), ParameterError, "give a class derived from Algorithm or Requirement"),
    (lambda: extend.check(KAnonymity(k=2)), ParameterError, "give the class or the function itself"),
]


@pytest.mark.parametrize("place", range(len(MISTAKES)), ids=[words for _, _, words in MISTAKES])
def test_a_mistake_is_a_sentence_that_says_what_to_do(place: int) -> None:
    mistake, kind, words = MISTAKES[place]
    with pytest.raises(kind) as raised:
        mistake()
    said = str(raised.value)
    assert words in said
    assert said.endswith((".", "?"))
    assert "\n" not in said
