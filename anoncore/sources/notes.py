"""What a reader did or noticed, collected into plain sentences."""

from __future__ import annotations

NAMED_COLUMNS = 6
SHOWN_CHARACTERS = 40


def shown(value: object) -> str:
    """A value or name in single quotes for a sentence, shortened to 40 characters, without line breaks."""
    text = " ".join(str(value).split())
    return f"'{text[: SHOWN_CHARACTERS - 1]}…'" if len(text) > SHOWN_CHARACTERS else f"'{text}'"


def listed(items: list[str]) -> str:
    """Items joined for a sentence: `a, b and c`; the first six and how many more there are when there are many."""
    if len(items) > NAMED_COLUMNS:
        return f"{', '.join(items[:NAMED_COLUMNS])} and {len(items) - NAMED_COLUMNS} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]]))


class Notes:
    """Sentences in the order of their first mention; sentences that differ only in the column become one."""

    def __init__(self) -> None:
        self._columns: dict[str, list[str]] = {}

    def say(self, sentence: str) -> None:
        """Add a sentence about the whole file."""
        self._columns.setdefault(sentence, [])

    def about(self, sentence: str, column: str, detail: str = "") -> None:
        """Add a column to a sentence that holds the place `{columns}`; `detail` follows the name in parentheses."""
        self._columns.setdefault(sentence, []).append(shown(column) + (f" ({detail})" if detail else ""))

    def sentences(self) -> tuple[str, ...]:
        """All notes; each names the columns it is about."""
        return tuple(
            sentence.replace("{columns}", listed(columns)) if columns else sentence
            for sentence, columns in self._columns.items()
        )
