"""The dashboard in a server of its own and visitors in headless Chromium; both end with the test."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from dashboard.markdown import JOINER

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "dashboard" / "guarded_app.py"
TOKEN = "t" * 40
"""The token of the dashboards that tests start; visitors have its cookie unless they are strangers."""
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""Programs of Chromium; the one without windows needs a tenth less of the processors."""
FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = {"127.0.0.1", "localhost", ""}
BUSY = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app) return ['no page'];
  const connection = app.getAttribute('data-test-connection-state');
  const script = app.getAttribute('data-test-script-state');
  return [
    ...(connection === 'CONNECTED' ? [] : [`connection ${connection}`]),
    ...(script === 'notRunning' ? [] : [`script ${script}`]),
    ...document.querySelectorAll('[data-testid="stSkeleton"]').length ? ['a place that is still empty'] : [],
    ...[...document.querySelectorAll('[data-stale="true"]')].map(one => `of before: ${one.innerText.slice(0, 80)}`),
  ];
}"""
"""What a page still waits for; nothing when it is idle."""
IDLE = f"() => ({BUSY})().length === 0"
HEADINGS = {"Board": "anoncore"}
"""What stands above a page where it is not its title."""
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def missing() -> str:
    """Why there can be no browser test here; empty if there can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    return "" if chromium() else f"there is no Chromium ({', '.join(BROWSERS)})"


