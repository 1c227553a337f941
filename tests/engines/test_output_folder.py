"""A folder that takes the place of an earlier one, or leaves it where it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from anoncore import DataError
from anoncore.engines.output_folder import folder_when_complete


def test_an_earlier_folder_comes_back_where_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "release"
    with folder_when_complete(target) as parts:
        (parts / "part").write_text("earlier", encoding="utf-8")
    really = os.replace

    def full(source: Any, place: Any) -> None:
        if Path(source).name == "parts":
            raise OSError(28, "No space left on device")
        really(source, place)

    monkeypatch.setattr("anoncore.engines.output_folder.os.replace", full)
    with pytest.raises(DataError), folder_when_complete(target, replace=True) as parts:
        (parts / "part").write_text("new", encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    assert (target / "part").read_text(encoding="utf-8") == "earlier"
