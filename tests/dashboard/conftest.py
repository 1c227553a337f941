"""A visitor of the page, without a browser."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from anoncore.sources import TableSource, read_table
from dashboard.board import facts
from dashboard.elements.routes import ROUTES
from dashboard.serving import own_token
from dashboard.session import state
from dashboard.session.wishes import Step, Wishes
from dashboard.session.workspace import Workspace
from dashboard.tasks import jobs, reading, warmup
from tests.dashboard import browser, sent

APP = Path(__file__).resolve().parents[2] / "dashboard" / "app.py"
TIMEOUT = 180
READ_APART = ("test_reading", "test_served", "test_hostile_texts")
"""Test modules, by how their names begin, in which files are read in a process of their own as visitors' files are."""
MEASURED = ("test_closer", "test_three_people", "test_facts", "test_bench", "test_over", "test_browser")
"""Test modules, by how their names begin, that look at what the slow numbers of the board are."""
ESTIMATES = {
    "given_away": "about_given_away",
    "predictable": "about_predictable",
    "by_the_strongest": "about_the_strongest",
}
"""What estimates a slow number of the board before it is worked out."""


@pytest.fixture(autouse=True)
def read_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read uploaded files in this process, which saves starting another for every upload."""

    def table_here(content: bytes, name: str, *, limits: object, **more: Any) -> TableSource:
        return read_table(content, name, **more)

    def answer_here(function: str, content: bytes, name: str, about: Mapping[str, Any] | None, limits: object) -> Any:
        module, _, called = function.partition(":")
        return json.loads(json.dumps(getattr(import_module(module), called)(content, **about or {})))

    if not request.module.__name__.rpartition(".")[2].startswith(READ_APART):
        monkeypatch.setattr(reading, "read_table_apart", table_here)
        monkeypatch.setattr(reading, "answer_apart", answer_here)


def answer_at_once(monkeypatch: pytest.MonkeyPatch, **told: Mapping[str, Any]) -> None:
    """Give slow numbers of the board at once, each by the name of the function of `facts` that works it out; what
    estimates it first says the same, and that it is exact.
    """
    for name, found in told.items():
        monkeypatch.setattr(facts, name, lambda *_, found=found, **__: dict(found))
        if name in ESTIMATES:
            monkeypatch.setattr(facts, ESTIMATES[name], lambda *_, found=found, **__: {**found, "is_exact": True})


@pytest.fixture(autouse=True)
def quick_measures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attacks and classifiers have tests of their own; tests of pages would take most of their time for the board's."""
    if not request.module.__name__.rpartition(".")[2].startswith(MEASURED):
        answer_at_once(
            monkeypatch,
            given_away={"learned": True, "value": 0.05, "guess": 0.1, "control": 0.02, "excess": 0.03},
            predictable={"value": 0.5, "original": 0.6, "guess": 0.3},
            by_the_strongest={},
            of_other_draws={},
        )


class Visitor:
    """One browser session; `at` is Streamlit's own test object."""

    def __init__(self, workspace: str | None = None) -> None:
        self.at = AppTest.from_file(APP, default_timeout=TIMEOUT)
        if workspace is not None:
            self.at.query_params["workspace"] = workspace
        self.run()

    def run(self) -> Visitor:
        """Draw the page anew; no exception may reach the visitor."""
        self.at.run()
        assert not self.at.exception, [item.value for item in self.at.exception]
        return self

    @property
    def release_shown(self) -> Any:
        """The choice of the release at which a page looks closer."""
        return next(box for box in self.at.selectbox if box.label == "Release shown")

    def until(self, is_so: Callable[[], object]) -> Visitor:
        """Draw the page anew until it is so."""
        end = time.monotonic() + TIMEOUT
        while not is_so():
            assert time.monotonic() < end
            time.sleep(0.05)
            self.run()
        return self

    def open(self, page: str) -> Visitor:
        """Go to another page by its title in small letters. Streamlit's switch_page only knows pages that are files."""
        route = next(route for route in ROUTES if route.title.lower() == page)
        path = "" if route is ROUTES[0] else route.name
        pages = self.at._registered_pages
        self.at._page_hash = next(key for key, info in pages.items() if info["url_pathname"] == path)
        return self.run()

    @property
    def workspace(self) -> str:
        """The workspace id in the address."""
        return self.at.query_params["workspace"]

    def upload(self, name: str, content: bytes) -> Visitor:
        """Upload a table on the page Table."""
        self.open("table")
        self.at.file_uploader[0].set_value((name, content, "application/octet-stream"))
        return self.run()

    def press(self, label: str) -> Visitor:
        """Press the button of that label."""
        next(button for button in self.at.button if button.label == label).click()
        return self.run()

    @property
    def here(self) -> Workspace:
        """The workspace of this visitor."""
        return state._workspaces.get(self.workspace)

    def make(self, *methods: str, fields: Mapping[str, Any] | None = None, **levels: float) -> Visitor:
        """Do what `ask` does on the board, and wait for the releases."""
        self.open("board")
        n_columns = len(self.ask(*methods, fields=fields, **levels).here.history.now.wishes.columns)
        self.run()
        end = time.monotonic() + TIMEOUT
        while len(self.here.runs) < n_columns and self.here.jobs["board"].is_busy:
            assert time.monotonic() < end
            time.sleep(0.02)
            self.run()
        return self.run()

    def ask(self, *methods: str, fields: Mapping[str, Any] | None = None, **levels: float) -> Visitor:
        """Put a column per method (else Mondrian) on the board, with such parameters of its own, asked for these levels
        (else k = 5); the page is not drawn.
        """
        wishes = Wishes()
        for axis, value in (levels or {"k": 5}).items():
            wishes = wishes.with_level(axis, value)
        for method in methods or ("mondrian",):
            wishes = wishes.with_column(method, fields)
        here = self.here
        here.history.step(Step(here.tags, wishes))
        here.is_live = True
        return self

    def has_button(self, label: str) -> bool:
        """Whether there is such a button that can be pressed."""
        return any(button.label == label and not button.disabled for button in self.at.button)

    def tag(self, **roles: str) -> Visitor:
        """Give attributes their roles, as the editor does; a column's spaces and dashes are written `_`."""
        here = state._workspaces.get(self.workspace)
        names = {name.replace("-", "_").replace(" ", "_"): name for name in map(str, here.table.frame)}
        for name, role in roles.items():
            here.set_tags(here.tags.changed("roles", names[name], role))
        return self.run()

    def texts(self) -> str:
        """Everything that is written on the page, for looking up sentences."""
        kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success")
        written = "\n".join(str(item.value) for kind in kinds for item in getattr(self.at, kind))
        return written.replace("\\", "")

    @property
    def errors(self) -> list[str]:
        """The sentences in red, but for those about what fails in the release."""
        told = [str(item.value).replace("\\", "") for item in self.at.error]
        return [text for text in told if not text.startswith("**Not asked for, ")]

    @property
    def faults(self) -> list[str]:
        """The same, but for the verdict that a column breaks what was asked which is published by decision."""
        return [text for text in self.errors if "published by decision" not in text]

    @property
    def warnings(self) -> list[str]:
        """The sentences in yellow, but for those about what somebody decided on the release."""
        told = [str(item.value).replace("\\", "") for item in self.at.warning]
        return [text for text in told if not text.startswith("**This is published by decision.")]


