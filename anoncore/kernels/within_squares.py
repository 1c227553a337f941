"""Clusters with small squares within them: maximum distance to average vector (MDAV), and a climb that goes on from it.

The squares within a cluster are the sum of the squared distances of its rows from their mean.

- `Points`: rows in a space in which most coordinates are 0, so that a row lists only the others.
- `person` int64 (n_rows,): whose row each one is, from 0 on; a cluster counts people. `alone` bool (n_rows,) says
  that a person has no other row, so that nothing has to be looked up.
- `group` int64 (n_rows,): number of the cluster of every row.

Source: MDAV after Hundepool et al., mu-Argus manual, 2003; for one number, Hansen and Mukherjee, IEEE TKDE 15(4), 2003.
The climb is ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import filled_with, lowest_positions
from anoncore.kernels.xorshift import next_state

LEAST_GAIN = 1e-9
"""Squares that a step has to save: less may be rounding."""
CLOSER_LOOK = 3.0
"""Times the squares of a dissolved cluster that its rows may cost at first, for the steps after it to be tried."""
DISSOLVED = 4
"""Every so many rounds a cluster is dissolved; in the others some clusters are formed anew."""
MOST_FORMED = 4
"""Neighbouring clusters that are formed anew together, at most."""


class Points(NamedTuple):
    """Rows as points: `value[row, w]` is the coordinate on axis `axis[row, w]`, all others are 0.

    `axis` int32 (n_rows, width), `value` float (n_rows, width), `square` float (n_rows,): the sum of the squared
    values. No axis stands twice in a row, unless with the value 0. `n_axes` is the number of axes.
    """

    axis: Int32
    value: Floats
    square: Floats
    n_axes: int


class People(NamedTuple):
    """Whose rows they are, and of how many people a cluster must hold rows: see `person` and `alone` above."""

    person: Int64
    alone: Bools
    k: int


class Clusters(NamedTuple):
    """The clusters while they change: places for them, of which some are empty.

    `total` float (n_places, n_axes) is the sum of the points, `square` (n_places,) the square of its length; `size` and
    `people` int64 (n_places,) count rows and people. The rows of a cluster form a chain: `first` (n_places,), then
    `after` (n_rows,), with `before` (n_rows,) the other way round; -1 ends it. `free` lists the empty places: the
    first `n_free[0]` of them.
    """

    group: Int64
    total: Floats
    square: Floats
    size: Int64
    people: Int64
    first: Int64
    after: Int64
    before: Int64
    free: Int64
    n_free: Int64


class Memory(NamedTuple):
    """What the climb writes down: rows to look at, in a ring; steps that may be taken back; places and axes in use.

    `queue` int64 (n_rows,), `queued` bool (n_rows,); `step_row` and `step_from` int64: which row left which cluster;
    `stamp` int64 (n_places,) holds the number of the turn, `counter[MARK]`, in which a cluster was last looked at;
    `dense` float (n_axes,) is all 0 before and after. `counter` int64 (4,): see MARK, STEPS, WORK and STATE.
    """

    queue: Int64
    queued: Bools
    step_row: Int64
    step_from: Int64
    stamp: Int64
    dense: Floats
    counter: Int64


MARK, STEPS, WORK, STATE = 0, 1, 2, 3
"""Places in `Memory.counter`: the last mark, the steps written down, the products of points, the random state."""


@inner_kernel
def _product(points: Points, row: int, dense: Floats) -> float:
    """The inner product of a row and a point that lists all axes."""
    total = 0.0
    for w in range(points.axis.shape[1]):
        total += points.value[row, w] * dense[points.axis[row, w]]
    return total


@inner_kernel
def _add(points: Points, row: int, dense: Floats, times: float) -> None:
    """Add so many times the row to a point that lists all axes."""
    for w in range(points.axis.shape[1]):
        dense[points.axis[row, w]] += times * points.value[row, w]


@inner_kernel
def _length(dense: Floats) -> float:
    """The square of the length of a point that lists all axes."""
    total = 0.0
    for value in dense:
        total += value * value
    return total


@inner_kernel
def _farthest(points: Points, rows: Int64, n: int, dense: Floats, apart: Floats) -> int:
    """The position among the first n rows of the one farthest from a point; `apart` gets all squared distances."""
    own, best = _length(dense), 0
    for i in range(n):
        apart[i] = points.square[rows[i]] - 2 * _product(points, rows[i], dense) + own
        if apart[i] > apart[best]:
            best = i
    return best


@inner_kernel
def _nearest(apart: Floats, n: int, rows: Int64, people: People, seen: Int64, mark: int) -> Int64:
    """Positions of the rows with the smallest distances, the nearest first, until they are rows of k people.

    `seen` int64 (n_people,) is memory for marks.
    """
    reach = people.k
    while True:
        reach = min(reach, n)
        chosen = lowest_positions(apart[:n], reach)
        n_people = 0
        for place in range(reach):
            person = people.person[rows[chosen[place]]]
            if seen[person] != mark:
                seen[person] = mark
                n_people += 1
            if n_people == people.k:
                return chosen[: place + 1]
        if reach == n:
            return chosen
        mark -= 1
        reach *= 2


@kernel
def nearest_clusters(points: Points, rows: Int64, people: People, group: Int64, first: int) -> int:
    """Cluster the rows by MDAV, numbered from `first` on; returns the next free number.

    In turn the row farthest from the mean of those left, and the row farthest from it, take the nearest rows until the
    cluster holds rows of k people. What is left of fewer than 2k people is one cluster. Time O(n^2 width / k).
    """
    left, n = rows.copy(), len(rows)
    rows_of, seen = np.zeros(people.person.max() + 1, np.int64), np.zeros(people.person.max() + 1, np.int64)
    total, origin, apart = np.zeros(points.n_axes), np.empty(points.n_axes), np.empty(n)
    n_people, mark = 0, 0
    for row in rows:
        _add(points, row, total, 1.0)
        n_people += rows_of[people.person[row]] == 0
        rows_of[people.person[row]] += 1
    seed = -1
    while n_people >= 2 * people.k:
        origin[:] = 0.0
        if seed < 0:
            for a in range(points.n_axes):
                origin[a] = total[a] / n
        else:
            _add(points, seed, origin, 1.0)
        chosen = left[_farthest(points, left, n, origin, apart)]
        seed = chosen if seed < 0 else -1
        origin[:] = 0.0
        _add(points, chosen, origin, 1.0)
        _farthest(points, left, n, origin, apart)
        for i in range(n):
            # Below every distance, so that the row itself comes first even where others lie at the same point.
            if left[i] == chosen:
                apart[i] = -1.0
        mark += 64
        for position in _nearest(apart, n, left, people, seen, mark):
            row = left[position]
            group[row] = first
            _add(points, row, total, -1.0)
            rows_of[people.person[row]] -= 1
            n_people -= rows_of[people.person[row]] == 0
            left[position] = -1
        n_left = 0
        for i in range(n):
            if left[i] >= 0:
                left[n_left] = left[i]
                n_left += 1
        n = n_left
        first += 1
    for i in range(n):
        group[left[i]] = first
    return first + 1 if n > 0 else first


@inner_kernel
def _is_only_row(clusters: Clusters, people: People, row: int, place: int, but: int) -> bool:
    """Whether no row of the cluster, apart from `row` and `but`, is of the same person as `row`."""
    if people.alone[row]:
        return True
    other = clusters.first[place]
    while other >= 0:
        if other != row and other != but and people.person[other] == people.person[row]:
            return False
        other = clusters.after[other]
    return True


@inner_kernel
def _put(points: Points, clusters: Clusters, people: People, row: int, to: int) -> None:
    """Move a row into another cluster."""
    before, after, origin = clusters.before[row], clusters.after[row], clusters.group[row]
    clusters.people[origin] -= _is_only_row(clusters, people, row, origin, row)
    if before >= 0:
        clusters.after[before] = after
    else:
        clusters.first[origin] = after
    if after >= 0:
        clusters.before[after] = before
    clusters.size[origin] -= 1
    _add(points, row, clusters.total[origin], -1.0)
    clusters.square[origin] = _length(clusters.total[origin])
    _link(clusters, people, row, to)
    _add(points, row, clusters.total[to], 1.0)
    clusters.square[to] = _length(clusters.total[to])


@inner_kernel
def _link(clusters: Clusters, people: People, row: int, to: int) -> None:
    """Make a row the first one of a cluster's chain, and count it."""
    clusters.people[to] += _is_only_row(clusters, people, row, to, row)
    head = clusters.first[to]
    clusters.after[row], clusters.before[row] = head, -1
    if head >= 0:
        clusters.before[head] = row
    clusters.first[to] = row
    clusters.size[to] += 1
    clusters.group[row] = to


