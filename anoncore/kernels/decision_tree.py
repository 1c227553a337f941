"""Decision trees on integer codes: grown by entropy to leaves of a few rows, pruned by cost complexity, read.

The trees are those of scikit-learn's `DecisionTreeClassifier(criterion="entropy", min_samples_leaf=..., ccp_alpha=...,
random_state=...)` with the codes as features, node by node. scikit-learn draws the order in which a node looks at its
features, so which of several equally good splits it takes depends on its random numbers and on how its sums are
rounded. Both are repeated here. Splits are first compared by sums of x log2 x, which change by table look-ups when a
row goes from the right to the left; only where two are equal up to rounding, scikit-learn's own sequence of operations
decides.

- `keys` int32 (n_features, n_rows): code * 2^bits + class of each row, so that one load brings both.
- `extents` int32 (n_features, 2): the lowest and the highest code of each feature.
- `rows` int32 (n_training,): the rows to learn from; then in the order of the tree, where a node's rows are a slice.
- `products` float64 (at least n_training + 1,): x log2 x for every number of rows x.
- `nodes` int32 (n_nodes, 6): FEATURE, BORDER, LEFT, RIGHT, BEGIN and END of each node. Codes up to BORDER go to LEFT; a
  leaf has -1 there. BEGIN to END is the slice of its rows. Parents stand before their children.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import sort_in_place
from anoncore.kernels.xorshift import next_state

FEATURE, BORDER, LEFT, RIGHT, BEGIN, END = range(6)
LOG_2 = float(np.log(2.0))
PURE = float(np.finfo(np.float64).eps)
"""Entropy up to which a node counts as pure."""
ROUNDING = 1e-9
"""Difference of two sums of x log2 x that may come from rounding, as a share of the node's own x log2 x."""
FEW_ROWS = 40
"""Rows up to which keys are sorted by comparing them, which is fastest for few."""


@inner_kernel
def _entropy(counts: Int64, total: int) -> float:
    """Entropy in bits, rounded as scikit-learn rounds it."""
    entropy = 0.0
    for count in counts:
        if count > 0:
            share = count / total
            entropy -= share * (np.log(share) / LOG_2)
    return entropy


@inner_kernel
def _goodness(left: Int64, right: Int64, n_left: int, n_right: int) -> float:
    """What scikit-learn compares splits by: minus the entropies of both sides, weighted with their rows."""
    return -n_right * _entropy(right, n_right) - n_left * _entropy(left, n_left)


@inner_kernel
def _sort_by_code(keys: Int32, n: int, low: int, high: int, bits: int, starts: Int32, ordered: Int32) -> None:
    """Bring the first n keys, of codes from `low` to `high`, into the order of their codes by counting these."""
    starts[: high - low + 2] = 0
    for i in range(n):
        starts[(keys[i] >> bits) - low + 1] += 1
    for code in range(high - low + 1):
        starts[code + 1] += starts[code]
    for i in range(n):
        code = (keys[i] >> bits) - low
        ordered[starts[code]] = keys[i]
        starts[code] += 1
    for i in range(n):
        keys[i] = ordered[i]


@inner_kernel
def _occupied(table: Int32, low: int, high: int, bits: int) -> tuple[int, int]:
    """The lowest and the highest code with rows, where `table` counts the keys of codes from `low` to `high`."""
    first, last = 0, ((high - low + 1) << bits) - 1
    while table[first] == 0:
        first += 1
    while table[last] == 0:
        last -= 1
    return low + (first >> bits), low + (last >> bits)


@inner_kernel
def _consider(
    feature: int,
    border: int,
    sides: Int64,
    n_left: int,
    n_right: int,
    sums: float,
    tolerance: float,
    best: Int64,
    goodness: Floats,
    best_sides: Int64,
) -> None:
    """Take this split as the best one of its node if it is better than the best so far.

    `sides` int64 (2, n_classes) are the rows of each class on both sides, `sums` their x log2 x less that of both
    totals. `best` is feature, border and rows on the left, `goodness` the sums of the best split and its exact
    goodness, NaN until that is asked for.
    """
    if sums <= goodness[0] + tolerance:
        same = best[2] == n_left
        for label in range(sides.shape[1]):
            same &= sides[0, label] == best_sides[0, label]
        if same:
            return
        if np.isnan(goodness[1]):
            goodness[1] = _goodness(best_sides[0], best_sides[1], best[2], n_left + n_right - best[2])
        exact = _goodness(sides[0], sides[1], n_left, n_right)
        if exact <= goodness[1]:
            return
        goodness[1] = exact
    else:
        goodness[1] = np.nan
    goodness[0] = sums
    best[0], best[1], best[2] = feature, border, n_left
    for label in range(sides.shape[1]):
        best_sides[0, label] = sides[0, label]
        best_sides[1, label] = sides[1, label]


