"""What readers who know a method can tell of a generalized cell: how its rows may fall below the cell's node."""

from __future__ import annotations

from anoncore.kernels.arrays import Bools, record


@record
class CellKnowledge:
    """What a method that publishes cells as low in their hierarchies as it can tells of the rows behind a cell.

    Attributes
    ----------
    applies : ndarray of bool, shape (n_groups,)
        The classes of which it is known; of the others nothing is.
    is_lowest : bool
        Whether a cell is the lowest node that holds the values of its class, so that not all lie below one child.
    some_below : int
        At least one child of a cell's node that has rows has fewer rows than this; 0 where that is not known.
    all_below : int
        Every child of a cell's node has fewer rows than this; 0 where that is not known.
    takes_all : bool
        Whether a class that is published with a finer cell holds every row that fits it, so that no row of a class
        with a coarser cell, and the same ones otherwise, does.
    by_loss : bool
        Whether combinations of levels were tried by ascending information loss of a cell, averaged over the table, and
        of equal ones the lower level of the first attribute first; else finer ones came before coarser ones, and
        nothing is known of others.
    """

    applies: Bools
    is_lowest: bool = False
    some_below: int = 0
    all_below: int = 0
    takes_all: bool = False
    by_loss: bool = False