@inner_kernel
def _add_up(points: Points, clusters: Clusters, place: int) -> float:
    """Add up a cluster's points anew, so that rounding does not pile up, and return its squares."""
    clusters.total[place, :] = 0.0
    row, squares = clusters.first[place], 0.0
    while row >= 0:
        _add(points, row, clusters.total[place], 1.0)
        squares += points.square[row]
        row = clusters.after[row]
    clusters.square[place] = _length(clusters.total[place])
    return squares - clusters.square[place] / clusters.size[place] if clusters.size[place] > 0 else 0.0


@inner_kernel
def _may_leave(clusters: Clusters, people: People, row: int) -> bool:
    """Whether a row's cluster holds rows of k people without it."""
    place = clusters.group[row]
    return clusters.people[place] > people.k or not _is_only_row(clusters, people, row, place, row)


@inner_kernel
def _may_change_places(clusters: Clusters, people: People, row: int, other: int) -> bool:
    """Whether both clusters still hold rows of k people after two rows have changed places."""
    if (people.alone[row] and people.alone[other]) or people.person[row] == people.person[other]:
        return True
    here, there = clusters.group[row], clusters.group[other]
    gained = int(_is_only_row(clusters, people, other, here, row))
    lost = int(_is_only_row(clusters, people, row, here, other))
    gained_there = int(_is_only_row(clusters, people, row, there, other))
    lost_there = int(_is_only_row(clusters, people, other, there, row))
    least = min(clusters.people[here] + gained - lost, clusters.people[there] + gained_there - lost_there)
    return least >= people.k


