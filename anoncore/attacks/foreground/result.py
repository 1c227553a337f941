"""What the foreground-knowledge attack found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.attacks.foreground.sets import SetLeak, signatures_of
from anoncore.attacks.foreground.worlds import Floats, group_probabilities
from anoncore.base.errors import ParameterError
from anoncore.base.score import Score
from anoncore.base.texts import listing
from anoncore.release.release import Release

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class GroupView:
    """One group under the attack with one attribute set and one sensitive value.

    Per person of the group, (N,): `rows` their row numbers, `signatures` the text of their values in the set (other
    than reliable ones end in "(rare)"), `f` = p(s:x), `probability` = p(t:x) with the attack, `has_value` whether the
    original table has x there. `without_attack` is p(t:x) of everyone if every possible world is as likely, and `n` the
    published number of people with x: `possible_worlds(f, n)` lists the worlds.
    """

    group: int
    attributes: tuple[str, ...]
    value: str
    rows: npt.NDArray[np.int64]
    signatures: tuple[str, ...]
    f: Floats
    probability: Floats
    has_value: npt.NDArray[np.bool_]
    n: int
    without_attack: float


@dataclass(frozen=True, eq=False)
class ForegroundKnowledge:
    """The attack on one release.

    Per person, in original row order, float (n_rows,): `breach_probability` is the largest p(t:x) over the attribute
    sets and the values x that need protection, `own_probability` that of the person's own value (NaN where it needs no
    protection); `without_attack` and `own_without_attack` are the same if all possible worlds are equally likely, when
    p(t:x) is n / N. `leading_set` int64 (n_rows,) says which of `sets` gives the breach probability (-1: none does).

    `recall`: share of the people with a protected value whose own p(t:x) exceeds 1 / r. `flagged`: share of the people
    with a p(t:x) above 1 / r for a value that they do not have, among those for whom there is one. `mean_probability`:
    mean own p(t:x). `error`: mean relative error of what was learned about signatures, `mean_range` the mean difference
    of global probabilities inside a group, each averaged over the attribute sets. Their baseline is what the adversary
    has who takes every possible world for equally likely.

    `sets` come with the most leaking first. `values` are the texts of the protected values and `overall_shares`
    (n_values,) how frequent each is in the published table. `minimum_rows` is J: a signature with fewer rows is not
    relied upon and counts with `fixed_shares` (n_values,). `seconds` is the wall time of it all, `mining_seconds` of
    that the learning (summed over the cores); `notes` say what to know.
    """

    attribute: str
    r: float
    minimum_rows: float
    values: tuple[str, ...]
    fixed_shares: Floats
    overall_shares: Floats
    breach_probability: Floats
    own_probability: Floats
    without_attack: Floats
    own_without_attack: Floats
    leading_set: npt.NDArray[np.int64]
    recall: Score
    flagged: Score
    mean_probability: Score
    error: Score
    mean_range: Score
    sets: tuple[SetLeak, ...]
    seconds: float
    mining_seconds: float
    notes: tuple[str, ...]

    @property
    def breached(self) -> npt.NDArray[np.bool_]:
        """Whether each person's breach probability exceeds 1 / r, bool (n_rows,)."""
        return self.breach_probability > 1 / self.r + TOLERANCE

    @property
    def n_sets(self) -> int:
        """Number of attribute sets with a reliable signature."""
        return len(self.sets)

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance for every attribute set."""
        return all(one.converged for one in self.sets)

    def ranking(self) -> pd.DataFrame:
        """One line per attribute set, the most leaking first."""
        return pd.DataFrame(
            {
                "attributes": [one.label for one in self.sets],
                "signatures": [len(one.rows) for one in self.sets],
                "recall": [one.recall for one in self.sets],
                "flagged": [one.flagged for one in self.sets],
                "mean_probability": [one.mean_probability for one in self.sets],
                "mean_range": [one.mean_range for one in self.sets],
                "relative_error": [one.relative_error for one in self.sets],
                "steps": [one.steps for one in self.sets],
                "converged": [one.converged for one in self.sets],
            }
        )

    def distribution(self, release: Release, place: int = 0) -> pd.DataFrame:
        """What was learned with attribute set `place`: one line per reliable signature and protected value.

        Columns: the attributes' texts, `rows`, `value`, `learned` and `true` p(s:x), `relative_error`.
        """
        one = self.sets[place]
        domains = [release.data.domain[name] for name in one.attributes]
        m, n_values = one.learned.shape
        frame = pd.DataFrame(
            {
                name: np.repeat(d.texts[one.signatures[:, i]], n_values)
                for i, (name, d) in enumerate(zip(one.attributes, domains, strict=True))
            }
        )
        frame["rows"] = np.repeat(one.rows, n_values)
        frame["value"] = list(self.values) * m
        frame["learned"], frame["true"] = one.learned.ravel(), one.true.ravel()
        frame["relative_error"] = (frame["learned"] - frame["true"]).abs() / frame["true"].where(frame["true"] > 0)
        return frame

    def group(self, release: Release, group: int, place: int | None = None, value: str | None = None) -> GroupView:
        """One group of the attacked release, person by person.

        `place`: which of `sets`; by default the one that says most about someone in the group. `value`: which protected
        value; by default the one with the largest p(t:x) here. Raises ParameterError for what does not exist.
        """
        partition = release.partition
        if not 0 <= group < partition.n_groups:
            raise ParameterError(
                f"There is no {release.group_word} {group}; they are numbered 0 to {partition.n_groups - 1}."
            )
        if value is not None and value not in self.values:
            raise ParameterError(f"{value!r} is not a protected value; there is {listing(self.values)}.")
        rows = partition.rows(group)
        if place is None:
            place = int(self.leading_set[rows[np.argmax(self.breach_probability[rows])]])
        if place >= len(self.sets):
            raise ParameterError(f"There is no attribute set {place}; the attack found {len(self.sets)}.")
        published = release.data.sensitive_view(self.attribute, release.published_codes(self.attribute)).codes[rows]
        wanted = range(len(self.values)) if value is None else [self.values.index(value)]
        views = [self._view(release, group, place, x, int((published == x).sum())) for x in wanted]
        return max(views, key=lambda view: float(view.probability.max()))

    def _view(self, release: Release, group: int, place: int, x: int, n: int) -> GroupView:
        data, rows = release.data, release.partition.rows(group)
        attributes = self.sets[place].attributes if place >= 0 else ()
        f, rare = self._shares(release, rows, place, x)
        texts = [
            ", ".join(data.domain[name].text(int(data.codes[name][row])) for name in attributes)
            + (" (rare)" if attributes and unknown else "")
            for row, unknown in zip(rows, rare, strict=True)
        ]
        return GroupView(
            group=int(group),
            attributes=attributes,
            value=self.values[x],
            rows=rows,
            signatures=tuple(texts),
            f=f,
            probability=group_probabilities(f, n),
            has_value=data.sensitive_view(self.attribute).codes[rows] == x,
            n=n,
            without_attack=n / len(rows),
        )

    def _shares(
        self, release: Release, rows: npt.NDArray[np.int64], place: int, x: int
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """p(s:x) of each row, and whether its signature is too rare; without any set everyone has the overall share."""
        if place < 0:
            return np.full(len(rows), self.overall_shares[x]), np.ones(len(rows), dtype=np.bool_)
        one = self.sets[place]
        found = signatures_of(release.data, one.attributes, self.minimum_rows)
        classes = np.zeros(len(rows), dtype=np.int32) if found is None else found.classes[rows]
        return np.append(one.learned[:, x], self.fixed_shares[x])[classes], classes == len(one.rows)
