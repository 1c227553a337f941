"""Facts by their definition: all ways to deal the secrets of a small table, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np


@dataclass
class PlainFact:
    """`least` to `most` of `people` have `value`; `text` says so."""

    text: str
    people: set
    value: str
    least: int
    most: int


class ContradictionError(Exception):
    """No world is left."""


def worlds_by_value(groups, secrets, facts):
    """By value: the worlds of the whole table that the facts leave, bool (n_worlds, n); and who has x or lacks x in
    each of them by what is known of single people.

    `groups`: the rows of each group.
    """
    must = [None] * len(secrets)
    cannot = [set() for _ in secrets]
    counted = []
    for fact in facts:
        if fact.least > fact.most:
            raise ContradictionError
        if fact.most == 0:
            for row in fact.people:
                cannot[row].add(fact.value)
        elif fact.least == len(fact.people):
            for row in fact.people:
                if must[row] not in (None, fact.value):
                    raise ContradictionError
                must[row] = fact.value
        else:
            counted.append(fact)
    while True:
        possible = [set() for _ in secrets]
        for rows in groups:
            for dealt in set(permutations([secrets[row] for row in rows])):
                if all(must[r] in (None, s) and s not in cannot[r] for r, s in zip(rows, dealt, strict=True)):
                    for row, secret in zip(rows, dealt, strict=True):
                        possible[row].add(secret)
        if not all(possible):
            raise ContradictionError
        found = {x: _binary(groups, secrets, possible, x) for x in set(secrets) | {fact.value for fact in facts}}
        news = False
        for fact in counted:
            kept = found[fact.value][_holds(found[fact.value], fact)]
            if len(kept) == 0:
                raise ContradictionError
            for row in range(len(secrets)):
                if kept[:, row].all() and possible[row] != {fact.value}:
                    must[row], news = fact.value, True
                if not kept[:, row].any() and fact.value in possible[row]:
                    cannot[row].add(fact.value)
                    news = True
        if not news:
            break
    for fact in counted:
        found[fact.value] = found[fact.value][_holds(found[fact.value], fact)]
        if len(found[fact.value]) == 0:
            raise ContradictionError
    return {
        x: (worlds, [own == {x} for own in possible], [x not in own for own in possible]) for x, worlds in found.items()
    }


def _binary(groups, secrets, possible, x):
    """All ways in which as many people of each group as publish x have it, and as single people can and must."""
    choices = []
    for rows in groups:
        n = sum(secrets[row] == x for row in rows)
        fitting = []
        for has in product((False, True), repeat=len(rows)):
            fits = sum(has) == n and all(
                (x in possible[row] if own else possible[row] != {x}) for row, own in zip(rows, has, strict=True)
            )
            if fits:
                fitting.append(has)
        choices.append(fitting)
    worlds = np.zeros((int(np.prod([len(one) for one in choices])), len(secrets)), dtype=bool)
    for number, world in enumerate(product(*choices)):
        for rows, has in zip(groups, world, strict=True):
            worlds[number, list(rows)] = has
    return worlds


def _holds(worlds, fact):
    count = worlds[:, sorted(fact.people)].sum(axis=1)
    return (count >= fact.least) & (count <= fact.most)


def believed(worlds, has, lacks, groups, f):
    """p(t:x) of every row, the mean over the worlds by their weights; those that are decided weigh nothing."""
    f = np.array(f)
    factor = np.where(worlds, f, 1 - f)
    factor[:, np.array(has) | np.array(lacks)] = 1.0
    weight = np.ones(len(worlds))
    for rows in groups:
        own = factor[:, list(rows)].prod(axis=1)
        weight = weight * (own if own.any() else 1.0)
    if not weight.any():
        weight = np.ones(len(worlds))
    return weight @ worlds / weight.sum()


def one_step(worlds, has, lacks, groups, signatures, shares, fixed):
    """Expected rows with x of each signature / its rows, and p(t:x). `fixed`: the share of each row of a rare one."""
    f = [shares.get(signature, rare) for signature, rare in zip(signatures, fixed, strict=True)]
    p = believed(worlds, has, lacks, groups, f)
    return {
        one: sum(p[row] for row, own in enumerate(signatures) if own == one) / signatures.count(one) for one in shares
    }, p
