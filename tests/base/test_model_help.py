"""What `help`, an editor and completion by the tab key show of models and of the packages that people call."""

from __future__ import annotations

import inspect
import pydoc
from importlib import import_module
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from anoncore.algorithms import ALGORITHMS, Mondrian, Suppression
from anoncore.base.model import Model, TupleOf
from anoncore.requirements import REQUIREMENTS, KAnonymity, VarianceDiversity
from dashboard.elements.about import Docstring

MODELS = [*ALGORITHMS.values(), *REQUIREMENTS.values()]
ROOMS = ("algorithms", "attacks", "datasets", "measures", "privacy", "requirements", "search", "utility")


class Method(Model):
    """What it does.

    Notes
    -----
    Cost: little.
    """

    name = "method"

    k: Annotated[int, Field(ge=1, le=1_000_000, title="k", description="Fewest rows.")] = 5
    names: Annotated[TupleOf[TupleOf[str]] | None, Field(title="By hand", description="The columns.")] = None
    split: Annotated[Literal["median", "loss"], Field(description="How to cut.")] = "median"
    weights: Annotated[dict[str, float], Field(description="Costs.")] = Field(default_factory=dict)


def test_the_parameters_of_a_model_are_listed_with_title_range_and_default() -> None:
    assert Method.__doc__ == (
        "What it does.\n\nParameters\n----------\n"
        "k : int, default 5\n    Fewest rows. At least 1 and at most 1,000,000.\n"
        "names : sequence of sequence of str or None, default None\n    By hand: The columns.\n"
        "split : {'median', 'loss'}, default 'median'\n    How to cut.\n"
        "weights : dict of str to float, default {}\n    Costs.\n\n"
        "Notes\n-----\nCost: little."
    )


def test_parameters_that_somebody_wrote_stay_as_they_are() -> None:
    class Written(Model):
        """Something.

        Parameters
        ----------
        k : int
            Rows.
        """

        name = "written"
        k: int = 5

    assert inspect.getdoc(Written).count("Parameters") == 1


def test_a_class_without_a_docstring_gets_none() -> None:
    class Silent(Method):
        name = "silent"

    assert "__doc__" not in vars(Silent) or vars(Silent)["__doc__"] is None


def test_the_signature_reads_like_code() -> None:
    assert str(inspect.signature(Method)) == (
        "(k: int = 5, names: Sequence[Sequence[str]] | None = None, split: Literal['median', 'loss'] = 'median', "
        "weights: dict[str, float] = {})"
    )
    assert str(inspect.signature(VarianceDiversity)) == "(v: float, attribute: str | None = None)"


def test_a_required_field_below_an_optional_one_is_given_by_name() -> None:
    class Late(Method):
        """Something."""

        name = "late"
        least: int

    assert str(inspect.signature(Late)).endswith("weights: dict[str, float] = {}, *, least: int)")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_help_lists_every_field_once_and_no_address_of_a_function(model: type[Model]) -> None:
    text = pydoc.plain(pydoc.render_doc(model))
    assert " at 0x" not in text.partition("Method resolution order")[0]
    docstring = Docstring.of(model.__doc__)
    assert [parameter.name for parameter in docstring.described("Parameters")] == list(model.model_fields)
    assert list(inspect.signature(model).parameters) == list(model.model_fields)
    assert (model.__doc__ or "").count("\nParameters\n") == 1


def test_completion_offers_the_fields_and_methods_of_a_model_and_not_those_of_pydantic() -> None:
    names = dir(Mondrian())
    assert {"anonymize", "requirements", "split", "replace", "to_dict", "title"} <= set(names)
    assert not set(names) & {name for name in dir(BaseModel) if not name.startswith("__")}
    assert not [name for name in names if name.startswith("_") or not hasattr(Mondrian(), name)]
    assert "method" in dir(Suppression())


@pytest.mark.parametrize("room", ROOMS)
def test_completion_offers_the_public_names_of_a_package(room: str) -> None:
    package = import_module(f"anoncore.{room}")
    assert dir(package) == sorted(package.__all__)


def test_a_list_may_be_given_and_a_tuple_is_held() -> None:
    assert Mondrian(requirements=[KAnonymity(k=3)]).requirements == (KAnonymity(k=3),)
    assert Method(5, [["age"]]).names == (("age",),)
