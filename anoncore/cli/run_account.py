"""What `anoncore run` tells of a finished release: lines to read, or one JSON object."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anoncore.cli.office_rules import policy_json, policy_lines
from anoncore.cli.output import tell
from anoncore.front.policy.judgement import Judgement
from anoncore.measures import Verdict


@dataclass(frozen=True)
class RunAccount:
    """What is told of a run, in memory or in parts.

    `lines` sum it up for people. `verdict` is missing where nothing was certified in parts, `left_out` has the columns
    that no release has, `figures` the rows by table, the notes and the measures. `written` says of every file what is
    in it. `key` is that of the certificate, if it has one, and `key_sentence` what is told of it. `judgement` is what
    a policy says, where one was given.
    """

    lines: Sequence[str]
    verdict: Verdict | None
    left_out: Sequence[str]
    figures: Mapping[str, Any]
    written: Mapping[str, str]
    key: str
    key_sentence: str
    judgement: Judgement | None = None


def tell_run(arguments: argparse.Namespace, account: RunAccount) -> None:
    """Print what is told of a run; its key only where no file keeps it."""
    written = [f"Written: {path} ({about})" for path, about in account.written.items()]
    lines = [
        *account.lines,
        *policy_lines(account.judgement),
        *written,
        *([account.key_sentence] if account.key_sentence else []),
    ]
    told = Verdict((), ()) if account.verdict is None else account.verdict
    results = {
        "verdict": None if account.verdict is None else told.headline,
        "held": told.held,
        "failed": told.failed,
        "promised": told.promised,
        "not_asked": [failing.sentence for failing in told.not_asked],
        "breaking": told.breaking,
        "decided": told.decided,
        "left_out": account.left_out,
        **account.figures,
        **policy_json(account.judgement),
        "written": list(account.written),
        "key": (account.key or None) if arguments.key_file is None else None,
    }
    tell(arguments, lines, results)
