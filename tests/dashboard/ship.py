"""Make the releases that ship with the program anew: python -m tests.dashboard.ship"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from anoncore import Microdata
from anoncore.base.progress import silent
from anoncore.search.candidates import seeded
from anoncore.search.keeping import keeping, possible_instead
from dashboard.board import facts, shipped, unreleased
from dashboard.board.facts import Slow
from dashboard.board.wording import Shown
from dashboard.session import loaded_table, state
from dashboard.session.loaded_table import LoadedTable
from dashboard.session.wishes import Wishes, first_wishes, to_plain
from dashboard.session.workspace import Run

DIGITS = 5


def made(*places: int) -> dict[str, Any]:
    """What is written to the file, with the columns at these places, or all."""
    table = loaded_table.builtin_table(state.FIRST_TABLE)
    data = state._microdata.get(table, table.suggested)
    wishes = first_wishes(data)
    shown = [_shown(place, wishes, data, table) for place in places or range(len(wishes.columns))]
    return rounded(content(table, unreleased.sentences(data), wishes, shown))


def content(table: LoadedTable, as_it_is: Sequence[str], wishes: Wishes, shown: list[Shown]) -> facts.Facts:
    """What is written to the file: the table, the facts of releases that were made, and what they were asked for."""
    return {
        "table": table.builtin,
        "digest": table.digest,
        "as it is": list(as_it_is),
        "wishes": to_plain(wishes),
        "columns": [
            {
                "id": one.id,
                "title": one.title,
                "color": one.color,
                "own": one.own,
                "marks": [vars(mark) for mark in one.marks],
                "judged": None if one.judged is None else vars(one.judged) | {"mend": vars(one.judged.mend)},
                "quick": one.quick,
                "slow": {name: found.exact for name, found in (one.slow or {}).items()},
            }
            for one in shown
        ],
    }


def _shown(place: int, wishes: Wishes, data: Microdata, table: LoadedTable) -> Shown:
    column = wishes.columns[place]
    wanted = keeping(column.method, column.fields, wishes.levels, wishes.more, data)
    instead = possible_instead(wanted, data)
    used = wanted if instead is None else instead
    used = seeded(used, shipped.SEED)
    release = used.anonymize(data)
    run = Run(
        id=f"shipped-{column.id}",
        label=column.title,
        algorithm=used,
        data=data,
        release=release,
        seconds=0.0,
        created=datetime.now(UTC),
        color_index=column.color,
        table_name=table.name,
        tags=table.suggested,
    )
    secret, target = wishes.secret_of(data), wishes.target_of(data)
    slow = {
        str(key[0]): Slow(exact=exact(release, *key[1:], progress=silent))
        for key, _, exact in facts.measures(secret, wishes.r, target)
    }
    kept = wishes.asked_of(data)
    own = column.own(instead)
    return Shown(
        column.id,
        column.title,
        column.color,
        own,
        "ready",
        marks=facts.marks(run, kept),
        quick=facts.quick(run, secret),
        slow=slow,
        judged=facts.Judged.of(facts.verdict_of(run, kept)),
    )


def rounded(value: Any) -> Any:
    """Numbers in as many digits as the board can show."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return round(value, DIGITS) if isinstance(value, float) else value


if __name__ == "__main__":
    shipped.PATH.write_text(json.dumps(made(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"Written to {shipped.PATH}.")
