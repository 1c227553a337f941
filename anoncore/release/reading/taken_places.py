"""How many rows take each place, so that all rows and all lines are used up: an integer program, solved in parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, csr_array, vstack
from scipy.sparse.csgraph import connected_components

from anoncore.kernels.arrays import Bools, Floats, Int64

SECONDS = (2.0, 2.0)
"""Times after which the choice of places is begun anew, and given up in the end."""
INFEASIBLE = 2
"""What the solver says of a program without a solution."""


def taken_places(owners: Sequence[Int64], wanted: Sequence[Int64]) -> tuple[Int64 | None, bool]:
    """Say how many rows take each place, so that all rows and all lines are used up.

    A place is a group in which rows of a class (rows with equal values) can stand, together with the published lines
    that they would have there, one class of lines in each table. The classes are the owners of the place. Of each owner
    `wanted` says how many rows or lines it has, and the places that belong to it must be taken as often in total.

    Parameters
    ----------
    owners : sequence of ndarray of int64, shape (n_places,)
        Whose each place is: its class of rows, then its class of lines in each table.
    wanted : sequence of ndarray of int64, shape (n_owners,)
        How many rows or lines each owner has, one array for each of `owners`.

    Returns
    -------
    taken : ndarray of int64, shape (n_places,), or None
        How many rows take each place; None where they cannot be given out so.
    is_known : bool
        Whether the search ended in time. Where it did not, only some of the rows take a place in `taken`.

    Examples
    --------
    >>> import numpy as np
    >>> from anoncore.release.reading.taken_places import taken_places
    >>> owners = [np.array([0, 0, 1]), np.array([0, 1, 0])]
    >>> taken_places(owners, [np.array([2, 1]), np.array([1, 2])])
    (array([0, 2, 1]), True)
    """
    n_places = len(owners[0])
    if not n_places:
        return None, True
    each, ones = np.arange(n_places), np.ones(n_places)
    matrix = csr_array(
        vstack(
            [
                csr_array((ones, (owner, each)), shape=(len(sizes), n_places))
                for owner, sizes in zip(owners, wanted, strict=True)
            ]
        )
    )
    sums = np.concatenate(wanted).astype(np.float64)
    taken = np.zeros(n_places, np.int64)
    # What has one place only takes it; what is left falls apart into parts that have nothing to do with each other.
    left, open_places = _forced(matrix, sums, taken)
    if left is None:
        return None, True
    if not open_places.any():
        return taken, True
    is_solved, is_known = _solved(matrix, left, open_places, taken)
    return (None if is_known and not is_solved else taken), is_known


def _forced(matrix: csr_array, sums: Floats, taken: Int64) -> tuple[Floats | None, Bools]:
    """Fill in places without a choice; gives what is left to be used up, None if it cannot be, and the open places."""
    left = sums.copy()
    columns = csr_array(matrix.T)
    is_open = np.ones(matrix.shape[1], np.bool_)
    while True:
        # A place of something that is used up takes nobody.
        full = left <= 0
        shut = is_open & ((columns @ full.astype(np.float64)) > 0)
        is_open[shut] = False
        options = matrix @ is_open.astype(np.float64)
        if ((options == 0) & (left > 0)).any():
            return None, is_open
        single = np.flatnonzero((options == 1) & (left > 0))
        if not len(single):
            return left, is_open
        only = matrix[single] @ csr_array((np.where(is_open, np.arange(matrix.shape[1]) + 1.0, 0.0))[:, None])
        place = only.toarray().ravel().astype(np.int64) - 1
        place, first = np.unique(place, return_index=True)
        amount = left[single[first]]
        # Two that have one place only must agree; the first says how many, and the next round finds a conflict.
        taken[place] += amount.astype(np.int64)
        is_open[place] = False
        used = np.zeros(matrix.shape[1])
        used[place] = amount
        left = left - matrix @ used
        if (left < 0).any():
            return None, is_open


def _solved(matrix: csr_array, left: Floats, is_open: Bools, taken: Int64) -> tuple[bool, bool]:
    """Fill in the open places by integer programs; says whether they have a solution, and whether that is known.

    What has no line or row in common is solved by itself. How long a search takes depends much on the order of the
    places, so it is begun anew in another order after a while.
    """
    places = np.flatnonzero(is_open)
    part = csr_array(matrix[:, places])
    used = np.flatnonzero(np.diff(part.indptr) > 0)
    part, sums = csr_array(part[used]), left[used]
    _, piece = connected_components(csr_array(part.T @ part), directed=False)
    order = np.argsort(piece, kind="stable")
    ends = np.cumsum(np.bincount(piece))
    columns = csc_array(part)
    for begin, end in zip(ends - np.bincount(piece), ends, strict=True):
        chosen = order[begin:end]
        own = csr_array(columns[:, chosen])
        touched = np.flatnonzero(np.diff(own.indptr) > 0)
        amount, is_known = _amounts(csr_array(own[touched]), sums[touched])
        if amount is None:
            return False, is_known
        taken[places[chosen]] = amount
    return True, True


def _amounts(matrix: csr_array, sums: Floats) -> tuple[Int64 | None, bool]:
    """Whole numbers whose sums are those asked for, None where none were found, and whether that is known."""
    rng = np.random.default_rng(0)
    n_places = matrix.shape[1]
    for seconds in SECONDS:
        shuffled = rng.permutation(n_places)
        found = milp(
            np.zeros(n_places),
            integrality=np.ones(n_places, np.int64),
            bounds=Bounds(0, np.inf),
            constraints=LinearConstraint(csr_array(matrix[:, shuffled]), sums, sums),
            options={"time_limit": seconds},
        )
        if found.status == INFEASIBLE:
            return None, True
        if found.x is not None:
            amount = np.empty(n_places, np.int64)
            amount[shuffled] = np.rint(found.x).astype(np.int64)
            if (amount >= 0).all() and np.array_equal(matrix @ amount, sums):
                return amount, True
    return None, False
