"""Noise: a count that hardly tells whether somebody is in it, what it tells all the same, and what several tell."""

from __future__ import annotations

from math import comb, exp, sinh

import numpy as np
import pandas as pd

from anoncore import datasets
from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import bars
from dashboard.charts.palette import ORIGINAL
from dashboard.learn.lesson_parts import STYLE, Lesson, Question, beside, chart, figures, share_chart, table

TABLE, PEOPLE = "census", 12
PERSON, ILLNESS = "Edith Holm", "Migraine"
ANSWERS = np.arange(-3, 7)
"""The published answers of which a chance is shown; larger and smaller ones are less likely."""

PRIVACY = Lesson.named("privacy")


def patients() -> pd.DataFrame:
    """Twelve people of the census-like table with their diagnoses."""
    return datasets.table(TABLE).load(n_rows=PEOPLE)[["name", "age", "sex", "diagnosis"]]


def counts() -> tuple[int, int]:
    """How many have the illness, with the person and without."""
    people = patients()
    ill = people[people["diagnosis"] == ILLNESS]
    return len(ill), int((ill["name"] != PERSON).sum())


def chances(count: int, epsilon: float) -> Floats:
    """p(answer) of each of `ANSWERS` for a count, with the noise of `dp-marginals` where delta is 0.

    Laplace's noise of whole numbers (Ghosh, Roughgarden and Sundararajan, STOC 2009): with q = exp(-epsilon), noise z
    has the chance (1 - q) / (1 + q) q^|z|.
    """
    q = exp(-epsilon)
    found: Floats = (1 - q) / (1 + q) * q ** np.abs(ANSWERS - count)
    return found


@PRIVACY.step
def _neighbours(epsilon: float) -> Question:
    people, (count, without) = patients(), counts()
    left, right = beside(2, 3)
    with left:
        table(people, f"Twelve patients; {PERSON} is one of them.", np.flatnonzero(people["name"] == PERSON))
    inside, outside, at = chances(count, epsilon), chances(without, epsilon), count - ANSWERS[0]
    with right:
        shown = {"with her": (inside, STYLE), "without her": (outside, ORIGINAL)}
        chart(
            bars(ANSWERS, shown, "chance of the answer", upright=True, by="published answer", hover="%{x}: %{y:.1%}"),
            "neighbours",
            f"How likely each answer is, with {PERSON} (blue, {count} in truth) and without her (grey, {without}).",
            f"Bars of the chances of the answers; {count} comes with {inside[at]:.1%} if she is in "
            f"the table, else with {outside[at]:.1%}.",
            pd.DataFrame({"published answer": ANSWERS, "with her": inside, "without her": outside}),
        )
    ratio = float((inside / outside).max())
    figures(
        ("Exact answer", f"{inside[at]:.1%}", "Chance that no noise is added at all."),
        ("Mean noise", f"{1 / sinh(epsilon):.2f}", "By how much an answer is off on average, up or down."),
        ("Largest ratio", f"{ratio:.2f}", "Chance of an answer with her, divided by that without her; or the reverse."),
    )
    return (
        f"the answer {count} is published. Is she in the table?",
        f"Nobody can tell for certain. {count} comes with {inside[at]:.1%} if she is, and with "
        f"{outside[at]:.1%} if she is not. No answer is more than {ratio:.2f} times as likely one way "
        f"as the other, and that is exp({epsilon:g}). This is **differential privacy**: the bound holds for any two "
        "tables that differ in one person, whoever that is. A smaller epsilon brings the bars closer together, and the "
        "answer farther from the truth.",
    )


def believed(before: float, ratio: float | Floats) -> Floats:
    """A belief after the odds for it were multiplied by a ratio."""
    odds = before / (1 - before) * np.asarray(ratio, dtype=np.float64)
    found: Floats = odds / (1 + odds)
    return found


@PRIVACY.step
def _believed(epsilon: float, before: float) -> Question:
    count, without = counts()
    after = believed(before, chances(count, epsilon) / chances(without, epsilon))
    share_chart(
        [f"answer {answer}" for answer in ANSWERS],
        after,
        "belief that she is in the table",
        "posterior",
        f"What to believe after each answer, where it was {before:.0%} before.",
    )
    most = float(believed(before, exp(epsilon)))
    figures(
        ("Odds before", f"{before / (1 - before):.2f}", "Chance for it, divided by the chance against it."),
        ("Odds at most", f"{before / (1 - before) * exp(epsilon):.2f}", "Those before, times exp(epsilon)."),
        ("Belief at most", f"{most:.1%}", "The odds at most, as a chance."),
    )
    return (
        "how much can the adversary learn from any answer?",
        f"Whatever comes, the belief of {before:.0%} ends between {float(believed(before, exp(-epsilon))):.1%} and "
        f"{most:.1%}: the odds change by exp({epsilon:g}) = {exp(epsilon):.2f} at most, up or down. Here every answer "
        f"from {count} on speaks for her and every other against her, each as loudly as it may. Of an exact count the "
        "belief would end at 0% or 100%. The bound needs no guess at what the adversary knows: k, l and t promise "
        "nothing against somebody who knows all others of a group.",
    )


def guessed(n: int, epsilon: float) -> float:
    """How often the best guess is right by so many answers with fresh noise, where both tables are equally likely.

    Every answer points to the right one of the two tables with chance p = exp(epsilon) / (1 + exp(epsilon)), and all
    weigh the same; so the majority decides, and a tie is a toss.
    """
    p = exp(epsilon) / (1 + exp(epsilon))
    right = [comb(n, m) * p**m * (1 - p) ** (n - m) for m in range(n + 1)]
    return sum(right[n // 2 + 1 :]) + (right[n // 2] / 2 if n % 2 == 0 else 0)


@PRIVACY.step
def _composed(epsilon: float, n: int) -> Question:
    numbers = sorted({1, 3, 10, 30, n})
    share_chart(
        [f"{number} answer{'s' if number > 1 else ''}" for number in numbers],
        [guessed(number, epsilon) for number in numbers],
        "right guesses",
        "composed",
        "How often the best guess from all answers is right whether she is in the table. By a toss it is 50%.",
    )
    figures(
        ("Epsilon in all", f"{n * epsilon:g}", "The sum over the answers."),
        (
            "Belief at most",
            f"{float(believed(0.5, exp(n * epsilon))):.1%}",
            "If all answers point the same way, and it was 50% before.",
        ),
        ("Right guesses", f"{guessed(n, epsilon):.1%}", "On average over the noise."),
        ("Mean noise, if shared", f"{1 / sinh(epsilon / n):.2f}", "Of each answer, if all of them share one epsilon."),
    )
    return (
        "ten answers are to cost no more than one with epsilon = 1. What is the price?",
        f"Each may have 1/10 = 0.1, so its noise is {1 / sinh(0.1):.1f} on average instead of {1 / sinh(1):.1f}; among "
        f"{PEOPLE} people that is all there is to see, among a million it is nothing. **One budget covers everything "
        "that is ever published of the same people.** Marginal synthesis spends it on counts of values and of pairs "
        "of values; rows that are drawn from these counts cost nothing more.",
    )
