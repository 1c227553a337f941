"""Start the page in this process, so that ending it ends the server too."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
APP = HERE / "guarded_app.py"
"""The pages behind the gate that looks at every request."""
SWITCH_SECONDS = 0.0005
"""How long a thread of Python may go on while others wait.

A browser fetches a page in hundreds of small steps, and modules are imported meanwhile. By default each of these steps
could wait for 5 ms, which adds up to seconds.
"""


def _get_ready() -> None:
    """Once there is a server, begin to compile and to import what the first page needs, and watch for its end."""
    from streamlit import runtime

    # Until then every import would make the server answer later.
    while not runtime.exists():
        time.sleep(0.02)
    _find_packages()
    try:
        from dashboard.tasks import warmup

        warmup.start()
        from dashboard.process import ending

        ending.watch()
    except Exception:
        # The page says what is wrong when it is asked for.
        logging.getLogger(__name__).debug("Getting ready failed", exc_info=True)


@cache
def begin_beside_pages() -> None:
    """Begin what this process does beside drawing pages, at the first of them; it goes on until the process ends."""
    from anoncore.base.extensions import load_extensions
    from dashboard.process import ending, retention
    from dashboard.tasks import quiet_log, warmup

    quiet_log.install()
    load_extensions()
    retention.start()
    ending.start()
    warmup.start()


def _find_packages() -> None:
    """Let Python find the packages that lie beside this folder."""
    if str(HERE.parent) not in sys.path:
        sys.path.insert(0, str(HERE.parent))


def serve(
    config: str | None,
    given: Mapping[str, Any],
    is_headless: bool = False,
    only_check: bool = False,
    digest_of: Path | None = None,
) -> int:
    """Serve the dashboard by settings: those of the file `config`, overridden by variables, overridden by `given`.

    Returns the exit code. `only_check` prints the settings, without secrets, and serves nothing; `digest_of` prints how
    the record calls a file instead. Raises ParameterError for settings that cannot be meant so.
    """
    _find_packages()
    from anoncore import ParameterError
    from dashboard.serving import settings

    found = settings.read(None if config is None else Path(config), given=given)
    if only_check:
        print(settings.shown(found), end="")
        return 0
    settings.use(found)
    if digest_of is not None:
        from dashboard.serving import audit

        if not found.audit.file:
            raise ParameterError("--digest is for a server that records what is done; set audit.file in --config.")
        print(audit.keyed(sha256(digest_of.read_bytes()).hexdigest()))
        return 0
    from dashboard.process import metrics
    from dashboard.serving import quotas

    quotas.start()
    metrics.start()
    options = [*settings.options_of(found), *(["--server.headless", "true"] if is_headless else [])]
    return launch(options)


def launch(argv: Sequence[str] = ()) -> int:
    """Serve the dashboard until it is stopped; returns the exit code.

    `argv` are further options of `streamlit run`, such as `--server.port 8600` or `--server.headless true`; they count
    more than the settings that come with the program. Those lie beside app.py in an installed package, where Streamlit
    finds them, and one folder up in the source tree, which becomes the working directory for that.
    """
    from streamlit.web import cli

    sys.setswitchinterval(SWITCH_SECONDS)
    if not (HERE / ".streamlit" / "config.toml").is_file():
        os.chdir(HERE.parent)
    threading.Thread(target=_get_ready, name="launch", daemon=True).start()
    try:
        cli.main(["run", str(APP), *argv], prog_name="anoncore dashboard", standalone_mode=False)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    return 0


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Say where the page is once it can be had; clear up before the server says that it has ended.

    Behind a gate the signal that ended the server ends the process at once after that, and nobody could do it any more.
    """
    from streamlit import runtime

    from dashboard.serving import gate, own_token

    gate.watch_files(runtime.get_instance().media_file_mgr)
    own_token.greet()
    yield
    # It is imported by the pages, long after the server began to answer.
    from dashboard.process import ending

    await asyncio.to_thread(ending.clear_up)
