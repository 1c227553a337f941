"""What a reader sees of an HTML page: its tables, tiles, sentences and the descriptions of its drawings."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser

NOT_THERE = "\u2013"
MINUS = "\u2212"


class Page(HTMLParser):
    """Tables as rows of texts, the header first; texts of tiles; paragraphs and captions; labels of the drawings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.tiles: list[list[str]] = []
        self.sentences: list[str] = []
        self.labels: list[str] = []
        self._inside: list[str] = []
        self._text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("role") == "img":
            self.labels.append(given["aria-label"] or "")
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif given.get("class") == "tile":
            self.tiles.append([])
        if tag in ("td", "th", "p", "figcaption", "h3"):
            self._text = []
        elif tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        told = " ".join("".join(self._text).split())
        if tag in ("td", "th"):
            self.tables[-1][-1].append(told)
        elif tag in ("p", "figcaption"):
            self.sentences.append(told)

    def handle_data(self, data: str) -> None:
        self._text.append(data)
        if self.tiles and len(self.tiles[-1]) < 2 and data.strip():
            self.tiles[-1].append(data.strip())

    def lines(self, *header: str) -> list[list[str]]:
        """The lines of all tables whose header begins with these names."""
        return [line for table in self.tables if table[0][: len(header)] == [*header] for line in table[1:]]


def shows(text: str, number: float) -> bool:
    """Whether a text is the number, rounded at its last digit: whole, with decimals, or a percentage."""
    found = re.fullmatch(r"(-?[\d,]+(?:\.(\d+))?)(%?)", text)
    assert found is not None, text
    unit = 0.01 if found[3] else 1.0
    last_digit = unit * 10 ** -len(found[2] or "")
    return abs(float(found[1].replace(",", "")) * unit - number) <= last_digit / 2 + 1e-9 * (1 + abs(number))


def shows_four_digits(text: str, number: float) -> bool:
    """Whether a text is the number, rounded to four digits or, where it is whole, written out."""
    if text == "infinite" or not number:
        return number == (math.inf if text == "infinite" else float(text))
    last_digit = 10 ** (math.floor(math.log10(abs(number))) - 3)
    return abs(float(text.replace(",", "")) - number) <= last_digit / 2 + 1e-9 * (1 + abs(number))
