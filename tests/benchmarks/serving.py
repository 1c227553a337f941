"""Many signed-in visitors behind nginx under a base path, and a restart of the server in the middle.

    python -m tests.benchmarks.serving [--visitors 20] [--minutes 10] [--pause 8]

A server by settings, a provider of the sign-in and nginx are started on this machine, and every visitor is a person of
their own in a headless Chromium, who uploads a table whose values carry a mark and then works as in `sessions`. In the
middle the server is told to end and started again; every other visitor then loads the page anew, and the rest only
wait until the page that is open comes back by itself. A mark of somebody else on any page, a workspace that is lost,
and a page that does not come back make the command fail. The browsers run on the same cores and take most of them, so
the last line says how much of the processors' time the server took.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks.sessions import FINISHED, NO_INTERACTION, PATIENCE, Door, Script, memory, print_times, table
from tests.dashboard import browser, served
from tests.dashboard.browser import Visitor

BASE = "tools/anoncore"
BACK = "back after restart"


def processor_seconds(pid: int) -> float:
    """What a process and those that it started have taken of the processors."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def busy_seconds() -> float:
    """What all processes of the machine have taken of the processors."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system


class Restart:
    """When the server goes and has come back, and what it had taken of the processors until it went."""

    def __init__(self) -> None:
        self.begins, self.is_over = threading.Event(), threading.Event()
        self.seconds = self.processor_seconds = 0.0

    def make(self, server: served.Served, after: float) -> None:
        """End the server so many seconds from now, and start it again."""
        time.sleep(after)
        self.processor_seconds = processor_seconds(server.pid)
        self.begins.set()
        begin = time.monotonic()
        server.stop()
        server.start()
        self.seconds = time.monotonic() - begin
        self.is_over.set()


class Person(Script):
    """A visitor who signs in, and who goes on in the same workspace after the restart."""

    def __init__(self, *arguments: Any, restart: Restart) -> None:
        super().__init__(*arguments)
        self.restart = restart
        self.came_back = self.is_lost = False

    def _come_in(self, visitor: Visitor) -> None:
        served.sign_in(visitor, f"person{self.number}")
        visitor.go("Table")
        visitor.upload(f"{self.mark}.csv", table(self.mark, self.number).to_csv(index=False).encode())
        visitor.see(f"{self.mark}.csv")
        visitor.go("Table")
        visitor.press("Use suggestions")

    def _work(self, visitor: Visitor) -> None:
        while time.monotonic() < self.end:
            try:
                super()._work(visitor)
            except Exception:
                # Whatever a visitor does while the server is away fails; afterwards nothing may.
                if self.came_back or not self.restart.begins.is_set():
                    raise
            if self.restart.begins.is_set() and not self.came_back:
                self._come_back(visitor)

    def _pause(self) -> None:
        super()._pause()
        if self.restart.begins.is_set() and not self.came_back:
            raise InterruptedError("the server goes")

    def _come_back(self, visitor: Visitor) -> None:
        """Load the page anew, or let it come back by itself, and look for the table and what was asked."""
        if not self.restart.is_over.wait(PATIENCE):
            raise RuntimeError("The server did not come back.")
        self.came_back = True
        begin = time.perf_counter()
        if self.number % 2:
            visitor.open(visitor.page.url)
        else:
            visitor.settle()
        self.seconds[BACK].append(time.perf_counter() - begin)
        visitor.go("Table")
        text = visitor.page.content()
        self.is_lost = f"{self.mark}.csv" not in text or "is gone" in text
        if self.is_lost:
            self.problems.append(f"visitor {self.number} lost the workspace")
        self._check(visitor, "Table")
        visitor.go("Classes")
        visitor.show_release("Mondrian")
        shown, n_seen = self._k_shown(visitor), len(self.seconds[FINISHED])
        # What was asked last may have gone with the server; what was judged before may not.
        if n_seen and shown not in self.asked[n_seen - 1 :]:
            self.problems.append(f"visitor {self.number} came back to k = {shown} after {self.asked[n_seen - 1]}")
        self.asked.append(shown or 0)

    def _check_release(self, visitor: Visitor, page: str) -> None:
        # While the server is away nobody knows what will be asked of the board.
        if not self.restart.begins.is_set() or self.came_back:
            super()._check_release(visitor, page)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=8.0)
    options = parser.parse_args()
    if browser.missing() or not Path(served.NGINX).exists():
        raise SystemExit(f"The benchmark needs a browser and nginx: {browser.missing() or 'there is no nginx'}.")
    port = browser._free_port()
    names = [f"person{number}" for number in range(options.visitors)]
    with tempfile.TemporaryDirectory() as place, served.provider(*names) as metadata:
        folder = Path(place)
        for name in ("workspaces", "nginx"):
            (folder / name).mkdir(mode=0o700)
        settings = served.sign_in_settings(metadata, f"http://127.0.0.1:{port}/{BASE}", upload=["*"])
        settings["server"]["base_path"] = BASE
        settings["workspaces"] = {"folder": str(folder / "workspaces")}
        settings["quotas"] = {"workspaces": 4 * options.visitors}
        settings["audit"] = {"file": str(folder / "audit.jsonl")}
        server = served.Served(folder, settings, ANONCORE_WORKSPACES_KEY=served.KEY, **served.SECRETS)
        with server, served.nginx(folder / "nginx", server.port, BASE, port) as address:
            restart, door = Restart(), Door(options.visitors)
            seconds = options.minutes * 60
            people = [
                Person(number, address, seconds, options.pause, door, restart=restart)
                for number in range(options.visitors)
            ]
            threads = [threading.Thread(target=one.run) for one in people]
            for one in threads:
                one.start()
            while not any(one.end for one in people) and any(thread.is_alive() for thread in threads):
                time.sleep(0.2)
            begin, busy, before = time.monotonic(), busy_seconds(), processor_seconds(server.pid)
            restart.make(server, seconds / 2)
            for one in threads:
                one.join()
            of_server = restart.processor_seconds - before + processor_seconds(server.pid)
            busy, there = busy_seconds() - busy, (time.monotonic() - begin) * (psutil.cpu_count() or 1)
            taken = memory(server.pid)
            n_records = len((folder / "audit.jsonl").read_text("ascii").splitlines())
    problems = [problem for one in people for problem in one.problems]
    print_times(list(people), problems, {*NO_INTERACTION, BACK})
    lost, back = sum(one.is_lost for one in people), sum(one.came_back for one in people)
    print(f"restart: {restart.seconds:.1f} s; {back} of {len(people)} visitors came back, {lost} workspaces lost")
    print(
        f"crosstalk: {sum(' saw ' in problem for problem in problems)}; {n_records} records; {taken:.0f} MB at the end"
    )
    print(f"processors: {busy / there:.0%} busy; of that the server {of_server / busy:.0%}, the browsers the rest")
    if problems or back < len(people):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
