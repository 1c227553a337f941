"""All code on the pages of the site runs, and prints what the page says it prints."""

from pathlib import Path

import pytest

from tests.docs.pages import NOT_RUN, ROOT, Block, PageRun, blocks, pages

LANGUAGES = {"python", "sh", "toml", "csv", "text", "dockerfile", "make"}
WITH_CODE = [page for page in pages() if blocks(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = PageRun()
    for block in blocks(page):
        run.run(block)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_its_language(page):
    unknown = [f"{one.where}: {one.language!r}" for one in blocks(page) if one.language not in LANGUAGES]
    assert not unknown, f"Use one of {sorted(LANGUAGES)}: {unknown}"


def block(language: str, code: str, **changes: object) -> Block:
    fields = {"file": None, "page": ROOT / "README.md", "line": 1, "is_run": True, "follows": False}
    return Block(language=language, code=code, **{**fields, **changes})


def test_a_wrong_output_is_noticed():
    run = PageRun()
    run.run(block("python", "print(1 + 1)\n"))
    run.run(block("text", "2\n", follows=True))
    with pytest.raises(AssertionError, match=r"README\.md:1"):
        run.run(block("text", "3\n", follows=True))


def test_a_shell_command_that_fails_or_cannot_run_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="ended with 2"):
        PageRun().run(block("sh", "anoncore run none.toml\n"))
    with pytest.raises(AssertionError, match="cannot be run here"):
        PageRun().run(block("sh", "pip install anoncore\n"))


def test_blocks_are_read_with_their_files_and_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        'Text.\n\n```toml title="a.toml"\nx = 1\n```\n\n- In a list:\n\n    ```python\n    if True:\n'
        "        x = 1\n    ```\n\n<!-- not run: it starts a server -->\n```sh\nanoncore dashboard\n```\n",
        encoding="utf-8",
    )
    first, second, third = blocks(page)
    assert (first.language, first.file, first.code, first.line) == ("toml", "a.toml", "x = 1\n", 3)
    assert (second.language, second.code, second.is_run) == ("python", "if True:\n    x = 1\n", True)
    assert (third.language, third.is_run) == ("sh", False)
    assert NOT_RUN.search(page.read_text(encoding="utf-8"))
    assert Path(page) == third.page
