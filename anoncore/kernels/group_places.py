"""Which values of two attributes belong together in each group, so that each pair has as many places as are asked for.

A group publishes the values of two attributes, each in an order of its own.

- `one` and `other` int32 (n_places,): codes of the two at each place; codes of `other` are exchanged inside groups.
- `starts` int64 (n_groups + 1,): places are ordered by group, those of group g are `starts[g]:starts[g + 1]`. `group`
  int32 (n_places,) is the group of each place.
- `by_one` int64 (n_places,): the places with code i of `one` are `by_one[one_starts[i]:one_starts[i + 1]]`.
- `excess` int32 (n_one, n_other): how many places hold each pair beyond those that are asked for, below 0 where they
  are too few.

Whether all excess can be taken away is a hard question (three-dimensional matching). These exchanges take nearly all of
it away in a fraction of a second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.xorshift import next_state

RARELY = 50
"""One exchange in so many is made although it adds excess, so that the search does not end in a dead end."""


class Places(NamedTuple):
    """The places, as above."""

    one: Int32
    other: Int32
    group: Int32
    starts: Int64
    one_starts: Int64
    by_one: Int64
    excess: Int32


@inner_kernel
def _put(places: Places, place: int, code: int) -> None:
    """Have a place hold another code of `other`."""
    places.excess[places.one[place], places.other[place]] -= 1
    places.other[place] = code
    places.excess[places.one[place], code] += 1


@inner_kernel
def _gain(excess: Int32, first: int, second: int, its: int, foreign: int) -> int:
    """By how much the sum of all sizes of excess grows where code `first` gives `its` away for `foreign`, and `second`
    the other way round.
    """
    change = 1 if excess[first, its] <= 0 else -1
    change += 1 if excess[second, foreign] <= 0 else -1
    change += 1 if excess[first, foreign] >= 0 else -1
    change += 1 if excess[second, its] >= 0 else -1
    return change


@inner_kernel
def _best_partner(places: Places, place: int, state: int) -> tuple[int, int, int]:
    """The place of the same group with which to exchange, -1 if there is none; what it changes, and the next state."""
    one, other = places.one, places.other
    best, least, n_alike = -1, 5, 0
    for partner in range(places.starts[places.group[place]], places.starts[places.group[place] + 1]):
        if other[partner] == other[place] or one[partner] == one[place]:
            continue
        change = _gain(places.excess, one[place], one[partner], other[place], other[partner])
        if change < least:
            best, least, n_alike = partner, change, 1
        elif change == least:
            n_alike += 1
            state = next_state(state)
            if state % n_alike == 0:
                best = partner
    return best, least, state


@kernel
def exchange_at_random(places: Places, n_steps: int, state: int) -> None:
    """Take random places with an excess of their pair, and exchange them in the best way; `state` is that of the random
    numbers.
    """
    n_places = len(places.one)
    waiting, at, n_waiting = np.empty(n_places, np.int64), np.full(n_places, -1, np.int64), 0
    for place in range(n_places):
        if places.excess[places.one[place], places.other[place]] > 0:
            waiting[n_waiting], at[place] = place, n_waiting
            n_waiting += 1
    for _ in range(n_steps):
        if n_waiting == 0:
            break
        state = next_state(state)
        place = waiting[state % n_waiting]
        if places.excess[places.one[place], places.other[place]] <= 0:
            n_waiting -= 1
            last = waiting[n_waiting]
            waiting[at[place]], at[last] = last, at[place]
            at[place] = -1
            continue
        partner, change, state = _best_partner(places, place, state)
        state = next_state(state)
        if partner < 0 or (change > 0 and state % RARELY):
            continue
        its, foreign = places.other[place], places.other[partner]
        _put(places, place, foreign)
        _put(places, partner, its)
        for moved in (place, partner):
            first, second = places.one[moved], places.other[moved]
            if places.excess[first, second] > 0:
                for number in range(places.one_starts[first], places.one_starts[first + 1]):
                    alike = places.by_one[number]
                    if places.other[alike] == second and at[alike] < 0:
                        waiting[n_waiting], at[alike] = alike, n_waiting
                        n_waiting += 1


class Chain(NamedTuple):
    """Codes of `one` that were reached, in order, and for each its predecessor's place and its own in their group."""

    queue: Int64
    seen: Int64
    giving: Int64
    taking: Int64


@inner_kernel
def _end_of_chain(places: Places, chain: Chain, start: int, its: int, foreign: int, stamp: int) -> int:
    """The code of `one` at which a chain of exchanges of two codes of `other` may end so that excess falls; -1 if there
    is none.

    Each code of the chain gives `its` away for `foreign` in a group where the next one does the opposite.
    """
    # Where the first code has no need of `foreign`, the last one has to have too much of it.
    is_asked = places.excess[start, foreign] >= 0
    chain.queue[0], chain.seen[start] = start, stamp
    n_reached, looked = 1, 0
    while looked < n_reached:
        here = chain.queue[looked]
        looked += 1
        for number in range(places.one_starts[here], places.one_starts[here + 1]):
            place = places.by_one[number]
            if places.other[place] != its:
                continue
            for partner in range(places.starts[places.group[place]], places.starts[places.group[place] + 1]):
                there = places.one[partner]
                if places.other[partner] != foreign or chain.seen[there] == stamp:
                    continue
                chain.seen[there], chain.giving[there], chain.taking[there] = stamp, place, partner
                chain.queue[n_reached] = there
                n_reached += 1
                if places.excess[there, its] < 0 and (not is_asked or places.excess[there, foreign] > 0):
                    return there
    return -1


@kernel
def exchange_in_chains(places: Places, most_rounds: int) -> None:
    """Take excess away by chains of exchanges of two codes of `other`, in so many rounds or until no chain does."""
    n_one, n_other = places.excess.shape
    chain = Chain(
        np.empty(n_one, np.int64), np.full(n_one, -1, np.int64), np.empty(n_one, np.int64), np.empty(n_one, np.int64)
    )
    stamp = 0
    for _ in range(most_rounds):
        n_made = 0
        for start in range(n_one):
            for its in range(n_other):
                for foreign in range(n_other):
                    if places.excess[start, its] <= 0:
                        break
                    if foreign == its:
                        continue
                    stamp += 1
                    here = _end_of_chain(places, chain, start, its, foreign, stamp)
                    if here < 0:
                        continue
                    while here != start:
                        giving, taking = chain.giving[here], chain.taking[here]
                        _put(places, giving, foreign)
                        _put(places, taking, its)
                        here = places.one[giving]
                    n_made += 1
        if n_made == 0:
            break
