"""What a policy holds: its fields, checked."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import ParameterError
from anoncore.base.extensions import load_extensions
from anoncore.base.toml_reading import Line, wrong_key
from anoncore.front.policy.sections import Context, Levels, Limit, Name, Refuse, measure_named, require_fitting


@checked_methods
class Rules(BaseModel):
    """The fields of a policy. Raises ParameterError with one sentence that names the key for what is wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Policy of a release by anoncore")

    format: Annotated[Literal[1], Field(description="The format in which the policy is written.")] = 1
    name: Annotated[Name, Field(description="What the policy is called.")]
    source: Annotated[
        Line,
        Field(description="Who made the rules, and when or where."),
    ] = ""
    purpose: Annotated[
        Line,
        Field(description="What the policy is for, in a sentence."),
    ] = ""
    context: Annotated[Context, Field(description="Who receives the release, which is no rule.")] = Context()
    levels: Annotated[Levels, Field(description="What every group has to keep.")] = Levels()
    risks: Annotated[dict[str, Limit], Field(description="Limits by the name of a measure.")] = {}
    refuse: Annotated[Refuse, Field(description="What must not be published at all.")] = Refuse()

    def __init__(self, **fields: Any) -> None:
        load_extensions()
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise ParameterError(wrong_key(error, "policy", Rules)) from None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for name, limit in self.risks.items():
            require_fitting(measure_named(name), limit)
        if not self.levels.model_dump(exclude_none=True) and not self.risks and not self.refuse.refuses:
            raise ValueError(
                "it has no rule; write one under [levels], [risks] or [refuse], such as k = 11 under [levels]"
            )
        return self
