"""What only people know of a release: for whom it is, how long, under which controls, and who decided what."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from anoncore.base.arguments import checked_methods
from anoncore.base.toml_reading import Line, TomlFile

TEMPLATE = """\
# Answers for a dossier. What is left empty is printed as an empty line, to fill in by hand.
format = 1

# 1. What is released
title = ""        # what the release is called
purpose = ""      # what readers want it for
recipients = ""   # for whom it is
duration = ""     # how long they may use it
controls = []     # what binds them, such as ["A contract forbids to look for anybody."]

# 2. The people and the table
population = ""   # whose table it is, such as "all patients of the clinic in 2025"
sampling = ""     # how these people were drawn from the population; "all of them" is an answer
# sampled_share = 0.05  # the share of the population that is in the table; with it, who is unique there is estimated

[roles_decided_by]  # who decided the role of a column; "*" stands for all others
# "*" = ""

# 5. What was done
[choice]
why_this_one = ""  # why this release and none of the others that were considered

# 7. Decisions
[review]
until = ""        # until when the release is to be looked at again
by = ""           # by whom

# [[decisions]]     # again for each decision
# what = ""
# who = ""
# date = ""

# [[signatures]]    # again for each person who signs
# role = ""
# name = ""
# date = ""
"""
"""A file of answers that says nothing yet, with what each is about."""


class Typed(BaseModel):
    """A group of answers, with no other keys than its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Choice(Typed):
    """Why this release was chosen."""

    why_this_one: Annotated[Line, Field(description="Why this release and none of the others.")] = ""


class Review(Typed):
    """When and by whom the release is looked at again."""

    until: Annotated[Line, Field(description="Until when the release is to be looked at again.")] = ""
    by: Annotated[Line, Field(description="By whom.")] = ""


class Decision(Typed):
    """Something that was decided, by whom and when."""

    what: Annotated[Line, Field(description="What was decided.")] = ""
    who: Annotated[Line, Field(description="Who decided it.")] = ""
    date: Annotated[Line, Field(description="When.")] = ""


class Signatory(Typed):
    """A person who signs; the signature itself is written by hand."""

    role: Annotated[Line, Field(description="In which role the person signs.")] = ""
    name: Annotated[Line, Field(description="The person's name.")] = ""
    date: Annotated[Line, Field(description="When.")] = ""


@checked_methods
class Answers(TomlFile, Typed):
    """What only people know of a release. Nothing is invented: an answer that is empty stays an empty line.

    Attributes
    ----------
    format : int
        Version of the format, 1.
    title, purpose, recipients, duration : str
        What the release is called, what it is for, for whom it is, and for how long.
    controls : tuple of str
        What binds those who receive it.
    population, sampling : str
        Whose table it is, and how these people were drawn.
    sampled_share : float or None
        The share of the population that is in the table, above 0 and at most 1.
    roles_decided_by : dict of str to str
        Who decided the role of a column, by its name; `"*"` stands for all others.
    choice : Choice
        `why_this_one`: why this release and none of the others that were considered.
    review : Review
        `until` when the release is to be looked at again, and `by` whom.
    decisions : tuple of Decision
        `what` was decided, by `who`, and the `date`.
    signatures : tuple of Signatory
        `role`, `name` and `date` of each person who signs.

    Raises
    ------
    ParameterError
        For an unknown key and a value of another type, in a sentence that names the key.

    Examples
    --------
    >>> from anoncore import Answers
    >>> answers = Answers.loads('recipients = "the cancer registry"')
    >>> answers.recipients, answers.duration
    ('the cancer registry', '')
    """

    _what: ClassVar[str] = "file of answers"

    format: Annotated[Literal[1], Field(description="The format in which the answers are written.")] = 1
    title: Annotated[Line, Field(description="What the release is called.")] = ""
    purpose: Annotated[Line, Field(description="What readers want it for.")] = ""
    recipients: Annotated[Line, Field(description="For whom it is.")] = ""
    duration: Annotated[Line, Field(description="How long they may use it.")] = ""
    controls: Annotated[tuple[Line, ...], Field(description="What binds those who receive it.")] = ()
    population: Annotated[Line, Field(description="Whose table it is.")] = ""
    sampling: Annotated[Line, Field(description="How these people were drawn from the population.")] = ""
    sampled_share: Annotated[
        float | None, Field(strict=True, gt=0, le=1, description="The share of the population that is in the table.")
    ] = None
    roles_decided_by: Annotated[dict[str, Line], Field(description="Who decided the role of a column.")] = {}
    choice: Annotated[Choice, Field(description="Why this release was chosen.")] = Choice()
    review: Annotated[Review, Field(description="When and by whom the release is looked at again.")] = Review()
    decisions: Annotated[tuple[Decision, ...], Field(description="What was decided, by whom and when.")] = ()
    signatures: Annotated[tuple[Signatory, ...], Field(description="Who signs.")] = ()

    @staticmethod
    def template() -> str:
        """A file of answers that says nothing yet, with what each is about.

        Returns
        -------
        str
            The TOML.

        Examples
        --------
        >>> from anoncore import Answers
        >>> Answers.loads(Answers.template()) == Answers()
        True
        """
        return TEMPLATE

    def to_dict(self) -> dict[str, Any]:
        """The answers as plain values, without those that are empty.

        Returns
        -------
        dict of str to object
            What a file of them holds, and the table [dossier] of a recipe.

        Examples
        --------
        >>> from anoncore import Answers
        >>> Answers(title="Admissions", review={"by": "the board"}).to_dict()
        {'title': 'Admissions', 'review': {'by': 'the board'}}
        """
        return self.model_dump(mode="json", exclude_defaults=True)

    def decided_by(self, column: str) -> str:
        """Who decided the role of a column; empty where nobody said it.

        Parameters
        ----------
        column : str
            The column.

        Returns
        -------
        str
            The answer for the column, else the one for all others.
        """
        return self.roles_decided_by.get(column, self.roles_decided_by.get("*", ""))
