"""Marginal synthesis: a table of nobody's rows that is drawn from noisy counts, with differential privacy."""

from __future__ import annotations

import io
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.synthesis import noisy_marginals
from anoncore.algorithms.synthesis.public_cells import PublicCells, public_cells, require_few_cells
from anoncore.base.errors import AnonymizationError, DataError, ParameterError
from anoncore.base.extras import MissingPackageError, why_missing
from anoncore.base.model import Stops, TupleOf
from anoncore.base.progress import Progress, part_of
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes
from anoncore.privacy.guarantees import HIDDEN_NOISE, PersonalGuarantee
from anoncore.release.openness import Minimality, Openness
from anoncore.release.release import ONLY_TABLE, Release
from anoncore.requirements import Requirement
from anoncore.table.microdata import Microdata

MOST_VALUES = 500
"""Cells of one attribute: a pair of two such attributes has a quarter of a million counts, almost all of them noise."""
NEEDED = ("Marginal synthesis", "opendp", "mbi", "polars")
"""What needs which packages."""
EVERY_SECONDS = 0.2
"""How often the one who waits is asked whether the table is still wanted."""
Answer = dict[str, Any]


class MarginalSynthesis(Algorithm):
    """Draws a new table from noisy counts of pairs of attributes, so that no row is anybody's (MST by OpenDP).

    Every attribute is counted with noise, then as many pairs of attributes as connect all of them, those first whose
    counts tell most beyond the single ones. A model that fits the noisy counts draws rows. With `delta` = 0 the noise
    is Laplace's, else it is Gaussian, which is much less for the same epsilon. Noise, selection and the account of the
    budget are OpenDP's own; nothing of them is made here.

    Differential privacy is a promise about people: whatever readers know, and whatever they do with the table, they
    learn hardly more of any person than if that person's rows had not been there. How much more is bounded by epsilon:
    no conclusion becomes more than exp(epsilon) times as likely, but for a chance of `delta`. It says nothing of k, l
    and t, and these say nothing of it.

    Categories, and the ranges of numbers where `ranges` does not give them, are taken from the table and **count as
    public**, and so do the decimals of numbers and whether values may be missing. Where a single person's value would
    be such an end or such a category, give the ranges, and code rare categories as another one first. The roles of the
    attributes play no part: each counts alike.

    Numbers of a range become any of its numbers with equal chances, so wide ranges cost detail: give the ends that
    matter. Numbers outside the given ends count into the outermost range. The number of rows is a noisy one too.

    The noise comes from the system and cannot be repeated: there is no seed, and every run is another table. Epsilons
    of all tables that are published of the same people add up. Choosing among runs by numbers that were measured on the
    original tells something of it as well, which no epsilon counts.

    Notes
    -----
    Assumes: one person has one row, or at most `contributions`; categories, ends of ranges and decimals are public.
    Cost: half a minute for a dozen attributes in a process of its own, little of which depends on n; memory for JAX of
      about half a GB.
    Use: readers may know anything, now or later, and shares, pairs of attributes and simple models are what they need.
    Avoid: single rows must be true, the table is small (noise then is all there is), or three attributes act together.

    References
    ----------
    McKenna, Miklau and Sheldon, Winning the NIST Contest, Journal of Privacy and Confidentiality 2021 (MST); Dwork,
    McSherry, Nissim and Smith, TCC 2006 (differential privacy); OpenDP library (opendp.extras.mbi).

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import MarginalSynthesis
    >>> people = pd.DataFrame({"age": range(20, 60), "disease": ["flu", "cold"] * 20})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> algorithm = MarginalSynthesis(epsilon=1.0, ranges={"age": [18, 80]})
    >>> release = algorithm.anonymize(data)  # doctest: +SKIP
    >>> privacy.personal_guarantees(release)[0].asked  # doctest: +SKIP
    1.0
    >>> algorithm.promises(data)
    ()
    """

    name = "dp-marginals"
    title = "Marginal synthesis"
    source = "McKenna et al., JPC 2021 (MST), as OpenDP has it; Dwork et al., TCC 2006"
    family = "synthesis"
    summary = "Draws rows that are nobody's from noisy counts; epsilon bounds what they tell of any one person."
    minimality = Minimality(
        Openness.NOT_OPEN,
        "What differential privacy promises holds against readers who know the method, its parameters and all people "
        "but one: the noise hides what any one of them contributes, and nothing else depends on their rows.",
    )
    extra = "dp"
    packages = ("opendp", "mbi")
    is_repeatable = False

    epsilon: Annotated[
        float,
        Field(
            gt=0,
            le=20,
            allow_inf_nan=False,
            title="Epsilon",
            description="How much the table may tell of any one person; smaller is safer, 1 is a usual choice.",
        ),
        Stops((0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)),
    ] = 1.0
    delta: Annotated[
        float,
        Field(
            ge=0,
            lt=1,
            allow_inf_nan=False,
            title="Delta",
            description="The chance with which epsilon may not hold, far below one divided by the number of people; "
            "1e-06 is one in a million, and 0 takes much more noise.",
        ),
        Stops((0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)),
    ] = 1e-6
    attributes: Annotated[
        TupleOf[str] | None,
        Field(title="Attributes", description="Those of the new table; empty: all that are no identifiers."),
    ] = None
    bins: Annotated[
        int,
        Field(ge=2, le=MOST_VALUES, title="Bins", description="Ranges of equal width into which numbers are counted."),
    ] = 16
    ranges: Annotated[
        dict[str, TupleOf[float | str]],
        Field(
            title="Public ranges",
            description="Smallest and largest number of an attribute, or all ends of its ranges; else the table's own.",
        ),
    ] = Field(default_factory=dict)
    contributions: Annotated[
        int | None,
        Field(
            ge=1,
            le=1_000_000,
            title="Rows of one person",
            description="How many rows one person has at most; empty: one, where the table does not say otherwise.",
        ),
    ] = None

    @classmethod
    def why_unavailable(cls) -> str:
        """That OpenDP is not installed, and the command that installs it; empty where it is."""
        return why_missing(*NEEDED)

    @property
    def takes_long(self) -> bool:
        """It fits a model to all marginals."""
        return True

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """Nothing about groups: nobody is in one."""
        return ()

    def personal_guarantees(self, release: Release) -> tuple[PersonalGuarantee, ...]:
        """The bound that the noise was chosen for, which no table can show."""
        level = f"epsilon = {self.epsilon:g}" + (f", delta = {self.delta:g}" if self.delta else "")
        rows = f" with at most {self.contributions:,} rows each" if (self.contributions or 1) > 1 else ""
        sentence = (
            f"Promised: differential privacy with {level} for every person{rows}, by OpenDP's account of its noise, "
            "where categories and ranges are public. No table can show an epsilon, so nothing re-checks it."
        )
        return (PersonalGuarantee(None, self.epsilon, self.epsilon, True, sentence, level, HIDDEN_NOISE),)

    def validate_data(self, data: Microdata) -> None:
        """Raise an error where OpenDP is not installed, several rows may be one person's, or attributes do not fit."""
        if reason := self.why_unavailable():
            raise MissingPackageError(reason)
        if data.pseudonym is not None:
            raise DataError(
                f"'{data.pseudonym}' holds pseudonyms of people, and the rows of a synthetic table are nobody's; name "
                "it as unit instead, and it is left out."
            )
        self._require_known_contributions(data)
        self._cells(data)

    def _require_known_contributions(self, data: Microdata) -> None:
        if data.people is None:
            return
        most = int(np.bincount(data.people).max())
        if self.contributions is None:
            raise DataError(
                f"One person may have several rows by '{data.unit}', and epsilon is about people: say how many rows "
                "one person has at most (`contributions`), a number that does not come from this table."
            )
        if most > self.contributions:
            raise DataError(
                f"Somebody has more than the {self.contributions:,} rows that one person has at most by "
                "`contributions`; raise it, or leave out rows first."
            )

    def _cells(self, data: Microdata) -> tuple[PublicCells, ...]:
        """The cells of each attribute of the new table."""
        names = data.attributes if self.attributes is None else tuple(dict.fromkeys(self.attributes))
        for name in (*names, *self.ranges):
            data.require_domain(name)
        unused = [name for name in self.ranges if name not in names]
        if unused:
            raise ParameterError(f"Ranges are given of {listing(unused)}, which the new table does not have.")
        found = tuple(public_cells(data.domain[name], self.bins, self.ranges.get(name, ())) for name in names)
        require_few_cells(found, MOST_VALUES)
        if sum(one.size > 1 for one in found) < 2:
            raise DataError(
                "Marginal synthesis counts pairs of attributes, so it needs at least two that have several values."
            )
        return found

    def _release(self, data: Microdata, progress: Progress) -> Release:
        found = self._cells(data)
        # An attribute of one cell has nothing to be counted.
        counted = [one for one in found if one.size > 1]
        cells = np.stack([one.of_code[data.codes[one.domain.name]] for one in counted], axis=1)
        order = {
            "sizes": [one.size for one in counted],
            "epsilon": self.epsilon,
            "delta": self.delta,
            "contributions": self.contributions or 1,
        }
        made = generated(cells, order, part_of(progress, 0.0, 0.85))
        progress(0.85, "Writing the rows")
        release = Release.from_published({ONLY_TABLE: self._table(found, made)}, original=data, rows="synthetic")
        return replace(release, algorithm=self, notes=(release.notes[0], *self._notes(found)))

    @staticmethod
    def _table(found: tuple[PublicCells, ...], made: Codes) -> pd.DataFrame:
        # What is drawn here comes from noisy counts alone, so nothing of a person depends on it.
        rng = np.random.default_rng()
        columns, place = {}, 0
        for one in found:
            cells = np.zeros(len(made), np.int32)
            if one.size > 1:
                cells, place = made[:, place], place + 1
            columns[one.domain.name] = one.values(cells, rng)
        return pd.DataFrame(columns)

    def _notes(self, found: tuple[PublicCells, ...]) -> tuple[str, ...]:
        ranged = [one.domain.name for one in found if one.first is not None and one.domain.name not in self.ranges]
        listed = [one.domain.name for one in found if one.first is None]
        notes = ["Each run spends its epsilon anew: those of all tables that are published of the same people add up."]
        if ranged:
            notes.append(
                f"The smallest and largest number of {listing(ranged, 20)} come from the table and count as public."
            )
        if listed:
            notes.append(f"The values of {listing(listed, 20)} that occur come from the table and count as public.")
        return tuple(notes)