@inner_kernel
def _sorted_splits(
    feature: int,
    keys: Int32,
    n: int,
    bits: int,
    smallest_leaf: int,
    products: Floats,
    sides: Int64,
    best: Int64,
    goodness: Floats,
    best_sides: Int64,
) -> None:
    """Consider all splits of a node's n rows by one feature, with keys in ascending order of their codes."""
    n_classes = sides.shape[1]
    tolerance = ROUNDING * products[n]
    inside = 0.0
    for label in range(n_classes):
        inside += products[sides[1, label]]
    before = keys[0] >> bits
    for n_left in range(n - smallest_leaf + 1):
        code = keys[n_left] >> bits
        if code != before:
            if n_left >= smallest_leaf:
                sums = inside - products[n_left] - products[n - n_left]
                if sums >= goodness[0] - tolerance:
                    border = (before + code) // 2
                    _consider(feature, border, sides, n_left, n - n_left, sums, tolerance, best, goodness, best_sides)
            before = code
        label = keys[n_left] & (1 << bits) - 1
        left, right = sides[0, label], sides[1, label]
        inside += products[left + 1] - products[left] + products[right - 1] - products[right]
        sides[0, label] = left + 1
        sides[1, label] = right - 1


@inner_kernel
def _counted_splits(
    feature: int,
    table: Int32,
    low: int,
    high: int,
    n: int,
    bits: int,
    smallest_leaf: int,
    products: Floats,
    sides: Int64,
    best: Int64,
    goodness: Floats,
    best_sides: Int64,
) -> None:
    """Consider the same splits, where `table` counts the rows of each key from code `low` on; set it to zeros."""
    n_classes = sides.shape[1]
    tolerance = ROUNDING * products[n]
    inside = 0.0
    for label in range(n_classes):
        inside += products[sides[1, label]]
    before, n_left = low, 0
    for code in range(low, high + 1):
        first = (code - low) << bits
        here = 0
        for label in range(n_classes):
            here += table[first + label]
        if here == 0:
            continue
        if n_left >= smallest_leaf and n - n_left >= smallest_leaf:
            sums = inside - products[n_left] - products[n - n_left]
            if sums >= goodness[0] - tolerance:
                border = (before + code) // 2
                _consider(feature, border, sides, n_left, n - n_left, sums, tolerance, best, goodness, best_sides)
        before = code
        n_left += here
        for label in range(n_classes):
            count = table[first + label]
            if count > 0:
                left, right = sides[0, label], sides[1, label]
                inside += products[left + count] - products[left] + products[right - count] - products[right]
                sides[0, label] = left + count
                sides[1, label] = right - count
                table[first + label] = 0


@inner_kernel
def _split(
    keys: Int32,
    rows: Int32,
    begin: int,
    end: int,
    bits: int,
    totals: Int64,
    smallest_leaf: int,
    products: Floats,
    features: Int64,
    constant: Int64,
    n_known: int,
    state: int,
    best: Int64,
    goodness: Floats,
    best_sides: Int64,
    sides: Int64,
    extent: Int32,
    inside: Int32,
    ordered: Int32,
    starts: Int32,
    table: Int32,
) -> tuple[int, int]:
    """The best split of a node goes into `best`; returned are its number of constant features and the next state.

    Features are drawn without replacement, as scikit-learn draws them: `features` holds those known to be constant
    first, then those that this node reveals as constant, then those to draw, at the end those that have been drawn.
    """
    n = end - begin
    goodness[0] = -np.inf
    best[0] = -1
    n_drawn_constant, n_new, undrawn = 0, 0, len(features)
    while undrawn > n_known + n_new:
        state = next_state(state)
        drawn = n_drawn_constant + (state & 0x7FFFFFFF) % (undrawn - n_new - n_drawn_constant)
        if drawn < n_known:
            features[n_drawn_constant], features[drawn] = features[drawn], features[n_drawn_constant]
            n_drawn_constant += 1
            continue
        drawn += n_new
        feature = features[drawn]
        low, high = extent[feature, 0], extent[feature, 1]
        is_counted = (high - low + 1) << bits <= 4 * n
        if is_counted:
            for i in range(begin, end):
                table[keys[feature, rows[i]] - (low << bits)] += 1
            low, high = _occupied(table, low, high, bits)
        else:
            low = high = keys[feature, rows[begin]]
            for i in range(n):
                key = keys[feature, rows[begin + i]]
                inside[i] = key
                low, high = min(low, key), max(high, key)
            low, high = low >> bits, high >> bits
        shift = low - extent[feature, 0]
        extent[feature, 0], extent[feature, 1] = low, high
        if low == high:
            if is_counted:
                for place in range(shift << bits, (shift + 1) << bits):
                    table[place] = 0
            features[drawn], features[n_known + n_new] = features[n_known + n_new], features[drawn]
            n_new += 1
            continue
        undrawn -= 1
        features[undrawn], features[drawn] = features[drawn], features[undrawn]
        for label in range(len(totals)):
            sides[0, label] = 0
            sides[1, label] = totals[label]
        if is_counted:
            _counted_splits(
                feature,
                table[shift << bits :],
                low,
                high,
                n,
                bits,
                smallest_leaf,
                products,
                sides,
                best,
                goodness,
                best_sides,
            )
        else:
            if n > FEW_ROWS and high - low <= 4 * n:
                _sort_by_code(inside, n, low, high, bits, starts, ordered)
            else:
                sort_in_place(inside[:n])
            _sorted_splits(feature, inside, n, bits, smallest_leaf, products, sides, best, goodness, best_sides)
    for place in range(n_known):
        features[place] = constant[place]
    for place in range(n_known, n_known + n_new):
        constant[place] = features[place]
    return n_known + n_new, state


