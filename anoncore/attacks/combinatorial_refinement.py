"""Combinatorial refinement: what local recoding tells by every finer group of rows that it did not make a class."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from anoncore.attacks.foreground.control import Excess, beside_control
from anoncore.attacks.recoded_classes import RecodedClasses
from anoncore.attacks.refined_counts import MOST_CELLS, NOT_MADE_SO, CountBounds, count_bounds
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.number import RISK, measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import numbered_inside_groups, starts_of
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

REFINEMENT_NARROWED = replace(
    RISK,
    name="refinement-narrowed",
    title="Narrowed counts",
    template=(
        "Share of the combinations of values that a generalized {group} allows of which readers who know local "
        "recoding can tell better how many rows have them."
    ),
    source="Chhillar, Righi, Sutter and Kornaropoulos 2025 (arXiv 2509.03350)",
    unit="share of cells",
    baseline="0: without the method any of them may be that of all rows, or of none.",
    release_forms=("generalization",),
    is_slow=True,
    short="Narrowed",
)
REFINEMENT_RULED_OUT = replace(
    REFINEMENT_NARROWED,
    name="refinement-ruled-out",
    title="Counts that must be 0",
    template=(
        "Share of the combinations of values that a generalized {group} allows which, as readers who know local "
        "recoding can tell, none of its rows has."
    ),
    short="Ruled out",
)
REFINEMENT_LOCATED = replace(
    REFINEMENT_NARROWED,
    name="refinement-located",
    title="Located by refinement",
    template=(
        "Share of the people of whom an adversary who knows their quasi-identifiers and local recoding can tell which "
        "{group} they are in."
    ),
    unit="share of people",
    baseline="the same share for an adversary who does not know the method.",
    short="Located",
)
REFINEMENT_BREACH = replace(
    REFINEMENT_LOCATED,
    name="refinement-breach",
    title="Breached by refinement",
    template=(
        "Share of the people with a protected value of {attribute} which is believed with more than 1/{r} in every "
        "table that the release and local recoding allow."
    ),
    of_attribute=True,
    short="Breached",
)
REFINEMENT_CONTROL, REFINEMENT_EXCESS = beside_control(
    REFINEMENT_BREACH,
    "Share of the people with a protected value of {attribute} which refinement believes with more than 1/{r}, "
    "less the same share on shuffled secrets.",
)
REFINEMENT_CONTROL = replace(
    REFINEMENT_CONTROL, template="The same share where nothing was to be learned: {attribute} shuffled over all people."
)
ALONE = (
    "The table that was anonymized is not given, so nothing is said of people; give it as `original` to "
    "`Release.from_published`."
)
FROM_ELSEWHERE = (
    "The release was made elsewhere. It is taken for one of local recoding with k = {k} that tried every finer "
    "combination of levels first and suppressed what was left; of suppressed rows no finer group is used."
)
LEFT_OVER = (
    "One group holds rows that were left over. Readers are taken to know which, and nothing is concluded from it."
)
NONE_LEFT_OVER = "No rows were left over, and readers are taken to know that."
ORDER_BY_LOSS = "Of combinations of levels whose losses depend on the table, it is not used which was tried first."
ORDER = "Of combinations of levels of which neither is finer in all attributes, it is not used which was tried first."


@record
class Refinement(Result):
    """What readers of a locally recoded table learn from the groups that were not made classes.

    A cell is a class and a combination of values that its generalized cells allow.

    Attributes
    ----------
    attribute : str
        The sensitive attribute that is attacked.
    r : float
        A breach is a belief above 1 / r.
    k : int
        The k of the local recoding.
    own_belief : ndarray of float, shape (n_rows,)
        The least belief in each person's own value that any possible table gives, in original row order; NaN where
        the value needs no protection, and for all where the original is not known.
    without_attack : ndarray of float, shape (n_rows,)
        The same for an adversary who does not know the method.
    recall : Score
        Share of the people with a protected value who are believed above 1 / r to have it.
    control : Score
        The mean recall with shuffled secrets. NaN without draws.
    excess : Score
        Recall less control: what the release gives away.
    control_interval, excess_interval : tuple of float
        95% intervals. That of the excess holds 0 for 19 of 20 tables with shuffled secrets.
    located : Score
        Share of the people whose class is certain.
    narrowed, ruled_out : Score
        Share of the cells whose range of counts is narrower than from 0 to the class's size, and of those without rows.
    cell_class : ndarray of int64, shape (n_cells,)
        The class of each cell whose count was bounded.
    cell_codes : ndarray of int32, shape (n_cells, n_attributes)
        The codes of its values, a column per quasi-identifier.
    low, high : ndarray of int64, shape (n_cells,)
        The fewest and the most rows of the cell's class that have its values.
    is_least : ndarray of bool, shape (n_cells,)
        Whether the refused groups that are used allow no narrower range.
    n_refused : int
        Refused groups that were used: at most k - 1 rows lie in each, and no other one says so.
    notes : tuple of str
        What to know of the numbers, in sentences.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata, attacks
    >>> from anoncore.algorithms import LocalRecoding
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [31, 31, 32, 33, 45, 45], "disease": list("ffcgcc")})
    >>> ages = Hierarchy.by_width(people["age"], width=10)
    >>> roles = {"age": "quasi-identifier", "disease": "sensitive"}
    >>> data = Microdata(people, roles, hierarchies={"age": ages})
    >>> release = LocalRecoding(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> found = attacks.refinement(release, "disease", draws=0)
    >>> float(found.located), round(found.located.baseline, 2), round(found.ruled_out, 2)
    (1.0, 0.67, 0.33)
    """

    attribute: str
    r: float
    k: int
    own_belief: Floats
    without_attack: Floats
    recall: Score
    control: Score
    excess: Score
    control_interval: tuple[float, float]
    excess_interval: tuple[float, float]
    located: Score
    narrowed: Score
    ruled_out: Score
    cell_class: Int64
    cell_codes: Codes
    low: Int64
    high: Int64
    is_least: Bools
    n_refused: int
    notes: tuple[str, ...]


@measure(
    REFINEMENT_BREACH,
    REFINEMENT_CONTROL,
    REFINEMENT_EXCESS,
    REFINEMENT_LOCATED,
    REFINEMENT_NARROWED,
    REFINEMENT_RULED_OUT,
    title="Refinement",
)
@checked
def refinement(
    release: Release,
    attribute: str,
    r: float = 2.0,
    k: int | None = None,
    most_cells: int = MOST_CELLS,
    draws: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
) -> Refinement:
    """What readers learn from the finer groups of rows that local recoding did not make classes.

    Local recoding tries combinations of levels by ascending loss, and makes every group of k rows a class. So a row
    that is published at some levels tells that at every earlier combination the rows that were left and like it were
    fewer than k, and that no earlier class fits it. Finer combinations are earlier ones; by the losses of our method,
    which depend on the table only in part, more are. These are linear inequalities on the counts of values
    inside the classes. Integer programs bound each count by them, in parts that share no class and no inequality.

    The adversary knows a person's quasi-identifiers and not the class. A person who fits several classes may have been
    put into any of them, and the inequalities rule classes out. The belief in a secret is the least that any counts
    within the bounds give: without the method that of the class where the secret is least frequent.

    Parameters
    ----------
    release : Release
        A release of local recoding that asks for k-anonymity alone, or one that another program made so.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        A breach is a belief above 1 / r; at least 1.
    k : int, optional
        The k with which another program made the release, at least 2; not needed where the method is known.
    most_cells : int
        Cells up to which a part is solved as a whole; beyond, each class is bounded alone, which bounds less.
    draws : int
        How often the secret is shuffled for the control; 0 makes none.
    seed : int
        Shuffles the secrets.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.

    Returns
    -------
    Refinement
        The bounds of all counts, and the beliefs about every person beside those of readers who do not know the method.

    Raises
    ------
    ReleaseError
        Where the release was not made by local recoding, asks for more than k-anonymity, or its method is not known
        and no `k` is given; and where no table gives these classes.
    DataError
        Without quasi-identifiers, or for an attribute that is not sensitive.
    ParameterError
        For a number out of range.

    Notes
    -----
    Assumes: the adversary knows the hierarchies, the method and its k, whether rows were left over and which class they
      joined, the quasi-identifiers of the person they ask about, and that this person is in the table; no other person,
      and nothing of how frequent values are.
    Cost: O(m n) for m combinations of levels and n cells, and up to two integer programs for each cell.
    Use: a table is recoded locally, by ARX for example, and it is feared that the coarse classes tell who is in them.
    Avoid: the adversary knows everybody's class: then single groups tell as much. For Mondrian and recoding of the
      whole table see `downcoding` and `minimality`: that a finer cut failed tells of some class there, and not which.

    References
    ----------
    Chhillar, Righi, Sutter and Kornaropoulos, Exposing privacy risks in anonymizing clinical data: combinatorial
    refinement attacks on k-anonymity without auxiliary information, arXiv 2509.03350, 2025. The control is ours.

    Examples
    --------
    The two of 31 are a class. Whoever else is between 30 and 39 is not 31:

    >>> import pandas as pd
    >>> from anoncore import Hierarchy, Microdata, attacks
    >>> from anoncore.algorithms import LocalRecoding
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [31, 31, 32, 33, 45, 45], "disease": list("ffcgcc")})
    >>> ages = Hierarchy.by_width(people["age"], width=10)
    >>> roles = {"age": "quasi-identifier", "disease": "sensitive"}
    >>> data = Microdata(people, roles, hierarchies={"age": ages})
    >>> release = LocalRecoding(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> release.recoding("age").texts().tolist()
    ['31', '31', '30-39', '30-39', '45', '45']
    >>> found = attacks.refinement(release, "disease", draws=0)
    >>> data.domain["age"].texts[found.cell_codes[:, 0]].tolist(), found.low.tolist(), found.high.tolist()
    (['31', '32', '33'], [0, 1, 1], [0, 1, 1])
    >>> found.own_belief[:4].tolist(), found.without_attack[:4].tolist()
    ([1.0, 1.0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5])
    """
    release.require_people("Refinement counts the rows of people behind the cells of a group")
    if not r >= 1:
        raise ParameterError(f"r must be at least 1, so that 1 / r is a probability, not {r}.")
    if draws < 0 or most_cells < 0 or (k is not None and k < 2):
        raise ParameterError(
            f"draws and most_cells are at least 0 and k at least 2; given were {draws}, {most_cells} and {k}."
        )
    data = release.data
    data.require_sensitive(attribute)
    data.require_quasi_identifiers()
    if data.people is not None:
        raise ReleaseError(
            "Refinement counts the rows of a group; it is not measured where a person may have several rows."
        )
    report = silent if progress is None else progress
    classes = RecodedClasses.of(release, k)
    bounds = count_bounds(classes, most_cells, part_of(report, 0, 0.9))
    words = {"attribute": f"'{attribute}'", "r": f"{r:g}"}
    sizes = classes.sizes[bounds.of_class]
    cells: dict[str, Any] = {
        "narrowed": Score(_mean(bounds.high - bounds.low < sizes), REFINEMENT_NARROWED, baseline=0.0, words=words),
        "ruled_out": Score(_mean(bounds.high == 0), REFINEMENT_RULED_OUT, baseline=0.0, words=words),
    }
    own, without = np.full(data.n_rows, nan), np.full(data.n_rows, nan)
    located = located_without = recall = guess = nan
    by_chance: list[float] = []
    n_asked = 0
    if data.knows_rows:
        places = _Places.of(release, classes, bounds)
        located, located_without = places.located(places.high), places.located(places.most)
        own, without = places.own_beliefs(release, data, attribute)
        recall, guess = _share_above(own, r), _share_above(without, r)
        n_asked = int((~np.isnan(own)).sum())
        for draw in range(draws):
            report(0.95 + 0.05 * draw / draws, "Beliefs on shuffled secrets")
            shuffled = data.with_shuffled(attribute, seed + 1 + draw)
            by_chance.append(_share_above(places.own_beliefs(release, shuffled, attribute)[0], r))
    beside = Excess.of(recall, by_chance, n_asked)
    return Refinement(
        attribute=attribute,
        r=r,
        k=classes.k,
        own_belief=own,
        without_attack=without,
        recall=Score(recall, REFINEMENT_BREACH, baseline=guess, words=words),
        **beside.scores(REFINEMENT_CONTROL, REFINEMENT_EXCESS, words),
        located=Score(located, REFINEMENT_LOCATED, baseline=located_without, words=words),
        **cells,
        cell_class=bounds.of_class,
        cell_codes=bounds.codes,
        low=bounds.low,
        high=bounds.high,
        is_least=bounds.is_least,
        n_refused=bounds.n_refused,
        notes=_notes(release, classes, bounds, most_cells),
    )


def _mean(holds: Bools) -> float:
    """The share that holds; NaN where there is nothing to take a share of."""
    return float(holds.mean()) if len(holds) else nan


def _share_above(belief: Floats, r: float) -> float:
    """The share of beliefs above 1 / r, of those that are not NaN."""
    return _mean(lies_above(belief[~np.isnan(belief)], 1 / r, ACCUMULATED))


def _notes(release: Release, classes: RecodedClasses, bounds: CountBounds, most_cells: int) -> tuple[str, ...]:
    notes = []
    if release.algorithm is None:
        notes.append(FROM_ELSEWHERE.format(k=classes.k))
    else:
        notes.append(NONE_LEFT_OVER if classes.takes_all.all() else LEFT_OVER)
    hidden = classes.n_combinations > 1
    n_uncounted = int((hidden & classes.takes_all & ~bounds.is_counted).sum())
    if n_uncounted:
        notes.append(
            f"Of {int(hidden.sum()):,} generalized groups {n_uncounted:,} allow so many combinations of values that "
            "their counts were not bounded; shares of cells leave them out, and people may be in them unless an "
            "earlier group fits."
        )
    if bounds.n_apart:
        notes.append(
            f"{bounds.n_apart:,} of {len(bounds.low):,} cells lie in parts of more than {most_cells:,} cells, of which "
            "each group was bounded alone: their ranges hold, and may be wider than need be."
        )
    if not release.data.knows_rows:
        notes.append(ALONE)
    notes.append(ORDER if classes.least_added is None else ORDER_BY_LOSS)
    return tuple(notes)


@record
class _Places:
    """The classes in which people with the same quasi-identifiers may be, and how many of them.

    The people of combination v may be in `of_class[start[v]:start[v + 1]]`, at least `low` and at most `high` of them;
    without the method at least `least` and at most `most`. `combination` int64 (n_rows,) is that of every row.
    """

    combination: Int64
    start: Int64
    of_class: Int64
    low: Int64
    high: Int64
    least: Int64
    most: Int64

    @classmethod
    def of(cls, release: Release, classes: RecodedClasses, bounds: CountBounds) -> _Places:
        data = release.data
        codes, combination = np.unique(
            np.column_stack([data.codes[name] for name in data.quasi_identifiers]), axis=0, return_inverse=True
        )
        which, of_class = classes.covering(codes)
        order = np.lexsort((of_class, which))
        which, of_class = which[order], of_class[order]
        most = classes.sizes[of_class]
        least = np.where(classes.n_combinations[of_class] == 1, most, 0)
        low, high = least.copy(), np.where(classes.taken(codes[which], of_class), 0, most)
        # Every bounded cell has a key of its own, by which the pairs of people and classes find it.
        state = np.zeros(len(classes.levels), np.int64)
        keys = classes.key(bounds.codes, state) + classes.class_words[bounds.of_class]
        wanted = classes.key(codes[which], state) + classes.class_words[of_class]
        sorted_keys = np.argsort(keys)
        place = np.searchsorted(keys[sorted_keys], wanted)
        cell = sorted_keys[np.minimum(place, len(keys) - 1)] if len(keys) else np.zeros(len(wanted), np.int64)
        is_bounded = bounds.is_counted[of_class]
        low[is_bounded], high[is_bounded] = bounds.low[cell[is_bounded]], bounds.high[cell[is_bounded]]
        if not np.bincount(which, weights=high, minlength=len(codes)).all():
            raise ReleaseError(NOT_MADE_SO.format(k=classes.k))
        start = starts_of(np.bincount(which, minlength=len(codes)))
        return cls(combination.reshape(-1).astype(np.int64), start, of_class, low, high, least, most)

    def located(self, most: Int64) -> float:
        """The share of people who may be in one class only, where at most so many are in each."""
        n_possible = np.add.reduceat((most > 0).astype(np.int64), self.start[:-1])
        return float((n_possible == 1)[self.combination].mean())

    def own_beliefs(self, release: Release, data: Microdata, attribute: str) -> tuple[Floats, Floats]:
        """The least belief in each person's own secret with the attack and without it; NaN for unprotected ones."""
        view, partition = data.sensitive_view(attribute), release.partition
        shares = partition.histogram(view.codes, view.size) / partition.sizes[:, None]
        number, combination, secret, _ = numbered_inside_groups(self.combination, view.codes)
        beliefs = []
        for low, high in ((self.low, self.high), (self.least, self.most)):
            possible = np.flatnonzero(high)
            low, high, of_class = low[possible], high[possible], self.of_class[possible]
            start = np.searchsorted(possible, self.start)
            belief = shares[of_class[start[combination]], secret]
            for i in np.flatnonzero(np.diff(start)[combination] > 1).tolist():
                at = slice(start[combination[i]], start[combination[i] + 1])
                belief[i] = least_share(low[at], high[at], shares[of_class[at], secret[i]])
            beliefs.append(np.where(view.codes == view.unique, nan, belief[number]))
        return beliefs[0], beliefs[1]


def least_share(low: Int64, high: Int64, shares: Floats) -> float:
    """The least mean share over classes of which each counts as often as between `low` and `high`, and some do.

    It is reached where the classes with the smallest shares count as often as they may, and the others as seldom.
    `high` is at least 1 everywhere.
    """
    order = np.argsort(shares, kind="stable")
    low, high, shares = low[order], high[order], shares[order]
    rest = low.sum() - np.cumsum(low)
    rest_share = (low * shares).sum() - np.cumsum(low * shares)
    mean = (np.cumsum(high * shares) + rest_share) / (np.cumsum(high) + rest)
    return float(mean.min())
