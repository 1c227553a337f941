"""How words of a column's name name a kind of identifiers: anywhere, alone, beside a word for number, or together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from anoncore.table.column_words import MAY_NUMBER, NUMBER, NUMBER_WORDS, PEOPLE, ROLES, Vocabulary

NONE = Vocabulary.of("")
FILLERS = Vocabulary(NUMBER_WORDS, frozenset()) | Vocabulary.of(
    "of the first last full given family middle maiden legal preferred birth contact mother "
    "father spouse child parent emergency insured author subject fam home work private primary "
    "secondary my main admission discharge death visit appointment registration pat pt cust emp next kin "
    "complete f l m",
    de="des der die das von vor nach geb mutter vater kind privat geburt aufnahme entlassung",
    nl="van het de moeder vader kind geboorte opname ontslag",
    fr="complet naiss du de la le des mere pere enfant naissance admission sortie",
    es="completo nac primer segundo ultimo de del la el madre padre hijo nacimiento ingreso alta",
    it="nasc di del della dello il la madre padre figlio nascita ricovero dimissione",
    pt="completo ult ultimo nasc de do da o a mae pai filho nascimento admissao alta",
)
"""Words that may stand beside a word that has several meanings without giving it another one."""

_SECONDARY = FILLERS | PEOPLE | ROLES


@dataclass(frozen=True)
class KindWords:
    """Words that name a kind: wherever they stand, those that do so only without words of another matter, and those
    that do so beside a word for number, as the second ones do, too, where there are any.

    Each of `together` names the kind where all of its words stand, written apart or as one.
    """

    anywhere: Vocabulary
    alone: frozenset[str]
    numbered: Vocabulary
    together: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, anywhere: Vocabulary, alone: str = "", numbered: Vocabulary = NONE, together: str = "") -> KindWords:
        """The words of a kind, with spaces between them and `+` between those that belong together."""
        pairs = tuple(tuple(words.split("+")) for words in together.split())
        several = Vocabulary.of(alone)
        return cls(anywhere, several.words, numbered | several if numbered.words else numbered, pairs)

    def name(self, words: Collection[str]) -> bool:
        """Whether the words of a column's name name the kind."""
        return self.name_plainly(words) or self.stand_alone(words) or self._are_numbered(words, MAY_NUMBER)

    def name_plainly(self, words: Collection[str]) -> bool:
        """Whether they name the kind by words that mean nothing else."""
        return self.name_outright(words) or self._are_numbered(words, NUMBER)

    def name_outright(self, words: Collection[str]) -> bool:
        """Whether they name the kind without a word for number."""
        known = frozenset(words)
        return self.anywhere.names(words) or any(
            known.issuperset(one) or "".join(one) in known for one in self.together
        )

    def _are_numbered(self, words: Collection[str], numbers: frozenset[str]) -> bool:
        return not numbers.isdisjoint(words) and self.numbered.names(words)

    def stand_alone(self, words: Collection[str]) -> bool:
        """Whether words that have other meanings, too, stand beside nothing that gives them another one."""
        core = core_words(words) | (set(words) & self.alone)
        return bool(core) and core <= self.alone


def core_words(words: Collection[str]) -> set[str]:
    """The words of a name without those that only say whose or which number it is."""
    return {word for word in words if not _SECONDARY.has(word)}


def each_with(firsts: str, seconds: str) -> str:
    """Every one of some words together with every one of others."""
    return " ".join(f"{first}+{second}" for first in firsts.split() for second in seconds.split())
