"""In a real browser: a release is exported, verified from its files, and its report is read without a network."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from anoncore.cli import main
from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


@pytest.fixture(scope="module")
def downloads(
    chrome: Any, address: str, profiles: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """Everything that the page Publish hands out for Mondrian's release with k = 5, by the button's key."""
    folder = tmp_path_factory.mktemp("downloads")
    visitor = browser.visitor(chrome, address, profile=profiles.pop() if profiles else None)
    visitor.open("")
    # One column is enough to be taken away, and of what ships nothing is computed.
    for method in ("Anatomy", "Slicing", "Stack & Deal"):
        visitor.remove_column(method)
    visitor.ask(k=5, l=None, t=None)
    visitor.go("Publish")
    visitor.show_release("Mondrian")
    visitor.see("Take away")
    keys = ("csv", "certificate", "report", "mapping", "recipe", "script")
    found = {key: _download(visitor, key, folder) for key in keys}
    with zipfile.ZipFile(found["csv"]) as archive:
        _, table = archive.namelist()
        found["csv"] = Path(archive.extract(table, folder / "unpacked"))
    assert visitor.problems() == []
    assert visitor.foreign == []
    profiles.append(browser.forget(visitor))
    return found


def _download(visitor: Visitor, key: str, folder: Path) -> Path:
    with visitor.page.expect_download(timeout=60_000) as event:
        visitor.page.locator(f".st-key-publish-{key} button").first.click()
    target = folder / event.value.suggested_filename
    event.value.save_as(target)
    return target


def test_the_download_verifies_and_a_changed_one_does_not(
    downloads: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    table = downloads["csv"]
    assert main(["verify", str(downloads["certificate"]), str(table)]) == 0
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = table.with_name("changed.csv")
    changed.write_text("".join(lines[:-1]), encoding="utf-8")
    capsys.readouterr()
    assert main(["verify", str(downloads["certificate"]), str(changed)]) == 1
    assert "45,221 rows, but 45,222 were certified" in capsys.readouterr().out


def test_the_recipe_makes_the_downloaded_table_again(downloads: dict[str, Path], tmp_path: Path) -> None:
    words = ["run", str(downloads["recipe"]), "--output", str(tmp_path / "again.csv")]
    assert main(words) == 0
    assert (tmp_path / "again.csv").read_bytes() == downloads["csv"].read_bytes()
    assert main(["verify", str(downloads["certificate"]), str(tmp_path / "again.csv")]) == 0


def test_files_are_named_for_what_they_are(downloads: dict[str, Path]) -> None:
    names = {key: path.name for key, path in downloads.items()}
    assert names["certificate"].endswith("-mondrian-certificate.json")
    assert names["mapping"].endswith("-mondrian-mapping-not-for-publication.csv")
    assert names["script"].endswith("-mondrian.py")
    assert "HERE = Path(__file__).parent" in downloads["script"].read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [390, 1366, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_is_read_without_scripts_or_network(
    chrome: Any, downloads: dict[str, Path], width: int, scheme: str
) -> None:
    context = chrome.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=False
    )
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    address = downloads["report"].as_uri()
    page.goto(address)
    assert asked == [address]
    assert said == []
    main_part = page.locator("main")
    assert main_part.bounding_box()["width"] <= width
    for drawing in page.locator("svg.plot").all():
        box = drawing.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.get_by_role("link", name="What was not checked").click()
    assert page.get_by_role("heading", name="What was not checked").bounding_box()["y"] < 900
    assert asked == [address]
    context.close()


def test_the_report_prints_on_paper(chrome: Any, downloads: dict[str, Path]) -> None:
    page = chrome.new_page()
    page.goto(downloads["report"].as_uri())
    content = page.pdf(format="A4")
    assert content.startswith(b"%PDF")
    assert 3 <= content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") + content.count(b"/Type /Page/") <= 12
    page.close()