@inner_kernel
def _from_mean(points: Points, clusters: Clusters, row: int, place: int) -> float:
    """The squared distance of a row from a cluster's mean."""
    n = clusters.size[place]
    product = _product(points, row, clusters.total[place])
    return points.square[row] - 2 * product / n + clusters.square[place] / (n * n)


@inner_kernel
def _step(points: Points, near: Int32, people: People, clusters: Clusters, memory: Memory, row: int) -> float:
    """Take the step of a row that saves most: into the cluster of a near row, or in exchange for one of its rows.

    Returns the squares that it saves; the step is written down, and the rows of both clusters are looked at again.
    """
    here, counter = clusters.group[row], memory.counter
    n_here = clusters.size[here]
    own, saved = _product(points, row, clusters.total[here]), 0.0
    leaves = n_here > 1 and _may_leave(clusters, people, row)
    if leaves:
        saved = n_here / (n_here - 1.0) * _from_mean(points, clusters, row, here)
    _add(points, row, memory.dense, 1.0)
    most, to, partner = LEAST_GAIN, -1, -1
    counter[MARK] += 1
    memory.stamp[here] = counter[MARK]
    for neighbour in near[row]:
        there = clusters.group[neighbour]
        if memory.stamp[there] == counter[MARK]:
            continue
        memory.stamp[there] = counter[MARK]
        n_there, product = clusters.size[there], _product(points, row, clusters.total[there])
        counter[WORK] += 1 + 3 * n_there
        if leaves:
            from_mean = points.square[row] - 2 * product / n_there + clusters.square[there] / (n_there * n_there)
            gain = saved - n_there / (n_there + 1.0) * from_mean
            if gain > most:
                most, to, partner = gain, there, -1
        other = clusters.first[there]
        while other >= 0:
            # Both sums change by the difference of the two rows; nothing else of the squares does.
            apart = points.square[row] + points.square[other] - 2 * _product(points, other, memory.dense)
            along_here = _product(points, other, clusters.total[here]) - own
            along_there = _product(points, other, clusters.total[there]) - product
            gain = (2 * along_here + apart) / n_here - (2 * along_there - apart) / n_there
            if gain > most and _may_change_places(clusters, people, row, other):
                most, to, partner = gain, there, other
            other = clusters.after[other]
    _add(points, row, memory.dense, -1.0)
    if to < 0:
        return 0.0
    _write_down(memory, row, here)
    _put(points, clusters, people, row, to)
    if partner >= 0:
        _write_down(memory, partner, to)
        _put(points, clusters, people, partner, here)
    return most


@inner_kernel
def _write_down(memory: Memory, row: int, origin: int) -> None:
    step = memory.counter[STEPS]
    memory.step_row[step], memory.step_from[step] = row, origin
    memory.counter[STEPS] += 1