@kernel
def grow(
    keys: Int32,
    rows: Int32,
    n_classes: int,
    bits: int,
    extents: Int32,
    smallest_leaf: int,
    products: Floats,
    state: int,
) -> tuple[Int32, Floats]:
    """Grow a tree from `rows`, which are reordered: its nodes, and the entropy of each, float64 (n_nodes,).

    `state` is the first state of the random numbers.
    """
    n = len(rows)
    n_features = len(keys)
    most = max(1, 2 * (n // smallest_leaf))
    nodes = np.empty((most, 6), np.int32)
    impurity = np.empty(most)
    features, constant = np.empty(n_features, np.int64), np.empty(n_features, np.int64)
    best, goodness = np.empty(3, np.int64), np.empty(2)
    best_sides, sides = np.empty((2, n_classes), np.int64), np.empty((2, n_classes), np.int64)
    inside, ordered = np.empty(n, np.int32), np.empty(n, np.int32)
    starts, table = np.empty(4 * n + 2, np.int32), np.zeros(4 * n, np.int32)
    extent = np.empty((n_features, 2), np.int32)
    extent_of = np.empty((most, n_features, 2), np.int32)
    for feature in range(n_features):
        features[feature] = feature
        extent_of[0, feature, 0], extent_of[0, feature, 1] = extents[feature, 0], extents[feature, 1]
    totals = np.empty(n_classes, np.int64)
    # What waits: begin, end, parent (-1 for none), whether it is the left child, number of constant features.
    waiting = np.empty((most, 5), np.int64)
    entropy_of = np.empty(most)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3], waiting[0, 4] = 0, n, -1, 0, 0
    entropy_of[0] = np.nan
    n_waiting, n_nodes = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        begin, end, parent = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
        is_left, n_constant = waiting[n_waiting, 3], waiting[n_waiting, 4]
        entropy = entropy_of[n_waiting]
        for feature in range(n_features):
            extent[feature, 0], extent[feature, 1] = extent_of[n_waiting, feature, 0], extent_of[n_waiting, feature, 1]
        totals[:] = 0
        for i in range(begin, end):
            totals[keys[0, rows[i]] & (1 << bits) - 1] += 1
        if parent < 0:
            entropy = _entropy(totals, n)
        node = n_nodes
        n_nodes += 1
        nodes[node, FEATURE], nodes[node, BORDER], nodes[node, LEFT], nodes[node, RIGHT] = -1, -1, -1, -1
        nodes[node, BEGIN], nodes[node, END] = begin, end
        impurity[node] = entropy
        if parent >= 0:
            nodes[parent, LEFT if is_left else RIGHT] = node
        if end - begin < 2 * smallest_leaf or entropy <= PURE:
            continue
        n_constant, state = _split(
            keys,
            rows,
            begin,
            end,
            bits,
            totals,
            smallest_leaf,
            products,
            features,
            constant,
            n_constant,
            state,
            best,
            goodness,
            best_sides,
            sides,
            extent,
            inside,
            ordered,
            starts,
            table,
        )
        feature, border = best[0], best[1]
        if feature < 0:
            continue
        nodes[node, FEATURE], nodes[node, BORDER] = feature, border
        middle, last = begin, end
        limit = (border + 1) << bits
        while middle < last:
            if keys[feature, rows[middle]] < limit:
                middle += 1
            else:
                last -= 1
                rows[middle], rows[last] = rows[last], rows[middle]
        # The left child is pushed last, so that it is next.
        for is_left in range(2):
            first, last = (begin, middle) if is_left else (middle, end)
            waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = first, last, node
            waiting[n_waiting, 3], waiting[n_waiting, 4] = is_left, n_constant
            entropy_of[n_waiting] = _entropy(best_sides[1 - is_left], last - first)
            for one in range(n_features):
                extent_of[n_waiting, one, 0], extent_of[n_waiting, one, 1] = extent[one, 0], extent[one, 1]
            n_waiting += 1
    return nodes[:n_nodes], impurity[:n_nodes]


@inner_kernel
def _set_weakness(weakest_of: Floats, place: int, value: float) -> None:
    """Change a leaf of a tree of minima, and the minima above it."""
    weakest_of[place] = value
    while place > 1:
        place //= 2
        least = min(weakest_of[2 * place], weakest_of[2 * place + 1])
        if weakest_of[place] == least:
            return
        weakest_of[place] = least


@kernel
def prune(nodes: Int32, impurity: Floats, cost: float) -> Bools:
    """Turn nodes into leaves, the weakest link first, while what is below saves at most `cost` (bits per row) a leaf.

    Returned is which nodes are the leaves of the pruned tree, bool (n_nodes,). The nodes below a leaf stay in `nodes`,
    but no way leads to them.
    """
    n_nodes = len(nodes)
    n = nodes[0, END]
    own, below, leaves = np.empty(n_nodes), np.zeros(n_nodes), np.zeros(n_nodes, np.int64)
    parent, is_leaf = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.bool_)
    parent[0] = -1
    for node in range(n_nodes):
        is_leaf[node] = nodes[node, LEFT] < 0
        own[node] = (nodes[node, END] - nodes[node, BEGIN]) * impurity[node] / n
        if not is_leaf[node]:
            parent[nodes[node, LEFT]] = node
            parent[nodes[node, RIGHT]] = node
    for leaf in range(n_nodes):
        if is_leaf[leaf]:
            below[leaf] = own[leaf]
            above = parent[leaf]
            while above >= 0:
                below[above] += own[leaf]
                leaves[above] += 1
                above = parent[above]
    n_places = 1
    while n_places < n_nodes:
        n_places *= 2
    weakest_of = np.empty(2 * n_places)
    weakest_of[:] = np.inf
    for node in range(n_nodes):
        if not is_leaf[node]:
            weakest_of[n_places + node] = (own[node] - below[node]) / (leaves[node] - 1)
    for place in range(n_places - 1, 0, -1):
        weakest_of[place] = min(weakest_of[2 * place], weakest_of[2 * place + 1])
    while weakest_of[1] <= cost:
        place = 1
        while place < n_places:
            place *= 2
            if weakest_of[place + 1] < weakest_of[place]:
                place += 1
        weakest = place - n_places
        # The nodes below a node follow it one by one, as far as its slice of the rows reaches.
        node = weakest
        while node < n_nodes and nodes[node, BEGIN] < nodes[weakest, END]:
            is_leaf[node] = False
            if weakest_of[n_places + node] < np.inf:
                _set_weakness(weakest_of, n_places + node, np.inf)
            node += 1
        is_leaf[weakest] = True
        nodes[weakest, LEFT] = nodes[weakest, RIGHT] = -1
        fewer, more = leaves[weakest] - 1, own[weakest] - below[weakest]
        above = parent[weakest]
        while above >= 0:
            leaves[above] -= fewer
            below[above] += more
            _set_weakness(weakest_of, n_places + above, (own[above] - below[above]) / (leaves[above] - 1))
            above = parent[above]
    return is_leaf


@kernel
def leaves_of(nodes: Int32, features: Int32) -> Int32:
    """The leaf of a pruned tree into which each row of codes, int32 (n, n_features), falls: its node, int32 (n,)."""
    leaf = np.empty(len(features), np.int32)
    for row in range(len(features)):
        node = 0
        while nodes[node, LEFT] >= 0:
            goes_left = features[row, nodes[node, FEATURE]] <= nodes[node, BORDER]
            node = nodes[node, LEFT] if goes_left else nodes[node, RIGHT]
        leaf[row] = node
    return leaf