@pytest.fixture(autouse=True, scope="session")
def one_scan() -> Iterator[None]:
    """Streamlit looks through all installed packages for components at a session's first run; once is enough here."""
    with pytest.MonkeyPatch.context() as patch:
        scan = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True, scope="session")
def one_translation() -> Iterator[None]:
    """A server translates the program of the page once; the test object of Streamlit would do it at every draw."""
    translate = ScriptCache.get_bytecode
    whole = ScriptCache()

    def translated(cache: ScriptCache, script_path: str) -> Any:
        return translate(whole if script_path == str(APP) else cache, script_path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptCache, "get_bytecode", translated)
        yield


@pytest.fixture(autouse=True)
def no_warm_up(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages need not get ready for a visitor who stays for a second."""
    if request.module.__name__.rpartition(".")[2] != "test_warmup":
        monkeypatch.setattr(warmup, "start", lambda: None)


@pytest.fixture(autouse=True)
def started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without a server are drawn for whoever started the program, which a gate would have seen."""
    monkeypatch.setattr(own_token, "is_checked", lambda: True)


@pytest.fixture(autouse=True)
def computes_no_longer_than_its_test() -> Iterator[None]:
    """Whatever a test has begun ends with it: a later one would wait for its turn behind that."""
    yield
    for here in state._workspaces.all():
        here.close()
    jobs.cancel_all(0.0)


@pytest.fixture(autouse=True)
def can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser can draw every page that a test draws, also where a part of it begins anew before it was sent."""
    parse = local_script_runner.parse_tree_from_messages

    def parse_what_can_be_drawn(messages: list[Any]) -> Any:
        assert sent.cannot_be_drawn(messages) == []
        for part in sent.parts_that_redraw(messages):
            assert sent.cannot_be_drawn(sent.sent_when_a_part_begins_anew(messages, part)) == [], part
        return parse(messages)

    monkeypatch.setattr(local_script_runner, "parse_tree_from_messages", parse_what_can_be_drawn)


@pytest.fixture
def visit() -> Callable[..., Visitor]:
    """Start a visitor's session."""
    return Visitor


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    """A visitor who looks at the first table, which is loaded when they arrive."""
    return visit().open("table")


@pytest.fixture(scope="session")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the dashboard prints that all tests share that drive a browser."""
    return tmp_path_factory.mktemp("server") / "printed.txt"


@pytest.fixture(scope="session")
def address(printed: Path) -> Iterator[str]:
    """The address of one dashboard for all tests that drive a browser; each visitor has a workspace of its own."""
    with printed.open("wb") as output, browser.serving(output=output) as (found, _pid):
        yield found


@pytest.fixture(scope="session")
def profiles() -> list[Any]:
    """Emptied profiles of the browser that no visitor has now."""
    return []


@pytest.fixture
def browse(chrome: Any, address: str, profiles: list[Any], printed: Path) -> Iterator[Callable[..., browser.Visitor]]:
    """Start visitors; at the end none has seen an exception and none has asked another machine for anything.

    A newcomer `after` somebody else gets the emptied profile of that visitor, who leaves; another one would load the
    program of the page once more. What the server has printed meanwhile stands beside the failure of a test.
    """
    visitors: list[browser.Visitor] = []
    n_printed = printed.stat().st_size

    def leave(one: browser.Visitor) -> None:
        assert one.problems() == []
        assert one.foreign == []
        profiles.append(browser.forget(one))

    def start(after: browser.Visitor | None = None, **options: Any) -> browser.Visitor:
        if after is not None:
            visitors.remove(after)
            leave(after)
        profile = profiles.pop() if profiles else None
        visitors.append(browser.visitor(chrome, address, profile=profile, **options))
        return visitors[-1]

    yield start
    print(printed.read_bytes()[n_printed:].decode("utf-8", "replace"), flush=True)
    for one in visitors:
        leave(one)