@inner_kernel
def _take_back(points: Points, clusters: Clusters, people: People, memory: Memory) -> None:
    """Put all rows back where they were when the first step was written down."""
    for step in range(memory.counter[STEPS] - 1, -1, -1):
        if clusters.group[memory.step_row[step]] != memory.step_from[step]:
            _put(points, clusters, people, memory.step_row[step], memory.step_from[step])


@inner_kernel
def _climb_from(
    points: Points, near: Int32, people: People, clusters: Clusters, memory: Memory, n_queued: int, most_work: int
) -> float:
    """Take steps of the queued rows, and of those that they touch, until none saves anything; the squares saved.

    It also ends where there is no room to write more steps down, or where the work reaches its limit.
    """
    saved, at, room = 0.0, 0, len(memory.queue)
    while n_queued > 0:
        row = memory.queue[at]
        at = (at + 1) % room
        n_queued -= 1
        memory.queued[row] = False
        if memory.counter[STEPS] + 2 > len(memory.step_row) or memory.counter[WORK] > most_work:
            continue
        here = clusters.group[row]
        gain = _step(points, near, people, clusters, memory, row)
        if gain == 0.0:
            continue
        saved += gain
        for place in (here, clusters.group[row]):
            other = clusters.first[place]
            while other >= 0:
                if not memory.queued[other]:
                    memory.queued[other] = True
                    memory.queue[(at + n_queued) % room] = other
                    n_queued += 1
                other = clusters.after[other]
    return saved


@inner_kernel
def _drawn(memory: Memory, n: int) -> int:
    """A random number from 0 to n - 1."""
    memory.counter[STATE] = next_state(memory.counter[STATE])
    return (memory.counter[STATE] >> 3) % n


@inner_kernel
def _dissolved(
    points: Points, near: Int32, people: People, clusters: Clusters, memory: Memory, place: int, most_work: int
) -> float:
    """Give the rows of a cluster to those of their near rows; the squares saved, or 0 where that is taken back."""
    counter, before, cost, n_queued = memory.counter, _add_up(points, clusters, place), 0.0, 0
    counter[STEPS] = 0
    while clusters.first[place] >= 0:
        row, least, to = clusters.first[place], np.inf, -1
        for neighbour in near[row]:
            there = clusters.group[neighbour]
            if there != place:
                n = clusters.size[there]
                grown = n / (n + 1.0) * _from_mean(points, clusters, row, there)
                counter[WORK] += 1
                if grown < least:
                    least, to = grown, there
        if to < 0:
            break
        cost += least
        _write_down(memory, row, place)
        _put(points, clusters, people, row, to)
    is_empty = clusters.first[place] < 0
    if is_empty and cost < CLOSER_LOOK * before:
        for step in range(counter[STEPS]):
            other = clusters.first[clusters.group[memory.step_row[step]]]
            while other >= 0:
                if not memory.queued[other]:
                    memory.queued[other] = True
                    memory.queue[n_queued] = other
                    n_queued += 1
                other = clusters.after[other]
        cost -= _climb_from(points, near, people, clusters, memory, n_queued, most_work)
    if is_empty and cost < before - LEAST_GAIN:
        clusters.free[clusters.n_free[0]] = place
        clusters.n_free[0] += 1
        return before - cost
    _take_back(points, clusters, people, memory)
    _add_up(points, clusters, place)
    return 0.0


@inner_kernel
def _formed(points: Points, pool: Int64, people: People, memory: Memory, label: Int64) -> int:
    """Number some rows by new clusters that begin at random rows, each of k people; how many there are.

    `pool` int64 (m,) are the rows, and `label` (m,) gets the numbers. What is left is one cluster, or goes to the
    nearest one, row by row.
    """
    m, dense = len(pool), memory.dense
    label[:m] = -1
    n_left, formed = m, 0
    while True:
        seed, place = -1, _drawn(memory, n_left)
        for i in range(m):
            if label[i] < 0:
                if place == 0:
                    seed = i
                place -= 1
        _add(points, pool[seed], dense, 1.0)
        if _drawn(memory, 3) > 0:
            # A cluster that begins at the rim leaves no row behind that is far from all others.
            farthest, most = seed, -1.0
            for i in range(m):
                if label[i] < 0:
                    apart = points.square[pool[i]] - 2 * _product(points, pool[i], dense)
                    if apart > most or most == -1.0:
                        farthest, most = i, apart
            _add(points, pool[seed], dense, -1.0)
            seed = farthest
            _add(points, pool[seed], dense, 1.0)
        label[seed] = formed
        count, n_people = 1, 1
        while n_people < people.k and count < n_left:
            best, least = -1, np.inf
            for i in range(m):
                if label[i] < 0:
                    apart = points.square[pool[i]] - 2 * _product(points, pool[i], dense) / count
                    if apart < least:
                        best, least = i, apart
            n_people += _is_new(pool, label, people, formed, best)
            label[best] = formed
            _add(points, pool[best], dense, 1.0)
            count += 1
        for i in range(m):
            if label[i] == formed:
                _add(points, pool[i], dense, -1.0)
        n_left -= count
        formed += 1
        n_people = 0
        for i in range(m):
            if label[i] < 0:
                n_people += _is_new(pool, label, people, -1, i)
        if n_people < 2 * people.k:
            break
    if n_left > 0 and n_people >= people.k and _drawn(memory, 2) == 0:
        for i in range(m):
            if label[i] < 0:
                label[i] = formed
        return formed + 1
    _give_to_nearest(points, pool, memory, label, formed)
    return formed


