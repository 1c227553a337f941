"""The page Table looks for identifiers when it is asked, and mends them with a click."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.session import state
from tests.dashboard.conftest import Visitor


@pytest.mark.slow
def test_findings_are_sentences_and_a_click_mends_them(visitor: Visitor) -> None:
    zips = [10115, 80331, 3601, 20095]
    frame = pd.DataFrame({"mail": [f"p{row}@example.org" for row in range(4)], "zip": zips, "age": [34, 91, 57, 90]})
    visitor.upload("people.csv", frame.to_csv(index=False).encode())
    here = state._workspaces.get(visitor.workspace)
    assert "e-mail addresses" not in visitor.texts(), "nobody asked yet"
    visitor.at.toggle(key=f"safe-harbor-{here.table.id}").set_value(True)
    visitor.run()
    assert "'mail' holds e-mail addresses (F) in 100% of its values." in visitor.texts()
    assert "What cannot be seen" in visitor.texts()
    for key in ("mend-F-mail", "mend-B-zip", "mend-C-age"):
        visitor.at.button(key=key).click()
        visitor.run()
    assert visitor.errors == []
    assert dict(here.tags.roles) == {"mail": "identifier", "zip": "quasi-identifier", "age": "quasi-identifier"}
    domain = state._microdata.get(here.table, here.tags).domain
    groups = here.tags.hierarchies
    assert [groups["zip"].path_of(value)[0] for value in sorted(zips)] == ["000", "101", "200", "803"]
    assert [groups["age"].path_of(value)[0] for value in domain["age"].values] == ["34", "57", "90+", "90+"]
