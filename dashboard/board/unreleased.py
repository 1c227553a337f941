"""What a table gives away as it is: the first answer about it, before any release."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from anoncore import AnonymizationError, Microdata, attacks
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.release.unchanged import unchanged

_known: WeakKeyDictionary[Microdata, tuple[str, ...]] = WeakKeyDictionary()


def sentences(data: Microdata) -> tuple[str, ...]:
    """How many are found by what is known of them alone, and whose secret values are certain then.

    Made once for each table with its tags. Raises DataError where nothing is tagged as known.
    """
    # Nobody waits for another visitor's table; two who ask for the same one at once both work it out.
    said = _known.get(data)
    if said is None:
        said = _known[data] = _sentences(data)
    return said


def _sentences(data: Microdata) -> tuple[str, ...]:
    release = unchanged(data)
    is_found = reaches(attacks.reidentification(release).risk, 1.0, ACCUMULATED)
    whose, share = data.people_word if data.people is None else "people's rows", share_text(float(is_found.mean()))
    nobody = "no other row" if data.people_word == "rows" else "nobody else"
    said = [
        f"As it is, this table lets {is_found.sum():,} of {len(is_found):,} {whose} ({share}) be found by what others "
        f"know: {nobody} has the same values."
    ]
    for name in data.sensitive:
        try:
            belief = attacks.attribute_disclosure(release, name).belief
        except AnonymizationError:  # no value of it needs protection
            continue
        is_sure = reaches(belief, 1.0, ACCUMULATED)
        share = share_text(float(is_sure.mean()))
        said.append(f"Whoever knows these values is certain of the '{name}' of {is_sure.sum():,} {whose} ({share}).")
    return tuple(said)
