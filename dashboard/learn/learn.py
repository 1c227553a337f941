"""Lessons: the attacks and the methods on the papers' own small tables, step by step."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

import streamlit as st

from dashboard.elements import about, entries, parts, routes
from dashboard.session import browser, state


@dataclass(frozen=True)
class Lesson:
    """One lesson: the module `dashboard.learn.lessons.<name>` has its steps and its table.

    Its end says in one sentence each what the attack (or the difficulty) was and what stopped it; `entries` are the
    keys of what the reference has on it.
    """

    name: str
    title: str
    promise: str
    minutes: int
    attack: str
    cure: str
    entries: tuple[str, ...]


LESSONS = (
    Lesson(
        "linking",
        "Linking and k-anonymity",
        "How a table without names gets its names back, and how a crowd stops it.",
        4,
        attack=(
            "Linking: rows without names are joined with a list that has names. Age, sex and job together work "
            "like a name."
        ),
        cure="k-anonymity: at least k rows look alike, so that nobody's row can be told from k - 1 others.",
        entries=("requirement:k-anonymity", "attack:reidentification"),
    ),
    Lesson(
        "diversity",
        "All alike and l-diversity",
        "Why a crowd does not help if everybody in it has the same.",
        4,
        attack=(
            "Homogeneity and background knowledge: whoever is in a class has what all in it have, or what is left "
            "when values are ruled out."
        ),
        cure="l-diversity: in every class at least l different sensitive values.",
        entries=("requirement:distinct-diversity", "requirement:frequency-diversity", "attack:attribute_disclosure"),
    ),
    Lesson(
        "closeness",
        "Too different and t-closeness",
        "Why different values can still tell everything.",
        5,
        attack=(
            "Similarity and skewness: the values of a class differ, but all mean nearly the same, or are far more "
            "common there than elsewhere."
        ),
        cure="t-closeness: sensitive values are spread in every class nearly as in the whole table.",
        entries=("requirement:t-closeness", "attack:sensitive_posterior"),
    ),
    Lesson(
        "moving",
        "Distance as moving earth",
        "How far one distribution is from another, by hand.",
        4,
        attack=(
            "Nothing yet says how far a class is from the table; counting differences forgets which values are close."
        ),
        cure="The earth mover's distance: how much must be moved, times how far.",
        entries=("measure:emd", "measure:transport"),
    ),
    Lesson(
        "mondrian",
        "Mondrian cuts a plane",
        "How people are put into crowds with as little blur as possible.",
        3,
        attack=(
            "Crowds must be large, but every crowd costs detail. And whoever knows the method learns from each finer "
            "crowd that it refused to publish: this one was too small, or had too few values."
        ),
        cure=(
            "Mondrian: cut at the median of the widest attribute, again and again, while both sides keep what is "
            "required. What its refusals tell is measured before the table goes out."
        ),
        entries=("algorithm:mondrian", "measure:information_loss", "attack:minimality", "attack:refinement"),
    ),
    Lesson(
        "sampling",
        "Rothko grows on a sample",
        "How a table is cut that does not fit in memory.",
        5,
        attack="A table does not fit in memory, and a sample alone cannot promise anything about everybody.",
        cure=(
            "Rothko: cut by a sample where a test is sure, count everybody once, undo what is wrong, finish in memory."
        ),
        entries=("algorithm:rothko-sampling", "algorithm:rothko-tree"),
    ),
    Lesson(
        "slicing",
        "Slicing and its matching buckets",
        "How exact values can be published all the same.",
        4,
        attack=(
            "Whoever knows all of a person's other values looks for the bucket where the person may be, and reads "
            "off the disease."
        ),
        cure=(
            "Slicing: columns are shuffled on their own in every bucket, and nobody may be believed to have a "
            "value with more than 1/l."
        ),
        entries=("algorithm:slicing", "attack:matching_buckets"),
    ),
    Lesson(
        "worlds",
        "The release against itself",
        "How the other groups give away who has what in this one.",
        5,
        attack=(
            "Foreground knowledge: all groups together tell how often each kind of people has a value, and that "
            "tells two kinds in one group apart. deFinetti's attack goes on from there: it guesses who has what, "
            "learns from its guesses, and guesses again."
        ),
        cure="Put people of one kind together (ForegroundSafe), and run the attack itself before publishing.",
        entries=("attack:foreground_knowledge", "attack:definetti", "algorithm:anatomy", "algorithm:foreground-safe"),
    ),
    Lesson(
        "dealing",
        "Stack & Deal",
        "How to make classes that look like the whole table, by dealing cards.",
        4,
        attack="Classes cut by age or place differ from the table in what is secret, as in lesson 3.",
        cure=(
            "Stack & Deal: stack people by their secret and deal them to the classes in turn; no class differs by "
            "more than one person."
        ),
        entries=("algorithm:stack-and-deal", "requirement:t-closeness"),
    ),
    Lesson(
        "boxes",
        "Two secrets at once",
        "How classes stay close in several secrets, each by its own measure.",
        4,
        attack="A class may be close to the table in one secret and far from it in another.",
        cure=(
            "Fragment the space of the secrets into boxes, give every class its share of each box, and measure "
            "every class."
        ),
        entries=("algorithm:sensitive-space-fragmentation",),
    ),
    Lesson(
        "joins",
        "Narrow tables and the join attack",
        "What cutting a wide table wins, and what joining undoes.",
        5,
        attack=(
            "Joining: narrow tables that share an attribute are joined on it, until few rows are left that fit a "
            "person."
        ),
        cure="Change or hide class values until any two classes join to no row, or to k and more.",
        entries=("algorithm:vertical-fragmentation", "measure:joins"),
    ),
    Lesson(
        "members",
        "Is somebody in the table?",
        "How invented people hide that somebody is in a table at all.",
        4,
        attack=(
            "Membership: whoever fits the release is taken to be in the table, and that alone is the secret. And if "
            "secrets of people in the table are guessed better than those of others, rows were memorized."
        ),
        cure="Shuffled columns and joins that many invented people fit as well as the real ones.",
        entries=("attack:membership", "attack:join_likelihood", "attack:memorization", "algorithm:random-buckets"),
    ),
    Lesson(
        "hospitals",
        "Two hospitals, one patient",
        "How two releases that both keep their promise break it together.",
        4,
        attack=("Composition: whoever is in two releases has a value that both allow, and that may be a single one."),
        cure=(
            "No promise of one release alone helps. Publish people once, or give those who come again the group and "
            "the values that they had; measure both releases together before the second goes out."
        ),
        entries=("attack:composition", "requirement:distinct-diversity"),
    ),
)
CHOICE = "lesson"


def render() -> None:
    """Draw the choice of lessons and the chosen one."""
    st.markdown(
        "Each lesson takes a few minutes: an attack or a method on a small table, one step at a time. "
        "Every number is computed while you watch."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lesson = parts.choice(
            "Lesson",
            LESSONS,
            CHOICE,
            "Begin with the first; each builds on those before.",
            names=lambda one: f"{LESSONS.index(one) + 1}. {one.title}",
        )
        module = load(lesson)
        place = LESSONS.index(lesson)
        if place + 1 < len(LESSONS):
            st.button(
                "Next lesson",
                key="lesson-next",
                on_click=browser.set_widget_values,
                args=({CHOICE: LESSONS[place + 1]},),
                help=LESSONS[place + 1].title,
            )
        if st.button("Load this table", key="lesson-load", help="Open the lesson's table in the working pages."):
            state.load_builtin(module.TABLE)
            st.switch_page(routes.page("table"), query_params=state.address())
    st.markdown(f"{lesson.promise} About {lesson.minutes} minutes.")
    _walk(lesson, module)


def load(lesson: Lesson) -> ModuleType:
    """The module of a lesson."""
    return importlib.import_module(f"dashboard.learn.lessons.{lesson.name}")


@st.fragment
def _walk(lesson: Lesson, module: ModuleType) -> None:
    step = parts.steps(f"lesson-{lesson.name}", [one.title for one in module.STEPS])
    module.STEPS[step].draw()
    if step == len(module.STEPS) - 1:
        st.success(f"**What was wrong:** {lesson.attack}\n\n**What helps:** {lesson.cure}")
        with st.container(horizontal=True):
            for key in lesson.entries:
                about.button(key, f"More on {entries.entries()[key].title}", "lesson")
