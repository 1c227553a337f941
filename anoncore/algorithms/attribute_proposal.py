"""Groups of attributes that an algorithm would choose, and the association that it reads them from."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True, eq=False)
class AttributeProposal:
    """The groups of attributes that an algorithm takes where none are given by hand.

    `word` is what it calls a group. `centres[i]` is the attribute that group i was built around (None: no single one)
    and `centre_word` what the literature calls it. `association` is the measure of every pair, attributes by
    attributes, symmetric; it may have attributes that no group has. `measure` names it, `meaning` says in a sentence
    what a high value tells. `may_overlap`: an attribute may be put into several groups by hand.
    """

    word: str
    groups: tuple[tuple[str, ...], ...]
    centre_word: str
    centres: tuple[str | None, ...]
    association: pd.DataFrame
    measure: str
    meaning: str
    may_overlap: bool = False
