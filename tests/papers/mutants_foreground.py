"""Broken versions of the attack by foreground knowledge, and the statements that each must break."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from anoncore import InfeasibleError, Microdata, attacks
from anoncore.algorithms import Algorithm, Anatomy
from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground import adversary, mining, solver
from anoncore.attacks.foreground import attack as foreground_attack
from anoncore.attacks.foreground.solver import Solution
from anoncore.kernels.foreground_shares import stored, written_out
from tests.papers import foreground_knowledge, foreground_statements, theorems, worked
from tests.papers.broken import (
    EVERY,
    NEVER,
    Breaking,
    Broken,
    at_random,
    examples,
    grouped_by,
    never_splits,
    replaced,
)
from tests.papers.findings import Statements
from tests.papers.foreground_statements import PAPER

Models = Callable[[int, int], dict[str, Algorithm]]
METHODS = [*PAPER, "t-closeness, all values"]
UNTRIED: Mapping[str, str] = defaultdict(str)
"""Mutants are about statements; what was tried about their causes is left out."""


def _of_paper(models: Models) -> Models:
    return lambda r, seed: {name: model for name, model in models(r, seed).items() if name in METHODS}


def _attacked() -> Statements:
    """Section 5 on Adult: three QI sizes, one seed, few queries."""
    said, adult = Statements(), foreground_knowledge.Adult()
    with patch.object(foreground_knowledge, "models", _of_paper(foreground_knowledge.models)):
        found = pd.DataFrame(foreground_knowledge.runs(adult, [2, 4, 10], [3, 5, 8], 1, 300))
    mean = found.groupby(foreground_knowledge.KEYS, sort=False).mean().drop(columns="seed").reset_index()
    foreground_knowledge.case_study(adult, said, 2)
    readings = tuple(mean["reading"].unique())
    foreground_statements.judge(mean, readings, foreground_knowledge.READINGS["overall"], UNTRIED, said)
    return said


def _case() -> Statements:
    """The case study of section 5.1."""
    said = Statements()
    foreground_knowledge.case_study(foreground_knowledge.Adult(), said, 1)
    return said


def _asked() -> Statements:
    """Figure 3 and the sizes of groups, without an attack."""
    said, adult, lines = Statements(), foreground_knowledge.Adult(), []
    usual = foreground_knowledge.READINGS["overall"]
    for q in (3, 5, 8):
        names = foreground_knowledge.CASE_STUDY if q == 3 else foreground_knowledge.QUASI[:q]
        data = adult.microdata(list(names))
        for r in (2, 10):
            for name, model in _of_paper(foreground_knowledge.models)(r, 0).items():
                try:
                    release = foreground_knowledge.released(adult, data, name, model)
                except InfeasibleError:
                    continue
                error = foreground_knowledge.query_error(release, n_queries=2_000)
                size = release.partition.sizes.mean()
                about = {"method": name, "r": r, "q": q, "reading": usual}
                lines.append(about | {"query error": float(error.mean), "mean group size": size})
    foreground_statements.queries(pd.DataFrame(lines), usual, said)
    return said


@contextmanager
def shuffled_secrets() -> Iterator[None]:
    """Everybody has the sensitive value of the row before them."""
    load = worked.builtin

    def other(name: str) -> Microdata:
        data = load(name)
        frame = data.frame.copy()
        for secret in data.sensitive:
            frame[secret] = np.roll(frame[secret].to_numpy(), 1)
        kinds = {one: data.domain[one].kind for one in data.attributes}
        return Microdata(frame, roles=data.roles, kinds=kinds, sensitive_values=data.sensitive_values)

    with patch.object(worked, "builtin", other):
        yield


@contextmanager
def nothing_learned() -> Iterator[None]:
    """Every signature keeps the overall share."""
    solve = mining.solve

    def ignorant(cases: Any, held: Any, rows: Any, start: Any, *rest: Any) -> Any:
        found = solve(cases, held, rows, start, *rest)
        return replace(found, shares=stored(np.repeat(start[:, None], len(rows), axis=1), start))

    with patch.object(mining, "solve", ignorant):
        yield


@contextmanager
def peeks() -> Iterator[None]:
    """The adversary looks at the original table: shares are the true ones, and so are the beliefs about everybody."""
    here, attack_set, beliefs = threading.local(), mining.attack_set, mining.beliefs

    def looked(signatures: Any, target: Any, *rest: Any) -> Any:
        here.true = written_out(mining.true_shares(signatures, target.view, target.n_values))
        return attack_set(signatures, target, *rest)

    def copied(cases: Any, held: Any, rows: Any, start: Any, fixed: Any, *rest: Any) -> Solution:
        return Solution(stored(here.true, fixed), 1, True)

    def certain(published: Any, *rest: Any) -> Any:
        found = beliefs(published, *rest)
        own = (published.true < len(published.value_start) - 1).astype(np.float64)
        return found._replace(
            own=own, other=np.zeros(len(own)), breached=int(own.sum()), flagged=0, believed=float(own.sum())
        )

    with (
        patch.object(mining, "attack_set", looked),
        patch.object(mining, "solve", copied),
        patch.object(mining, "beliefs", certain),
    ):
        yield


@contextmanager
def another_group() -> Iterator[None]:
    """Everybody is believed to have what is believed of the person before them, group by group."""
    beliefs = mining.beliefs

    def moved(*of: Any) -> Any:
        found = beliefs(*of)
        return found._replace(own=np.roll(found.own, 1), other=np.roll(found.other, 1))

    with patch.object(mining, "beliefs", moved):
        yield


def keep_lowest(own_of_set: Any, other_of_set: Any, number: int, own: Any, other: Any, leading: Any) -> None:
    """Of all attribute sets the smallest probability is kept."""
    for found, kept in ((own_of_set, own), (other_of_set, other)):
        kept[:] = np.minimum(kept, found) if number else found
    leading[:] = 0


@contextmanager
def beliefs_of_groups_alone() -> Iterator[None]:
    """Every possible world is as likely, whatever is known."""
    worlds = attacks.possible_worlds

    def even(f: Any, n: int) -> Any:
        found = worlds(f, n)
        return replace(found, share=np.full(len(found.share), 1 / len(found.share)))

    with (
        patch.object(attacks, "group_probabilities", lambda f, n: np.full(len(f), n / len(f))),
        patch.object(attacks, "possible_worlds", even),
    ):
        yield


@contextmanager
def own_share_alone() -> Iterator[None]:
    """The probability of a person is the share of their own signature, whatever the group."""
    with patch.object(attacks, "group_probabilities", lambda f, n: np.asarray(f, dtype=np.float64)):
        yield


def rows_needed(times: float) -> Breaking:
    """So many times as many tuples are asked for, or one at least."""
    needed = adversary.minimum_signature_rows
    return replaced(
        adversary, "minimum_signature_rows", lambda epsilon, sigma: max(times * needed(epsilon, sigma), 1.0)
    )


@contextmanager
def single_attributes() -> Iterator[None]:
    """Attribute sets of one attribute only."""
    levels = foreground_attack.levels
    with patch.object(foreground_attack, "levels", lambda data, names, rows, _: levels(data, names, rows, 1)):
        yield


@contextmanager
def groups_left_out() -> Iterator[None]:
    """What a group tells alone is left out."""
    group = ForegroundKnowledge.group
    with patch.object(
        ForegroundKnowledge, "group", lambda self, *of, **about: replace(group(self, *of, **about), without_attack=0.0)
    ):
        yield


def no_newton(cases: Any, held: Any, rows: Any, value: int, start: float, fixed: float) -> Any:
    """Newton's method ends where it begins."""
    unknowns = solver._unknowns(cases, held, rows, value)
    return np.append(np.full(len(unknowns.people), start), fixed)[unknowns.alike], 1, 0.0


