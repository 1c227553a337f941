"""The seven sections of a dossier as data, each with how what it says is known."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from anoncore.base.showing import printable
from anoncore.recipes.typed_answers import Decision, Signatory

Standing = Literal["measured", "counted", "claimed", "not measured", "fails"]
"""How a number is known: measured on the original table, counted in the published files, claimed by a certificate and
not checked, not measured, or claimed and found wrong."""
Text = Annotated[str, AfterValidator(printable)]
"""A text on one line, in which nothing commands a terminal or turns the direction of writing."""


class Part(BaseModel):
    """A part of a dossier."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Figure(Part):
    """A number: `beside` is what is reached without the release, `reason` why there is no number or it fails."""

    name: Text
    title: Text
    attribute: Text | None = None
    value: float | None = None
    text: Text = ""
    beside: Text = ""
    meaning: Text = ""
    standing: Standing
    reason: Text = ""


class TableOfRelease(Part):
    """A published table: its columns and rows."""

    name: Text
    columns: list[Text]
    rows: int


class Released(Part):
    """1. What is released, for whom, for how long, and under which controls; texts are typed in, and may be empty."""

    title: Text
    purpose: Text
    recipients: Text
    policy_recipient: Annotated[Text, Field(description="Who receives it as the policy says, in a sentence.")]
    duration: Text
    controls: list[Text]
    tables: list[TableOfRelease]
    files: list[Text]
    sha256: Annotated[Text, Field(description="Hash of all tables, whatever the order of their rows.")]
    standing: Standing


class Column(Part):
    """A column of the table: its role, what becomes of it, and who decided the role (typed in)."""

    name: Text
    role: Text
    treatment: Text
    decided_by: Text


class People(Part):
    """2. The people and the table."""

    rows: int | None
    people: int | None
    counted: Annotated[Text, Field(description="Whether people or rows are counted, where that matters.")]
    population: Text
    sampling: Text
    columns: list[Column]
    left_out: Annotated[list[Text], Field(description="Columns that are in no table.")]
    as_it_is: Annotated[list[Text], Field(description="Columns that are neither known nor secret, and published.")]
    gives_away: Annotated[list[Text], Field(description="What these columns break, in sentences.")]
    standing: Standing


class Finder(Part):
    """An adversary who looks for people: the largest and mean chance to find one, and that of a guess."""

    adversary: Text
    knows: Text
    largest: float | None = None
    mean: float | None = None
    guess: float | None = None
    standing: Standing
    reason: Text = ""


class Attack(Part):
    """An attack that was tried: its share, that of its control, and what lies above."""

    attribute: Text
    aim: Literal["identity", "attribute", "membership"]
    name: Text
    title: Text
    share: float
    measured: Text
    control: float
    compared_with: Text
    gain: float
    is_strongest: bool
    standing: Standing


class NotTried(Part):
    """An attack that was not tried, and why."""

    attribute: Text | None
    name: Text
    reason: Text


class Adversaries(Part):
    """3. Adversaries considered, what each was given and got, and which were not tried, and why."""

    finders: list[Finder]
    attacks: list[Attack]
    not_tried: list[NotTried]
    known_method: Annotated[Text, Field(description="What readers learn who know the method.")]
    earlier: Annotated[list[Text], Field(description="Earlier releases of the same people, in sentences.")]
    notes: Annotated[list[Text], Field(description="What has to be known of the chances to be found.")]
    control: Annotated[Text, Field(description="Whether people who are not in the release were at hand.")]


class SizeClass(Part):
    """Groups of some size: how many there are and how many people or rows are in them."""

    sizes: Text
    groups: int
    members: int


class Sizes(Part):
    """The groups of a table by their size."""

    table: Text
    counted: Literal["people", "rows"]
    classes: list[SizeClass]
    standing: Standing


class Spread(Part):
    """A number over several draws of a random method: that of the release, and the least and most of further draws."""

    name: Text
    title: Text
    value: float
    text: Text
    least: float
    least_text: Text
    most: float
    most_text: Text
    draws: int


class Identifiability(Part):
    """4. Identifiability: levels of the worst group, groups by size, and who is unique."""

    levels: list[Figure]
    sizes: list[Sizes]
    uniques: list[Figure]
    draws: Annotated[Text, Field(description="Whether the method draws at random, and how often it was drawn.")]
    spread: list[Spread]
    notes: list[Text]


class Parameter(Part):
    """A parameter of the method."""

    title: Text
    value: Text


class ColumnLoss(Part):
    """What a column loses: the share of its domain that a cell covers on average."""

    column: Text
    loss: float


class Considered(Part):
    """A release that was considered: what it loses and gives away, or why it was not made or measured."""

    label: Text
    lost: float | None = None
    given_away: float | None = None
    reason: Text = ""
    is_chosen: bool = False


class Treatment(Part):
    """5. What was done, what it costs, and the releases that were considered instead."""

    method: Text
    summary: Text
    source: Text
    parameters: list[Parameter]
    seed: Text
    notes: list[Text]
    rows_left_out: int | None
    costs: list[Figure]
    losses: list[ColumnLoss]
    lost_title: Text
    given_away_title: Text
    considered: list[Considered]
    why_this_one: Annotated[Text, Field(description="Typed in.")]
    standing: Standing


class PolicyRule(Part):
    """A rule of the policy: what was asked and reached, and how it came out."""

    key: Text
    rule: Text
    attribute: Text | None
    asked: Text
    reached: Text
    status: Literal["kept", "broken", "not measured", "only if nobody knows"]
    outcome: Text
    reason: Text


class PolicyResult(Part):
    """What the policy says of the release."""

    name: Text
    source: Text
    headline: Text
    status: Literal["kept", "broken", "not measured", "only if nobody knows"]
    rules: list[PolicyRule]


class Statement(Part):
    """Something that was asked or promised, how it came out, and whose definition it is."""

    outcome: Literal[
        "holds",
        "holds over what is known",
        "fails",
        "claimed",
        "not judged",
        "promised",
        "not asked, and not protected",
    ]
    sentence: Text
    source: Text = ""


class Reached(Part):
    """6. Levels of the policy beside what was reached, and the verdict."""

    verdict: Text
    statements: list[Statement]
    policy: PolicyResult | None


class Decisions(Part):
    """7. Decisions, roles, dates and signatures, all typed in; and what was not checked."""

    decisions: list[Decision]
    signatures: list[Signatory]
    review_until: Text
    review_by: Text
    certificate_signature: Annotated[Text, Field(description="Who signed the certificate, where there is one.")]
    not_checked: list[Text]


class Sections(Part):
    """The fields of a dossier: what was at hand, and its seven sections."""

    format: Literal["anoncore-dossier"] = "anoncore-dossier"
    version: int = Field(default=1, ge=1, le=1)
    made: Text
    software: Text
    basis: Literal["release", "published", "certificate"]
    released: Released
    people: People
    adversaries: Adversaries
    identifiability: Identifiability
    treatment: Treatment
    reached: Reached
    decisions: Decisions
