"""What a table gives away as it is: the first answer about it, before any release."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

from anoncore import AnonymizationError, Microdata, attacks
from anoncore.base.texts import share_text
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.release.unchanged import unchanged

_known: WeakKeyDictionary[Microdata, tuple[str, ...]] = WeakKeyDictionary()
_lock = threading.Lock()


def sentences(data: Microdata) -> tuple[str, ...]:
    """How many are found by what is known of them alone, and whose secret values are certain then.

    Made once for each table with its tags. Raises DataError where nothing is tagged as known.
    """
    with _lock:
        if data not in _known:
            _known[data] = _sentences(data)
        return _known[data]


def _sentences(data: Microdata) -> tuple[str, ...]:
    release = unchanged(data)
    is_found = reaches(attacks.reidentification(release).risk, 1.0, ACCUMULATED)
    whose, share = "people" if data.unit is None else "people's rows", share_text(float(is_found.mean()))
    said = [
        f"As it is, this table lets {is_found.sum():,} of {len(is_found):,} {whose} ({share}) be found by what others "
        "know: nobody else has the same values."
    ]
    for name in data.sensitive:
        try:
            belief = attacks.attribute_disclosure(release, name).belief
        except AnonymizationError:  # no value of it needs protection
            continue
        is_sure = reaches(belief, 1.0, ACCUMULATED)
        said.append(f"The '{name}' of {is_sure.sum():,} people ({share_text(float(is_sure.mean()))}) is certain then.")
    return tuple(said)
