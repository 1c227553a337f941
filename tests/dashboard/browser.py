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
from collections.abc import Iterator
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
IDLE = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return !!app
    && app.getAttribute('data-test-connection-state') === 'CONNECTED'
    && app.getAttribute('data-test-script-state') === 'notRunning'
    && !document.querySelector('[data-testid="stSkeleton"]')
    && !document.querySelector('[data-stale="true"]');
}"""
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
    """One browser session: counts finished runs of the script and notes requests that leave this machine.

    `seconds` is what the last `run` took, from the action until all was painted; `titled` what the last `go` took until
    the title of the page stood. A page that is not idle after `patience` seconds is given up.
    """

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.patience = 30.0
        self.polling: float | str = "raf"
        self.finished = 0
        self.seconds = self.titled = 0.0
        self.foreign: list[str] = []
        self.console: list[str] = []
        page.on("request", self._requested)
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.on("console", self._said)

    def _requested(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in LOCAL:
            self.foreign.append(request.url)

    def _said(self, message: Any) -> None:
        # What the server forbids to load, the browser only mentions.
        if "Content Security Policy" in message.text:
            self.console.append(message.text)

    def _received(self, payload: Any) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        if isinstance(payload, bytes) and len(payload) < 500:
            with suppress(Exception):
                self.finished += ForwardMsg.FromString(payload).WhichOneof("type") == "script_finished"

    def open(self, path: str = "table") -> None:
        """Load a page of the dashboard anew; an empty path is that of the board."""
        self.page.goto(path if path.startswith("http") else f"{self.address}/{path}")
        self.page.wait_for_selector("h1", timeout=max(60, self.patience) * 1000)
        self.settle()

    def share_processors(self, patience: float) -> None:
        """Wait longer and look at the page ten times a second only, because many browsers work on the same processors.

        Looking at it before every frame, as `settle` does otherwise, takes up to a tenth of a processor a browser.
        """
        self.patience, self.polling = patience, 100
        self.page.set_default_timeout(patience * 1000)

    def settle(self, seconds: float = 0) -> None:
        """Wait until nothing runs and all is painted."""
        self.page.wait_for_function(IDLE, timeout=(seconds or self.patience) * 1000, polling=self.polling)
        self.page.evaluate(PAINTED)

    @contextmanager
    def run(self, seconds: float = 0) -> Iterator[None]:
        """What is done inside must make the script run; wait until it has, and all is painted."""
        before, start = self.finished, time.perf_counter()
        yield
        if not self._ran_since(before, seconds or self.patience):
            raise AssertionError("Nothing ran after the action.")
        self.settle(seconds)
        self.seconds = time.perf_counter() - start

    def _ran_since(self, before: int, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.finished == before and time.monotonic() < end:
            self.page.wait_for_timeout(10)
        return self.finished > before

    def go(self, title: str) -> None:
        """Switch to a page by its title: to its section in the navigation, then by its tab. A click that the page lost
        while drawing is made again.
        """
        from dashboard.elements.routes import ROUTES

        section = next(route.section for route in ROUTES if route.title == title)
        is_first = next(route.title for route in ROUTES if route.section == section) == title
        heading = self.page.get_by_test_id("stHeading").filter(has_text=HEADINGS.get(title, title)).first
        entry = self.page.get_by_test_id("stTopNavLink").filter(has_text=section)
        tab = self.page.locator(".st-key-section-tabs").get_by_role("link", name=title, exact=True)
        start = time.perf_counter()
        # The help of a link that was clicked before would cover the next one.
        self.page.mouse.move(5, 600)
        for _ in range(4):
            is_near = tab.count() > 0
            if not is_near:
                entry.click()
            if is_near or (not is_first and self._appears(tab, self.patience / 6)):
                tab.click()
            if self._appears(heading, self.patience / 6):
                break
        self.see_heading(HEADINGS.get(title, title))
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
            mark.click(force=True)
            if self._appears(wanted, 6):
                return
        raise AssertionError("The mark opened nothing.")

    def press(self, name: str | re.Pattern[str], exact: bool = True) -> None:
        """Press the first button of this name."""
        button = self.page.get_by_test_id("stMain").get_by_role("button", name=name, exact=exact).first
        with self.run():
            before = self.finished
            button.click()
            # What unfolds above the button moves it away from under the mouse.
            if not self._ran_since(before, 5) and self.page.evaluate(IDLE):
                button.click()

    def tab(self, name: str) -> None:
        """Open a tab; an open one stays as it is."""
        tab = self.page.get_by_test_id("stMain").get_by_role("tab", name=name, exact=True)
        tab.wait_for()
        if tab.get_attribute("aria-selected") != "true":
            with self.run():
                tab.click()

    def choose(self, label: str, option: str, exact: bool = True) -> None:
        """Choose an option of a select box by its (exact) text; a list that did not open is opened again."""
        box = self.page.get_by_test_id("stSelectbox").filter(has_text=label).first
        wanted = self.page.get_by_role("option", name=option, exact=exact)
        for _ in range(10):
            box.locator("input").click()
            if self._appears(wanted.first, 2):
                break
        with self.run():
            wanted.first.click()

    def name_place(self) -> None:
        """Unfold what asks for a table by its path or address."""
        self.page.get_by_test_id("stExpander").filter(has_text="by its path or address").locator("summary").click()

    @property
    def board(self) -> Any:
        """The table of the board, with a column per release."""
        return self.page.locator("table.board")

    def ask(self, **levels: float | None) -> None:
        """Type the levels of k, l, c and t that the board asks of every column; None asks for none."""
        if not self.board.count():
            self.go("Board")
        for axis, level in levels.items():
            field = self.page.get_by_role("spinbutton", name=f"{axis}, typed", exact=True)
            field.fill("" if level is None else f"{level:g}")
            with self.run():
                field.press("Enter")

    @contextmanager
    def new_column(self, method: str) -> Iterator[None]:
        """Add a column of this method (its title) to the board; its parameters can be entered inside the block."""
        from anoncore.algorithms import ALGORITHMS
        from dashboard.views.method_guide import FAMILIES

        family = FAMILIES[next(kind.family for kind in ALGORITHMS.values() if kind.title == method)]
        if not self.board.count():
            self.go("Board")
        self.board.wait_for()
        n_before = self.board.locator("th.column").count()
        dialog = self.page.get_by_role("dialog")
        self.click_until_shown(self.board.locator("[data-key='add']"), dialog.get_by_text("What it does to the table"))
        if dialog.get_by_role("combobox").first.input_value() != family:
            self.choose("What it does to the table", family)
        dialog.get_by_test_id("stRadio").get_by_text(method, exact=True).click()
        dialog.get_by_role("button", name=f"What {method} is, and when to use it").wait_for()
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
        with self.run():
            self.board.get_by_role("button", name=f"Remove the column {method}", exact=True).click()

    def wait_for_release(self, method: str) -> None:
        """Wait until the board has judged the release of the last column of this method by what is asked."""
        from playwright.sync_api import expect

        self.board.wait_for()
        heads = self.board.locator("th.column .method").all_inner_texts()
        column = max(place for place, head in enumerate(heads) if head.removesuffix(" ▾") == method)
        promise = self.board.locator("tbody tr").filter(has_text="Promise").locator("td.cell").nth(column)
        expect(promise.locator(".waiting")).to_have_count(0, timeout=180_000)
        assert "failed" not in promise.get_attribute("class"), promise.inner_text()

    def show_release(self, method: str) -> None:
        """Let the pages that look closer show the release of this method: the first whose name begins so."""
        box = self.page.get_by_test_id("stSidebar").get_by_test_id("stSelectbox").filter(has_text="Release shown")
        box.wait_for(timeout=self.patience * 1000)
        shown = box.locator("input")
        wanted = self.page.get_by_role("option", name=method, exact=False).first
        # While releases arrive, the page shows another one by itself, and then the list is closed again.
        for _ in range(10):
            self.settle()
            if shown.input_value().startswith(method):
                return
            shown.click()
            if self._appears(wanted, 2):
                before = self.finished
                wanted.click()
                self._ran_since(before, self.patience / 3)
        raise AssertionError(f"No release of {method} was shown.")

    def grid(self, key: str) -> Any:
        """The data grid whose key begins so."""
        return self.page.locator(f"[class*='st-key-{key}'] [data-testid='stDataFrameResizable']").first

    def cell(self, key: str, column: int, row: int) -> str:
        """Content of a cell of a grid with selectable rows; columns count from 0."""
        return str(self.grid(key).get_by_test_id(f"glide-cell-{column + 1}-{row}").text_content())

    def choose_row(self, key: str, row: int) -> None:
        """Select a row of a grid by its marker; tried again until the grid has taken it."""
        grid = self.grid(key)
        line = grid.locator(f"tr[aria-rowindex='{row + 2}']")
        for _ in range(8):
            # A page that has got another release is drawn anew, and the grid with it.
            self.settle()
            grid.click(position={"x": 22, "y": 35 * (row + 1.5)})
            # A second click would take the choice back, so a grid that is slow to show it is waited for.
            for _ in range(20):
                self.page.wait_for_timeout(100)
                if line.get_attribute("aria-selected") == "true":
                    return
        raise AssertionError(f"Row {row} of '{key}' could not be chosen.")

    def wait_for_cell(self, key: str, column: int, row: int, content: str) -> None:
        """Wait until a cell of a grid without selectable rows has this content."""
        from playwright.sync_api import expect

        cell = self.grid(key).get_by_test_id(f"glide-cell-{column}-{row}")
        expect(cell).to_have_text(content, timeout=15_000)

    def edit_cell(self, key: str, column: int, row: int, left: int, option: str) -> None:
        """Choose another option in a cell of an editor; `left` is a place in its column, in pixels of the grid."""
        # What a page draws anew is taken out and put in again, and nothing scrolls to what is out.
        self.settle()
        grid = self.grid(key)
        grid.scroll_into_view_if_needed()
        options = self.page.get_by_role("option", name=option, exact=True)
        for _ in range(10):
            grid.dblclick(position={"x": left, "y": 35 * (row + 1.5)})
            if self._appears(options.first, 2):
                break
        with self.run():
            options.first.click()
        # A grid that is drawn anew may have the row in another place.
        cells = grid.locator(f"[data-testid^='glide-cell-{column}-']").filter(has_text=option)
        cells.first.wait_for(state="attached", timeout=15_000)

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
        before = self.finished
        for _ in range(10):
            grid.dblclick(position={"x": left, "y": 35 * (row + 1.5)})
            if not self._appears(field, 2):
                continue
            field.fill(text)
            self.page.evaluate(PAINTED)
            field.press("Enter")
            field.wait_for(state="detached")
            self.page.evaluate(PAINTED)
            if cell.text_content() == text:
                break
        self.wait_for_cell(key, column, row, text)
        assert self._ran_since(before, self.patience), "Nothing ran after the cell was changed."
        self.settle()

    def upload(self, name: str, content: bytes) -> None:
        """Give a file to the page's upload field."""
        with self.run():
            self.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
                {"name": name, "mimeType": "application/octet-stream", "buffer": content}
            )
        self.page.wait_for_timeout(300)
        self.settle()

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
    page.emulate_media(color_scheme="dark" if dark else "light")
    return Visitor(page, address)


def forget(visitor: Visitor) -> Any:
    """Close a visitor's pages and forget all that pages stored; gives the profile for the next visitor.

    Only files that never change stay, so that the next visitor need not load and translate the program of the page.
    """
    context = visitor.page.context
    storage = context.new_cdp_session(visitor.page)
    storage.send("Storage.clearDataForOrigin", {"origin": visitor.address, "storageTypes": "local_storage,indexeddb"})
    for page in context.pages:
        page.close()
    context.clear_cookies()
    return context