@inner_kernel
def _is_new(pool: Int64, label: Int64, people: People, number: int, position: int) -> bool:
    """Whether no row before this one in the pool (in the whole pool for a number from 0 on) with the label `number` is
    of the same person.
    """
    if people.alone[pool[position]]:
        return True
    for i in range(position if number < 0 else len(pool)):
        if i != position and label[i] == number and people.person[pool[i]] == people.person[pool[position]]:
            return False
    return True


@inner_kernel
def _give_to_nearest(points: Points, pool: Int64, memory: Memory, label: Int64, formed: int) -> None:
    """Number each row without a label by the nearest mean of the clusters 0 to formed - 1."""
    m, dense = len(pool), memory.dense
    least, to = np.empty(m), np.empty(m, np.int64)
    least[:] = np.inf
    for number in range(formed):
        count = 0
        for i in range(m):
            if label[i] == number:
                _add(points, pool[i], dense, 1.0)
                count += 1
        own = _length(dense) / (count * count)
        for i in range(m):
            if label[i] < 0:
                apart = own - 2 * _product(points, pool[i], dense) / count
                if apart < least[i]:
                    least[i], to[i] = apart, number
        for i in range(m):
            if label[i] == number:
                _add(points, pool[i], dense, -1.0)
    for i in range(m):
        if label[i] < 0:
            label[i] = to[i]


@inner_kernel
def _formed_anew(
    points: Points, near: Int32, people: People, clusters: Clusters, memory: Memory, row: int, most_work: int
) -> float:
    """Form the clusters around a row anew; the squares saved, or 0 where that is taken back."""
    counter, wanted = memory.counter, 1 + _drawn(memory, MOST_FORMED)
    chosen, n_chosen = np.empty(wanted, np.int64), 0
    counter[MARK] += 1
    for turn in range(near.shape[1] + 1):
        place = clusters.group[row if turn == 0 else near[row, turn - 1]]
        if n_chosen < wanted and memory.stamp[place] != counter[MARK]:
            memory.stamp[place] = counter[MARK]
            chosen[n_chosen] = place
            n_chosen += 1
    m, before = 0, 0.0
    for place in chosen[:n_chosen]:
        before += _add_up(points, clusters, place)
        m += clusters.size[place]
    pool, label, at = np.empty(m, np.int64), np.empty(m, np.int64), 0
    for place in chosen[:n_chosen]:
        other = clusters.first[place]
        while other >= 0:
            pool[at] = other
            at += 1
            other = clusters.after[other]
    formed = _formed(points, pool, people, memory, label)
    counter[WORK] += m * m
    n_new = max(formed - n_chosen, 0)
    if n_new > clusters.n_free[0]:
        return 0.0
    places = np.empty(max(formed, n_chosen), np.int64)
    for number in range(len(places)):
        free = clusters.n_free[0] - 1 - (number - n_chosen)
        places[number] = chosen[number] if number < n_chosen else clusters.free[free]
    clusters.n_free[0] -= n_new
    counter[STEPS] = 0
    for i in range(m):
        if clusters.group[pool[i]] != places[label[i]]:
            _write_down(memory, pool[i], clusters.group[pool[i]])
            _put(points, clusters, people, pool[i], places[label[i]])
        memory.queue[i] = pool[i]
        memory.queued[pool[i]] = True
    after = 0.0
    for place in places:
        after += _add_up(points, clusters, int(place))
    after -= _climb_from(points, near, people, clusters, memory, m, most_work)
    is_better = after < before - LEAST_GAIN
    if not is_better:
        _take_back(points, clusters, people, memory)
        for place in chosen[:n_chosen]:
            _add_up(points, clusters, place)
    for place in places:
        if clusters.size[place] == 0:
            clusters.free[clusters.n_free[0]] = place
            clusters.n_free[0] += 1
    return before - after if is_better else 0.0


