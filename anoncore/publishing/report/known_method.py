"""What a report says of readers who know the method: whether it is open to them, and what they gain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from anoncore import attacks
from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.base.progress import Progress, silent
from anoncore.publishing.report.subject import Subject
from anoncore.release.openness import Openness


@dataclass(frozen=True)
class KnownMethod:
    """The method's own words, and the minimality attack as rows of a table or the reason why it is not measured."""

    told: str
    rows: list[tuple[str, str, str, str]]
    notes: list[str]


def known_method(subject: Subject, attribute: str | None, progress: Progress = silent) -> KnownMethod | None:
    """What readers who know the method gain; None where the method is not known.

    Parameters
    ----------
    subject : Subject
        The release.
    attribute : str or None
        The sensitive attribute that the report looks at.
    progress : callable
        Called with the share done and a text; it may raise CancelledError to stop the attack.

    Returns
    -------
    KnownMethod or None
        What the report says.
    """
    method = subject.release.algorithm
    if method is None:
        return None
    say = subject.release.data.in_words
    told = say(method.minimality_here.text)
    if attribute is None or method.minimality_here.openness is Openness.NOT_OPEN:
        return KnownMethod(told, [], [])
    try:
        attack = partial(attacks.minimality, progress=progress)
        found = subject.measure("attacks.minimality", attack, attribute)
    except CancelledError:
        raise
    except AnonymizationError as error:
        return KnownMethod(told, [], [str(error)])
    rows = [
        (say(one.title), f"{one:.1%}", f"{one.baseline or 0:.1%}", say(one.meaning))
        for one in (found.right, found.truth, found.exposed, found.largest)
    ]
    low, high = found.interval
    lift = f"{found.lift.title}: {found.lift:+.1%}, 95% interval {low:+.1%} to {high:+.1%}. {found.lift.meaning}"
    return KnownMethod(told, rows, [say(lift), *([say(found.limits)] if found.limits else [])])
