"""The page about recipes names every key that a recipe may have."""

import re

import pytest

from anoncore.recipes.recipe import KEYS
from anoncore.recipes.source import HierarchySpec, Output, Source
from tests.docs.pages import PAGES

PAGE = (PAGES / "how-to" / "recipes.md").read_text(encoding="utf-8")


def section(anchor: str) -> str:
    """The text below the heading with this anchor, up to the next heading."""
    found = re.search(rf"^## .*{{ #{anchor} }}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"The page about recipes has no section for the key '{anchor}'."
    return found[1]


@pytest.mark.parametrize("key", KEYS)
def test_every_key_has_a_section_with_an_example(key):
    text = section(key)
    assert re.search(rf"^(\[{key}|{key} = )", text, re.MULTILINE), f"The section of '{key}' has no example."


@pytest.mark.parametrize(
    ("anchor", "field"),
    [
        *(("source", field) for field in Source.model_fields),
        *(("output", field) for field in Output.model_fields),
        *(("hierarchies", field) for field in HierarchySpec.model_fields),
    ],
)
def test_every_field_stands_in_the_table_of_its_section(anchor, field):
    row = re.search(rf"^\| `{field}` \|.+\|.+\|$", section(anchor), re.MULTILINE)
    assert row is not None, f"The table of [{anchor}] lacks '{field}'."
    assert re.search(rf"\b{field}\b *=|\b{anchor}\.\w+\.{field}\b", section(anchor)) or field == "path"