def generated(cells: Codes, order: Mapping[str, Any], progress: Progress) -> npt.NDArray[np.int32]:
    """The cells of a table made of `cells`, int32 (rows, attributes), by `noisy_marginals` in a process of its own.

    The process ends when it is done, where `progress` raises CancelledError, and where this one ends. Raises
    AnonymizationError for what goes wrong in it.
    """
    # -P: it imports nothing from the folder in which somebody happens to be.
    command = [sys.executable, "-P", str(Path(noisy_marginals.__file__))]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=True
    )
    assert process.stdin is not None, "it was started with a pipe"
    assert process.stdout is not None, "it was started with a pipe"
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    # Pipes are read and written beside this thread, which asks every moment whether the table is still wanted.
    for work in ((_send, process.stdin, cells, order), (_listen, process.stdout, answers)):
        threading.Thread(target=work[0], args=work[1:], name="marginal synthesis", daemon=True).start()
    try:
        return _awaited(answers, progress)
    finally:
        process.kill()
        process.wait()


def _awaited(answers: queue.SimpleQueue[Answer], progress: Progress) -> npt.NDArray[np.int32]:
    share, text = 0.0, "Starting OpenDP"
    while True:
        progress(share, text)
        with suppress(queue.Empty):
            answer = answers.get(timeout=EVERY_SECONDS)
            if "problem" in answer:
                raise AnonymizationError(f"OpenDP made no table: {answer['problem']}.")
            if "made" in answer:
                return np.asarray(answer["made"])
            share, text = max(share, float(answer["share"])), str(answer["text"])


def _send(stream: IO[bytes], cells: Codes, order: Mapping[str, Any]) -> None:
    content = io.BytesIO()
    np.save(content, cells, allow_pickle=False)
    # A process that ended early says so by ending; what it did not read any more is of no use.
    with suppress(OSError, ValueError), stream:
        stream.write(json.dumps(order).encode() + b"\n")
        stream.write(content.getbuffer())


def _listen(stream: IO[bytes], answers: queue.SimpleQueue[Answer]) -> None:
    with suppress(OSError, ValueError), stream:
        while line := stream.readline():
            answer: Answer = json.loads(line)
            if "table" in answer:
                answer = {"made": np.load(io.BytesIO(stream.read(int(answer["table"]))), allow_pickle=False)}
            answers.put(answer)
    answers.put({"problem": "its process ended, for example because there was not enough memory"})
