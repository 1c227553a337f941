"""Who of a group has which of its published secrets: assignments that a model finds likely.

People stand by group: those of group g are at the places `starts[g]:starts[g + 1]` of int64 (n_groups + 1,).

- `feature` int32 (n_people, n_attributes): what is known of each person, numbered over all attributes.
- `log_chance` float64 (n_features, n_classes): the logarithm of the probability of each feature among the people whose
  secret is of a class.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def swap_secrets(
    feature: Int32,
    starts: Int64,
    secret: Int64,
    class_of: Int32,
    log_chance: Floats,
    partner: Floats,
    chance: Floats,
    counts: Floats,
) -> None:
    """Offer every person once to swap secrets with another one of their group; one step of Gibbs sampling each.

    Two people swap with probability rho / (1 + rho), where rho is the probability of what is known of both after the
    swap over that before. `secret` int64 (n_people,) is the number of the secret at each place, which is changed, and
    `class_of` int32 (n_secrets,) the class of each secret. `partner` and `chance` float64 (n_people,) are random
    numbers from 0 to 1. `counts` float64 (n_features, n_classes) are the people of each class who have each feature;
    they follow the swaps.
    """
    for g in range(len(starts) - 1):
        begin, size = starts[g], starts[g + 1] - starts[g]
        if size < 2:
            continue
        for i in range(begin, begin + size):
            j = begin + int(partner[i] * (size - 1))
            if j >= i:
                j += 1
            of_i, of_j = class_of[secret[i]], class_of[secret[j]]
            gain = 0.0
            if of_i != of_j:
                for a in range(feature.shape[1]):
                    at_i, at_j = feature[i, a], feature[j, a]
                    gain += log_chance[at_i, of_j] - log_chance[at_i, of_i]
                    gain += log_chance[at_j, of_i] - log_chance[at_j, of_j]
            if chance[i] * (1.0 + exp(-gain)) < 1.0:
                secret[i], secret[j] = secret[j], secret[i]
                if of_i != of_j:
                    for a in range(feature.shape[1]):
                        at_i, at_j = feature[i, a], feature[j, a]
                        counts[at_i, of_i] -= 1.0
                        counts[at_i, of_j] += 1.0
                        counts[at_j, of_j] -= 1.0
                        counts[at_j, of_i] += 1.0


@kernel
def weigh_entries(
    feature: Int32,
    starts: Int64,
    entry_start: Int64,
    entry_count: Floats,
    entry_class: Int32,
    log_chance: Floats,
    log_region: Floats,
    first: Int64,
    belief: Floats,
) -> None:
    """What the model alone says of every person, whose group publishes regions that hold what is known of them.

    Of the `entry_count` float64 people of a group who have a value, of the class `entry_class` int32, each person has
    it as likely as that class has what is known of the person among all that the group's regions allow. `log_region`
    float64 (n_groups, n_classes) is the logarithm of the probability of these regions. The values of group g are
    `entry_start[g]:entry_start[g + 1]`; the beliefs of each person in them are written into `belief` float64 from
    `first` int64 (n_people,) on, and add up to 1.
    """
    for g in range(len(starts) - 1):
        n_entries = entry_start[g + 1] - entry_start[g]
        score = np.empty(n_entries)
        for i in range(starts[g], starts[g + 1]):
            highest = -np.inf
            for e in range(n_entries):
                of_entry = entry_class[entry_start[g] + e]
                score[e] = log(entry_count[entry_start[g] + e]) - log_region[g, of_entry]
                for a in range(feature.shape[1]):
                    score[e] += log_chance[feature[i, a], of_entry]
                highest = max(highest, score[e])
            total = 0.0
            for e in range(n_entries):
                score[e] = exp(score[e] - highest)
                total += score[e]
            for e in range(n_entries):
                belief[first[i] + e] = score[e] / total