def exchanged(one: str, other: str) -> Breaking:
    """Two methods are swapped."""
    models = foreground_knowledge.models

    def swapped(r: int, seed: int) -> dict[str, Algorithm]:
        every = models(r, seed)
        return every | {one: every[other], other: every[one]}

    return replaced(foreground_knowledge, "models", swapped)


def answered(mean: float) -> Breaking:
    """Queries are answered with the same error, whatever is asked of which release."""

    class Answer:
        median = mean

        def __init__(self) -> None:
            self.mean = mean

    return replaced(foreground_knowledge, "query_error", lambda release, n_queries: Answer())


EXAMPLES = examples(worked.foreground)
PROVEN = examples(theorems.foreground)
ATTACKED, ASKED, CASE = _attacked, _asked, _case
LEARNED = ("the other groups", "it is the published groups")
DIFFERENCES = ("delta increases", "delta is largest")
MEANS = tuple(f"Anatomy, r = 2, QI size {q}: mean" for q in (3, 5, 8))
MOST_BREACHED = "r = 10: in most cases more than 99 %"
MUTANTS = (
    Broken("foreground-knowledge", NEVER, EXAMPLES, grouped_by(Anatomy, never_splits), {"table 1": EVERY}),
    Broken("foreground-knowledge", "anybody is paired with anybody", EXAMPLES, grouped_by(Anatomy, at_random), {
        "table 1": EVERY,
    }),
    Broken("foreground-knowledge", "sensitive values are shuffled", EXAMPLES, shuffled_secrets, {"table 7": EVERY}),
    Broken("foreground-knowledge", "what a group tells alone is left out", EXAMPLES, groups_left_out, {
        "table 2": ("in the group itself",),
    }),
    Broken("foreground-knowledge", "nothing is learned from other groups", EXAMPLES, nothing_learned, {
        "table 2": LEARNED,
        "table 3": ("an adversary mines",),
        "table 8": EVERY,
    }),
    Broken("foreground-knowledge", "the adversary looks at the original table", EXAMPLES, peeks, {
        "table 2": ("it is the published groups",),
        "table 3": ("an adversary mines",),
        "table 8": ("of other groups",),
    }),
    Broken("foreground-knowledge", "every world is equally likely", EXAMPLES, beliefs_of_groups_alone, {
        "table 3": ("with 0.1 for Americans",),
        "table 5": EVERY,
    }),
    Broken("foreground-knowledge", "people are believed by their own share alone", EXAMPLES, own_share_alone, {
        "table 3": ("with 0.1 for Americans",),
        "table 5": ("p(t1:x)", "the probabilities of other groups"),
    }),
    Broken("foreground-knowledge", "Newton's method does not move", EXAMPLES, replaced(solver, "_newton", no_newton), {
        "table 8": ("Newton's method", "of other groups it finds the shares that equation 4 leaves as they are (n"),
    }),
    Broken("foreground-knowledge", "one tuple is enough", PROVEN, rows_needed(0.0), {
        "theorem 1": EVERY,
        "algorithm 1": ("the signatures found",),
    }),
    Broken("foreground-knowledge", "ten times as many tuples are asked for", PROVEN, rows_needed(10.0), {
        "theorem 1": ("so that a signature",),
        "algorithm 1": ("the signatures found",),
    }),
    Broken("foreground-knowledge", "sets of several attributes are left out", PROVEN, single_attributes, {
        "algorithm 1": ("the signatures found",),
    }),
    Broken("foreground-knowledge", "nothing is learned", PROVEN, nothing_learned, {
        "algorithm 1": ("their shares solve", "the probability of every person"),
    }),
    Broken("foreground-knowledge", "the adversary looks at the original table", PROVEN, peeks, {
        "theorem 1": ("where no signature",),
        "algorithm 1": ("their shares solve", "the probability of every person", "it depends on what is published"),
    }),
    Broken("foreground-knowledge", "the adversary looks at the original table", ATTACKED, peeks, {
        "section 5.1": ("what is learned are", "every probability", "r = 2: in most cases some"),
        "section 5.2": ("r = 2: some of the other",),
        "figure 1": (
            "Anatomy: the share", "Mask: the share", "Injector: the share", "Mask has breaches",
            "t-closeness has no breaches", "t-closeness, all values has no breaches",
        ),
        "figure 2": ("Anatomy: the share", "Mask: the share", "Injector: the share", "Mask has breaches"),
    }),
    Broken("foreground-knowledge", "nothing is learned", ATTACKED, nothing_learned, {
        "section 5.1": ("what is learned are", "learned p(Adm-clerical)", MOST_BREACHED, *MEANS),
        "figure 1": ("Anatomy: the share", *DIFFERENCES),
        "figure 2": (
            "t-closeness has breaches", "t-closeness, all values has breaches",
            "Anatomy: delta is smaller with r = 10", *DIFFERENCES,
        ),
    }),
    Broken("foreground-knowledge", "the least belief counts", ATTACKED, replaced(
        foreground_attack, "keep_highest", keep_lowest
    ), {"section 5.1": ("every probability", MOST_BREACHED)}),
    Broken("foreground-knowledge", "people are taken for those before them", ATTACKED, another_group, {
        "section 5.1": ("every probability", MOST_BREACHED),
        "figure 2": ("Mask has breaches",),
    }),
    Broken("foreground-knowledge", "every world is equally likely", CASE, beliefs_of_groups_alone, {
        "section 5.1": ("0.02 and 0.04 in a group",),
    }),
    Broken("foreground-knowledge", "queries are answered alike", ASKED, answered(0.5), {"figure 3": EVERY}),
    Broken("foreground-knowledge", "queries have no error", ASKED, answered(0.0), {"figure 3": EVERY}),
    Broken("foreground-knowledge", "Anatomy and t-closeness are swapped", ASKED, exchanged("Anatomy", "t-closeness"), {
        "figure 3": EVERY,
    }),
    Broken(
        "foreground-knowledge", "Anatomy and t-closeness of all values are swapped", ASKED,
        exchanged("Anatomy", "t-closeness, all values"), {"section 5.2": ("t-closeness, all values: groups",)},
    ),
)  # fmt: skip
