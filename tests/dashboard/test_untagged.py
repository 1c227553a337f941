"""Columns that undo a tag, on the pages Attributes and Export: what they give away, and the decision on each."""

from __future__ import annotations

import pandas as pd

from anoncore.algorithms import Mondrian
from anoncore.publishing.certification import certify, new_key
from anoncore.requirements import KAnonymity
from dashboard import state
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run

ALGORITHM = Mondrian(requirements=(KAnonymity(k=6),))
ROLES = {"age": "quasi-identifier", "degree": "quasi-identifier"}


def pupils() -> pd.DataFrame:
    return pd.DataFrame(
        {"age": range(20, 44), "degree": ["none", "school", "college"] * 8, "years": [8, 12, 16] * 8, "note": range(24)}
    )


def downloads(visitor: Visitor) -> dict[str, bool]:
    """Whether each file can be taken, by the label of its button."""
    return {button.proto.label: not button.proto.disabled for button in visitor.at.download_button}


def tick(visitor: Visitor, column: str) -> None:
    next(box for box in visitor.at.checkbox if box.label == f"Publish '{column}' as it is").check()
    visitor.run()


def test_nothing_is_downloaded_before_every_column_is_decided_on(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), ROLES)
    visitor.open("export")
    (told,) = [one for one in visitor.warnings if "Decide on" in one]
    assert told.startswith("Decide on 'years', 'note' first: nothing can be downloaded")
    assert "'years' has no tag and tells 'degree' of every row" in visitor.texts()
    files = downloads(visitor)
    assert not any(files[name] for name in ("CSV", "Parquet", "Excel", "Certificate (JSON)"))
    assert files["Report (HTML)"], "the report is for those who decide"
    tick(visitor, "years")
    assert not downloads(visitor)["CSV"]
    tick(visitor, "note")
    assert all(downloads(visitor).values())


def test_the_decision_goes_into_certificate_and_recipe_and_outlives_the_page(visitor: Visitor) -> None:
    run = add_run(visitor, ALGORITHM, pupils(), ROLES)
    visitor.open("export")
    tick(visitor, "years")
    tick(visitor, "note")
    visitor.open("privacy")
    visitor.open("export")
    assert downloads(visitor)["CSV"]
    kept = state._workspaces.get(visitor.workspace).forms[f"publish-untagged-{run.id}"]
    assert kept == ["years", "note"]
    certificate = certify(run.release, new_key(), publish_untagged=kept)
    assert [one.column for one in certificate.untagged or ()] == kept


def test_a_tag_from_the_page_needs_another_run(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), ROLES)
    visitor.open("export")
    visitor.press("Tag it as quasi-identifier")
    assert state._workspaces.get(visitor.workspace).tags.roles["years"] == "quasi-identifier"
    assert "The tags of 'years' have changed since this run." in visitor.texts()
    assert not downloads(visitor)["CSV"]


def test_the_page_attributes_proposes_the_tag(visitor: Visitor) -> None:
    add_run(visitor, ALGORITHM, pupils(), ROLES)
    visitor.open("attributes")
    assert "'years' has no tag and tells 'degree' of every row" in visitor.texts()
    assert "Insensitive columns that make rows unique" in visitor.texts()
    visitor.press("Tag it as quasi-identifier")
    assert "tells 'degree'" not in visitor.texts()


def test_a_built_in_table_says_insensitive_by_decision(visitor: Visitor) -> None:
    visitor.open("anonymize").anonymize()
    visitor.open("export")
    assert "nothing can be downloaded" not in visitor.texts()
    assert all(downloads(visitor).values())