def chromium() -> str | None:
    """Path of the browser."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def server(app: Path = APP, start_seconds: float = 60) -> Iterator[str]:
    """The address of a dashboard on a free local port, in its own process group, which ends with the context."""
    with serving(app, start_seconds) as (address, _pid):
        yield address


@contextmanager
def serving(
    app: Path = APP, start_seconds: float = 60, output: int | IO[bytes] = subprocess.DEVNULL, **variables: str
) -> Iterator[tuple[str, int]]:
    """Like `server`, with further environment variables; gives the address and the id of the process.

    All that the server prints goes to `output`.
    """
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(port)]
    command += ["--server.headless", "true"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=output,
        stderr=output,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ANONCORE_SERVER_TOKEN": TOKEN, **variables},
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process, start_seconds)
        yield address, process.pid
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(5)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(address: str, process: subprocess.Popen[bytes], seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended with code {process.returncode}.")
        with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
            if answer.read().strip() == b"ok":
                return
        time.sleep(0.1)
    raise RuntimeError("The server did not start in time.")


class Visitor:
    """One browser session: counts what the page asks the server for and what of it is answered, and notes requests that
    leave this machine.

    `asked` counts what the page asks because of the visitor, not of a clock by which it looks for news; `answered` how
    many of these the server had heard of when it began the last run that ended. So a test knows whether a click was
    lost, and whether what is on the page is still of before. `seconds` is what the last `run` took, from the action
    until all was painted; `titled` what the last `go` took until the title of the page stood. A page that is not idle
    after `patience` seconds is given up. It is looked at every `polling` milliseconds, as doing so before every frame
    takes a tenth of a processor.
    """

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.patience = 30.0
        self.polling = 60
        self.asked = self.answered = 0
        self._asked_of = ""
        self._heard, self._is_running = 0, False
        self._clocks: set[str] = set()
        self.seconds = self.titled = 0.0
        self.foreign: list[str] = []
        self.console: list[str] = []
        page.on("request", self._requested)
        page.on("websocket", self._connected)
        page.on("pageerror", self._failed)
        page.on("crash", lambda _: self._tells("The browser's page crashed."))
        page.on("requestfailed", self._not_loaded)
        page.on("console", self._said)

    def _requested(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in LOCAL:
            self.foreign.append(request.url)

    @staticmethod
    def _tells(text: str) -> None:
        """Say what may leave a page empty; it stands beside the failure of the test."""
        print(text, flush=True)

    def _failed(self, error: Any) -> None:
        self.console.append(str(error))
        self._tells(f"The program of the page failed: {error}")

    def _not_loaded(self, request: Any) -> None:
        # What another page takes the place of is aborted.
        if request.failure != "net::ERR_ABORTED":
            self._tells(f"{request.url} was not loaded: {request.failure}")

    def _said(self, message: Any) -> None:
        # What the server forbids to load, the browser only mentions.
        if "Content Security Policy" in message.text:
            self.console.append(message.text)

    def _connected(self, socket: Any) -> None:
        # What another connection asked is answered by nobody, and its clocks have stopped.
        self.answered = self._heard = self.asked
        self._is_running = False
        self._clocks.clear()
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)
        socket.on("close", lambda _: self._tells("A connection to the server ended."))

    def _sent(self, payload: Any) -> None:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg.FromString(payload) if isinstance(payload, bytes) else BackMsg()
        if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.is_auto_rerun:
            self.asked += 1
            self._asked_of = message.rerun_script.fragment_id

    def _received(self, payload: Any) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        message = ForwardMsg.FromString(payload) if isinstance(payload, bytes) else ForwardMsg()
        kind, run = message.WhichOneof("type"), message.metadata.run
        if kind == "new_session":
            # A part of the page that looks for news does not answer what another part, or the whole page, was asked.
            if not run.fragment_ids or self._asked_of in run.fragment_ids:
                self._heard = self.asked
            self._is_running = True
            if not run.fragment_ids:
                self._clocks.clear()
        elif kind == "auto_rerun":
            self._clocks.add(message.auto_rerun.fragment_id)
        elif kind == "stop_auto_rerun":
            self._clocks.difference_update(message.stop_auto_rerun.fragment_ids)
        elif kind == "script_finished":
            self._is_running = False
            # One that is followed at once tells this, whether or not it had come to its end.
            if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self.answered = self._heard

    def open(self, path: str = "table") -> None:
        """Load a page of the dashboard anew; an empty path is that of the board."""
        self.page.goto(path if path.startswith("http") else f"{self.address}/{path}")
        self.page.wait_for_selector("h1", timeout=max(60, self.patience) * 1000)
        self.settle()

    def share_processors(self, patience: float) -> None:
        """Wait longer and look at the page less often, because many browsers work on the same processors."""
        self.patience, self.polling = patience, 100
        self.page.set_default_timeout(patience * 1000)

    def settle(self, seconds: float = 0) -> None:
        """Wait until all that was asked is answered, nothing runs, and all is painted."""
        from playwright.sync_api import TimeoutError

        seconds = seconds or self.patience
        if not self.comes(lambda: self.answered >= self.asked, seconds):
            raise AssertionError("The server did not answer in time.")
        try:
            self.page.wait_for_function(IDLE, timeout=seconds * 1000, polling=self.polling)
        except TimeoutError:
            raise AssertionError(f"The page does not come to rest: {self.page.evaluate(BUSY)}.") from None
        self.page.evaluate(PAINTED)

    def rest(self, seconds: float = 180) -> None:
        """Wait until the page looks for no news any more: every release and every number that it waits for is there."""

        def is_at_rest() -> bool:
            return self.answered >= self.asked and not self._clocks and not self._is_running

        end = time.monotonic() + seconds
        self.settle(seconds)
        while not is_at_rest():
            if not self.comes(is_at_rest, end - time.monotonic()):
                raise AssertionError("The page still waits for something.")
            self.settle()

    @contextmanager
    def run(self, seconds: float = 0) -> Iterator[None]:
        """What is done inside must make the page ask the server; wait until that is answered, and all is painted."""
        before, start = self.asked, time.perf_counter()
        yield
        if not self._asks(before, seconds or self.patience):
            raise AssertionError("The action asked the server for nothing.")
        self.settle(seconds)
        self.seconds = time.perf_counter() - start

    def act(self, action: Callable[[], object], seconds: float = 3) -> None:
        """Do what makes the page ask the server within so many seconds, again where that was lost, and wait for the
        answer.
        """
        start = time.perf_counter()
        self._ask_by(action, seconds)
        self.settle()
        self.seconds = time.perf_counter() - start

    def _ask_by(self, action: Callable[[], object], seconds: float = 3) -> None:
        """Do what makes the page ask the server. A page that is being drawn loses clicks and what is typed: it is done
        again where the page has asked for nothing and does nothing any more.
        """
        before = self.asked
        for _ in range(6):
            action()
            if self._asks(before, seconds):
                return
            self.settle()
            if self.asked > before:
                return
        raise AssertionError("What was done asked the server for nothing.")

    def _asks(self, before: int, seconds: float) -> bool:
        """Whether the page asks the server for something within so many seconds, after it has asked so often."""
        return self.comes(lambda: self.asked > before, seconds)

    def comes(self, is_there: Callable[[], bool], seconds: float) -> bool:
        """Whether something is so within so many seconds."""
        end = time.monotonic() + seconds
        while not is_there() and time.monotonic() < end:
            self.page.wait_for_timeout(25)
        return is_there()

    def go(self, title: str) -> None:
        """Switch to a page by its title: to its section in the navigation, then by its tab."""
        from dashboard.elements.routes import ROUTES

        section = next(route.section for route in ROUTES if route.title == title)
        is_first = next(route.title for route in ROUTES if route.section == section) == title
        heading = self.page.get_by_role("heading", level=1, name=HEADINGS.get(title, title), exact=True)
        entry = self.page.get_by_test_id("stTopNavLink").filter(has_text=section)
        tab = self.page.locator(".st-key-section-tabs").get_by_role("link", name=title, exact=True)
        self.settle()
        start = time.perf_counter()
        # The help of a link that was clicked before would cover the next one.
        self.page.mouse.move(5, 600)
        is_near = tab.count() > 0
        if not is_near:
            self._ask_by(entry.click)
        if is_near or not is_first:
            self._ask_by(tab.click)
        heading.wait_for(timeout=self.patience * 1000)
        self.titled = time.perf_counter() - start
        self.settle()
        self.seconds = time.perf_counter() - start

    @staticmethod
    def _appears(wanted: Any, seconds: float) -> bool:
        with suppress(Exception):
            wanted.wait_for(timeout=seconds * 1000)
            return True
        return False

    def click_until_shown(self, mark: Any, wanted: Any) -> None:
        """Click a mark of a chart until what it opens is there: a chart that is being redrawn loses clicks."""
        for _ in range(5):
            self.settle()
            before = self.asked
            mark.click(force=True)
            self._asks(before, 3)
            self.settle()
            if self._appears(wanted, 3):
                return
        raise AssertionError("The mark opened nothing.")

    def press(self, name: str | re.Pattern[str], exact: bool = True) -> None:
        """Press the first button of this name."""
        self.act(self.page.get_by_test_id("stMain").get_by_role("button", name=name, exact=exact).first.click)

    def tab(self, name: str) -> None:
        """Open a tab; an open one stays as it is."""
        tab = self.page.get_by_test_id("stMain").get_by_role("tab", name=name, exact=True)
        tab.wait_for()
        if tab.get_attribute("aria-selected") != "true":
            self.act(tab.click)

    def enter(self, field: Any, value: object) -> None:
        """Type another value into a field and take it by the key Enter."""

        def typed() -> None:
            field.fill(str(value))
            field.press("Enter")

        self.act(typed)

    def choose(self, label: str, option: str, exact: bool = True) -> None:
        """Choose another option of a select box by its (exact) text."""
        box = self.page.get_by_test_id("stSelectbox").filter(has_text=label).first
        self.choose_in(box.locator("input"), option, exact)

    def choose_in(self, field: Any, option: str, exact: bool = True) -> None:
        """Choose another option in the field of a select box."""
        self.act(lambda: self._pick(field.click, self.page.get_by_role("option", name=option, exact=exact)))

    @staticmethod
    def _pick(unfold: Callable[[], object], option: Any) -> None:
        """Unfold a list and click on an option, if it is there. A page that is drawn anew meanwhile folds the list."""
        from playwright.sync_api import Error

        if not option.first.is_visible():
            unfold()
        with suppress(Error):
            option.first.click(timeout=3_000)

    def name_place(self) -> None:
        """Unfold what asks for a table by its path or address."""
        self.unfold("by its path or address", self.page.get_by_label("Path or address", exact=True))

    def unfold(self, title: str, wanted: Any) -> None:
        """Open what is folded away under a title until what it holds is there; a page that is being drawn loses clicks,
        and folds it again.
        """
        fold = self.page.get_by_test_id("stExpander").filter(has_text=title).locator("summary")
        for _ in range(5):
            self.settle()
            if wanted.is_visible():
                return
            fold.click()
            if self._appears(wanted, 3):
                return
        raise AssertionError(f"Under '{title}' nothing came up.")

    @property
    def board(self) -> Any:
        """The table of the board, with a column per release."""
        return self.page.locator("table.board")

    def ask(self, **levels: float | None) -> None:
        """Type the levels of k, l, c and t that the board asks of every column; None asks for none."""
        if not self.board.count():
            self.go("Board")
        typed = {axis: "" if level is None else f"{level:g}" for axis, level in levels.items()}
        # A field that is drawn anew while somebody types loses it; a wish counts when all fields show what was typed.
        for _ in range(4):
            fields = {axis: self.page.get_by_role("spinbutton", name=f"{axis}, typed", exact=True) for axis in typed}
            others = [axis for axis, field in fields.items() if field.input_value() != typed[axis]]
            if not others:
                return
            for axis in others:
                self.enter(fields[axis], typed[axis])
        raise AssertionError(f"The levels {', '.join(others)} were not taken.")

    @contextmanager
    def new_column(self, method: str, family: str = "") -> Iterator[None]:
        """Add a column of this method (its title) to the board; its parameters can be entered inside the block.

        `family` is what it does to the table, for a method of another package.
        """
        from anoncore.algorithms import ALGORITHMS
        from dashboard.views.board_dialogs import FAMILIES

        family = family or FAMILIES[next(kind.family for kind in ALGORITHMS.values() if kind.title == method)]
        if not self.board.count():
            self.go("Board")
        self.board.wait_for()
        n_before = self.board.locator("th.column").count()
        dialog = self.page.get_by_role("dialog")
        self.click_until_shown(self.board.locator("[data-key='add']"), dialog.get_by_text("What it does to the table"))
        if dialog.get_by_role("combobox").first.input_value() != family:
            self.choose("What it does to the table", family)
        about = dialog.get_by_role("button", name=f"What {method} is, and when to use it")
        if not self._appears(about, 1):
            # The window may be drawn anew meanwhile, and loses the click.
            self.click_until_shown(dialog.get_by_test_id("stRadio").get_by_text(method, exact=True), about)
        self.settle()
        yield
        added = self.board.locator("th.column").nth(n_before)
        self.click_until_shown(dialog.get_by_role("button", name="Add to the board"), added)

    def column(self, method: str) -> None:
        """Add a column of this method (its title), with its usual parameters, and wait for its release."""
        with self.new_column(method):
            pass
        self.wait_for_release(method)

    def remove_column(self, method: str) -> None:
        """Take the column of this method off the board."""
        self.act(self.board.get_by_role("button", name=f"Remove the release {method}", exact=True).click)

    def wait_for_release(self, method: str) -> None:
        """Wait until the board has judged the release of the last column of this method by what is asked."""
        self.board.wait_for()
        heads = self.board.locator("th.column .method").all_inner_texts()
        column = max(place for place, head in enumerate(heads) if head.removesuffix(" ▾") == method)
        promise = (
            self.board.locator("tbody tr")
            .filter(has_text="and what each release reaches")
            .locator("td.cell")
            .nth(column)
        )
        promise.locator(".marks, .number, .why").first.wait_for(timeout=180_000)
        assert "failed" not in promise.get_attribute("class"), promise.inner_text()

    def show_release(self, method: str) -> None:
        """Let the pages that look closer show the release of this method: the first whose name begins so."""
        # While a page is drawn, Streamlit keeps the field of the draw before beside that of the next.
        fields = self.page.get_by_test_id("stSidebar").locator(
            "[data-testid='stElementContainer']:not([data-retained])"
        )
        box = fields.get_by_test_id("stSelectbox").filter(has_text="Release shown")
        box.wait_for(timeout=self.patience * 1000)
        shown = box.locator("input")
        option = self.page.get_by_role("option", name=re.compile(f"^{re.escape(method)}"))
        end, is_chosen = time.monotonic() + 180, False
        while not shown.input_value().startswith(method):
            assert time.monotonic() < end, f"No release of {method} was shown, but {shown.input_value()!r}."
            before = self.asked
            self._pick(shown.click, option)
            is_chosen = self._asks(before, 1)
            if not is_chosen:
                # It is not there yet; the list is opened anew with those that have come.
                self.page.keyboard.press("Escape")
            self.settle()
        if not is_chosen:
            # What a page shows without having been asked gives way to the first column when that one is there.
            self.rest()
            if not shown.input_value().startswith(method):
                self.show_release(method)

    def grid(self, key: str) -> Any:
        """The data grid whose key begins so."""
        return self.page.locator(f"[class*='st-key-{key}'] [data-testid='stDataFrameResizable']").first

    def cell(self, key: str, column: int, row: int) -> str:
        """Content of a cell of a grid with selectable rows; columns count from 0."""
        return str(self.grid(key).get_by_test_id(f"glide-cell-{column + 1}-{row}").text_content())

    def choose_row(self, key: str, row: int) -> None:
        """Select a row of a grid by its marker; tried again until the grid has taken it."""
        grid = self.grid(key)
        line = grid.locator(f"tr[aria-rowindex='{row + 2}'][aria-selected='true']")

        def marked() -> None:
            # A second click would take the choice back.
            if not line.count():
                grid.click(position={"x": 22, "y": 35 * (row + 1.5)})

        self.act(marked)
        line.wait_for(state="attached")

    def wait_for_cell(self, key: str, column: int, row: int, content: str) -> None:
        """Wait until a cell of a grid without selectable rows has this content."""
        from playwright.sync_api import expect

        cell = self.grid(key).get_by_test_id(f"glide-cell-{column}-{row}")
        expect(cell).to_have_text(content, timeout=15_000)

    def edit_cell(self, key: str, column: int, row: int, left: int, option: str, held: str = "") -> None:
        """Choose another option in a cell of an editor; `left` is a place in its column, in pixels of the grid, and
        `held` what the cell holds for it, where the option is called otherwise.

        A grid that is being drawn loses what is chosen. What the column holds says whether the option has arrived; else
        it is chosen again.
        """
        # What a page draws anew is taken out and put in again, and nothing scrolls to what is out.
        self.settle()
        grid = self.grid(key)
        grid.scroll_into_view_if_needed()
        options = self.page.get_by_role("option", name=option, exact=True)
        # A grid that is drawn anew may have the row in another place.
        arrived = grid.locator(f"[data-testid^='glide-cell-{column}-']").filter(has_text=held or option).first
        for _ in range(3):
            self.act(lambda: self._pick(lambda: grid.dblclick(position={"x": left, "y": 35 * (row + 1.5)}), options))
            with suppress(Exception):
                arrived.wait_for(state="attached", timeout=5_000)
                return
            self._tells(f"'{option}' did not arrive: {grid.locator('[data-testid^=glide-cell]').all_inner_texts()}")
        raise AssertionError(f"'{option}' was not taken by the editor.")

    def type_into_cell(self, key: str, column: int, row: int, left: int, text: str) -> None:
        """Type another text into a cell of an editor; `left` is a place in its column, in pixels of the grid.

        A grid that is being drawn loses double clicks, and the keys that come before its field has the focus: what the
        cell holds says whether the text has arrived, and is typed again otherwise.
        """
        self.settle()
        grid = self.grid(key)
        grid.scroll_into_view_if_needed()
        cell = grid.get_by_test_id(f"glide-cell-{column}-{row}")
        field = self.page.locator(".gdg-input")

        def typed() -> None:
            grid.dblclick(position={"x": left, "y": 35 * (row + 1.5)})
            if self._appears(field, 2):
                field.fill(text)
                self.page.evaluate(PAINTED)
                field.press("Enter")
                field.wait_for(state="detached")

        for _ in range(5):
            self.act(typed)
            if cell.text_content() == text:
                break
        self.wait_for_cell(key, column, row, text)

    def upload(self, name: str, content: bytes) -> None:
        """Give a file to the page's upload field."""
        field = self.page.get_by_test_id("stFileUploaderDropzoneInput").first
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        self.act(lambda: field.set_input_files(file), seconds=10)

    def reload(self) -> None:
        """Press F5."""
        self.page.reload()
        self.page.wait_for_selector("h1", timeout=60_000)
        self.settle()

    def see(self, text: str | re.Pattern[str], seconds: float = 0) -> None:
        """Wait until the page's main part holds the text."""
        from playwright.sync_api import expect

        seconds = seconds or self.patience
        expect(self.page.get_by_test_id("stMain")).to_contain_text(text, timeout=seconds * 1000)
        self.settle()

    def see_heading(self, text: str) -> None:
        """Wait until a heading holds the text."""
        from playwright.sync_api import expect

        heading = self.page.get_by_test_id("stHeading").filter(has_text=text).first
        expect(heading).to_be_visible(timeout=self.patience * 1000)

    def drawn(self, selector: str, at_least: int = 1) -> int:
        """Wait until a chart has drawn so many marks, which it does after it has its place; how many there are."""
        marks = self.page.locator(selector)
        marks.nth(at_least - 1).wait_for(state="attached", timeout=60_000)
        return int(marks.count())

    def error(self) -> str:
        """The one sentence in red."""
        box = self.page.get_by_test_id("stAlertContentError")
        box.first.wait_for(timeout=20_000)
        assert box.count() == 1
        return as_read(box.first.inner_text())

    def text(self) -> str:
        """The text of the page's main part."""
        return as_read(self.page.get_by_test_id("stMain").inner_text())

    def problems(self) -> list[str]:
        """Exceptions shown on the page and errors in the browser's console."""
        shown = [box.inner_text() for box in self.page.get_by_test_id("stException").all()]
        return shown + (["Traceback"] if "Traceback" in self.text() else []) + self.console