@kernel
def climb(points: Points, near: Int32, people: People, group: Int64, seed: int, effort: int) -> float:
    """Change clusters, in place, as long as that lowers the squares within them; returns the squares saved.

    `group` numbers them from 0 on; each keeps rows of k people. `near` int32 (n_rows, n_near) lists rows near each one.
    A row moves, or changes places with another, wherever that saves squares. Then, until the work reaches `effort`
    (products of points), a cluster is dissolved or a few neighbours are formed anew at random, the rows around them
    move again, and what saves nothing is taken back. Ends numbered without gaps.
    """
    n, k = len(group), people.k
    n_places = max(n // k, group.max() + 1) + 1
    clusters = Clusters(
        group,
        np.zeros((n_places, points.n_axes)),
        np.zeros(n_places),
        np.zeros(n_places, np.int64),
        np.zeros(n_places, np.int64),
        filled_with(n_places, -1),
        filled_with(n, -1),
        filled_with(n, -1),
        np.empty(n_places, np.int64),
        np.zeros(1, np.int64),
    )
    for row in range(n):
        _link(clusters, people, row, group[row])
    for place in range(n_places):
        _add_up(points, clusters, place)
        if clusters.size[place] == 0:
            clusters.free[clusters.n_free[0]] = place
            clusters.n_free[0] += 1
    memory = Memory(
        np.empty(n, np.int64),
        np.zeros(n, np.bool_),
        np.empty(16 * n + 16, np.int64),
        np.empty(16 * n + 16, np.int64),
        np.zeros(n_places, np.int64),
        np.zeros(points.n_axes),
        np.zeros(4, np.int64),
    )
    memory.counter[STATE] = seed
    saved, turn = 0.0, 0
    while True:
        # Steps that are taken for good need not be written down; where there is no more room for them, it goes on.
        memory.counter[STEPS] = 0
        for row in range(n):
            memory.queue[row], memory.queued[row] = row, True
        saved += _climb_from(points, near, people, clusters, memory, n, 2**62)
        if memory.counter[STEPS] + 2 <= len(memory.step_row):
            break
    memory.counter[WORK] = 0
    while memory.counter[WORK] < effort:
        memory.counter[WORK] += 1
        row = _drawn(memory, n)
        # Every cluster once in turn, then at random: what MDAV leaves for the end are often rows far from each other.
        place = turn if turn < n_places else clusters.group[row]
        if turn < n_places or turn % DISSOLVED == 0:
            if clusters.size[place] > 0:
                saved += _dissolved(points, near, people, clusters, memory, place, effort)
        else:
            saved += _formed_anew(points, near, people, clusters, memory, row, effort)
        turn += 1
    number = filled_with(n_places, -1)
    n_numbers = 0
    for row in range(n):
        if number[group[row]] < 0:
            number[group[row]] = n_numbers
            n_numbers += 1
        group[row] = number[group[row]]
    return saved


@kernel
def runs_of_least_squares(values: Floats, k: int) -> Int64:
    """The clusters of at least k numbers with the least squares: the cluster of every one, int64 (n,).

    `values` float (n,) ascend. The best clusters are runs of k to 2k - 1 numbers, so that the shortest way through the
    places where a run may end gives them, in time O(n k).
    """
    n = len(values)
    total, squares = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        total[i + 1] = total[i] + values[i]
        squares[i + 1] = squares[i] + values[i] * values[i]
    least, begin = np.empty(n + 1), np.zeros(n + 1, np.int64)
    least[:] = np.inf
    least[0] = 0.0
    for end in range(k, n + 1):
        for start in range(max(end - 2 * k + 1, 0), end - k + 1):
            within = squares[end] - squares[start] - (total[end] - total[start]) ** 2 / (end - start)
            if least[start] + within < least[end]:
                least[end], begin[end] = least[start] + within, start
    group, end, number = np.empty(n, np.int64), n, 0
    while end > 0:
        start = int(begin[end])
        group[start:end] = number
        end, number = start, number + 1
    return group