def as_read(text: str) -> str:
    """A text as people read it, without what only keeps it from being made a link."""
    return text.replace(JOINER, "")


@contextmanager
def chrome() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def cookie(address: str) -> dict[str, str]:
    """The cookie that a dashboard at this address hands out for its token."""
    return {"name": f"anoncore_token_{urlsplit(address).port}", "value": TOKEN}


def visitor(
    browser: Any,
    address: str,
    width: int = 1280,
    height: int = 900,
    dark: bool = False,
    is_stranger: bool = False,
    profile: Any = None,
) -> Visitor:
    """A new visitor without a past, who has opened the address with the token before unless they are a stranger.

    `profile` is one of the browser's that another visitor had and that `forget` has emptied.
    """
    context = profile or browser.new_context(accept_downloads=True)
    if not is_stranger:
        context.add_cookies([{**cookie(address), "url": address}])
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    # What moves while the page waits takes a quarter of the time of a load, as it is painted without a graphics card.
    page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
    return Visitor(page, address)


def forget(visitor: Visitor) -> Any:
    """Close a visitor's pages and forget all that pages stored; gives the profile for the next visitor.

    Only files that never change stay, so that the next visitor need not load and translate the program of the page.
    """
    context = visitor.page.context
    storage = context.new_cdp_session(visitor.page)
    at = urlsplit(visitor.address)
    storage.send(
        "Storage.clearDataForOrigin",
        {"origin": f"{at.scheme}://{at.netloc}", "storageTypes": "local_storage,indexeddb"},
    )
    for page in context.pages:
        page.close()
    context.clear_cookies()
    return context
