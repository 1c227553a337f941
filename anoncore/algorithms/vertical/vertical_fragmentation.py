"""Vertical fragmentation: a wide table in several narrow ones that share nothing but the class attribute."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, SerializeAsAny

from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.base import AS_METHOD, Algorithm, Seed, require_groups
from anoncore.algorithms.mondrian import Mondrian
from anoncore.algorithms.vertical.attribute_fragments import (
    MOST_FRAGMENTS,
    AttributeFragments,
    fragment_attributes,
    given_fragments,
)
from anoncore.algorithms.vertical.changes import class_changes
from anoncore.algorithms.vertical.chunks import Segmentation, generalize_chunks
from anoncore.algorithms.vertical.fragment_data import part_of
from anoncore.algorithms.vertical.fragment_recodings import distorted, region_of, unlinked, value_sets
from anoncore.algorithms.vertical.mutual_information import BINS
from anoncore.algorithms.vertical.strategies import Strategy, enforced_counts
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.model import TupleOf
from anoncore.base.progress import Progress
from anoncore.base.texts import listing
from anoncore.privacy.joins import require_safe_joins
from anoncore.privacy.selectivity import MOST_K
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.requirements import DistinctDiversity, KAnonymity, Requirement, TCloseness
from anoncore.requirements.t_closeness import Ground
from anoncore.table.microdata import Microdata, Role

Generalization = Annotated[
    SerializeAsAny[Algorithm] | None,
    AS_METHOD,
    Field(
        title="Generalization",
        description="Algorithm that generalizes each fragment; empty: Mondrian at the median. Its k is the one above.",
    ),
]


class VerticalFragmentation(Algorithm):
    """Divides the attributes into fragments, generalizes each on its own, and publishes each with the class attribute.

    Fragments are chosen to tell much about the class and little of the same (FMRMR, see `fragment_attributes`), or
    given by hand. Every fragment is made k-anonymous by any generalizing algorithm. An adversary may join fragments on
    the class attribute, so every join of classes of different fragments must have no row or at least k.

    `enforce` says how class values are made to allow that. `naive`: each class publishes its majority class value.
    `dependency`: single values are changed, one by one, where a join needs it. `selectivity`: each class publishes only
    the set of its values, and values are taken out of sets until at least a share `delta` of the ways to fill the other
    rows makes the join reach k.

    With `l`, `t`, or requirements of `generalization` on sensitive values, no class value is changed. Rows are then cut
    into segments that satisfy the requirements, and each segment's fragments are generalized with the segment's own
    number of values (see `generalize_chunks`). As in the paper they are cut as far as that is allowable;
    `segmentation="as-needed"` cuts only as far as l needs it, which loses less where few values are enough. Joins then
    also have at least l different values, and `enforce` and `delta` play no part.

    Notes
    -----
    Assumes: readers want to learn about the class attribute; the adversary joins fragments on it, and knows the classes
      of a person in each.
    Cost: that of the generalizing algorithm on every fragment; joins of two fragments are counted by one product of
      matrices, a row per class.
    Use: there are so many attributes that one table would be blurred beyond use.
    Avoid: associations of attributes in different fragments are needed, or class values must all be true (then with l,
      t or requirements).

    References
    ----------
    Zakerzadeh, Aggarwal and Barker, Towards breaking the curse of dimensionality for high-dimensional privacy: an
    extended version, 2014.

    Examples
    --------
    Age and sex go into one fragment and the postcode into another. A join on the income has at least two people:

    >>> import pandas as pd
    >>> from anoncore import Microdata, privacy
    >>> from anoncore.algorithms import VerticalFragmentation
    >>> people = pd.DataFrame(
    ...     {
    ...         "age": [21, 22, 44, 46, 21, 22, 44, 46],
    ...         "postcode": [1, 2, 1, 2, 1, 2, 1, 2],
    ...         "sex": list("MMFFFFMM"),
    ...         "income": ["low", "low", "high", "high", "low", "low", "high", "high"],
    ...     }
    ... )
    >>> roles = {"age": "quasi-identifier", "postcode": "quasi-identifier", "sex": "quasi-identifier"}
    >>> data = Microdata(people, {**roles, "income": "sensitive"})
    >>> release = VerticalFragmentation(k=2, fragments=2, seed=0).anonymize(data)
    >>> [fragment.attributes for fragment in release.fragments]
    [('age', 'sex', 'income'), ('postcode', 'income')]
    >>> [fragment.partition.sizes.tolist() for fragment in release.fragments]
    [[2, 2, 2, 2], [4, 4]]
    """

    name = "vertical-fragmentation"
    title = "Vertical fragmentation"
    source = "Zakerzadeh, Aggarwal and Barker, SDM 2014, extended version"
    family = "fragmentation"
    grouping_fields = ("fragments", "class_attribute", "bins")
    summary = "Splits a wide table into narrow ones that need far less coarsening, each with the class to learn from."
    minimality = Minimality(
        Openness.OPEN,
        "The fragments are chosen by what they tell about the class attribute, and class values are changed, "
        "hidden or kept apart where joins need it, so the fragments and their groups depend on who has which "
        "class value.",
    )

    counts_rows = "it counts the rows that a join of its fragments may link, not the people behind them"

    k: Annotated[int, Field(ge=2, title="k", description="Smallest number of rows in a group and in a join.")] = 5
    fragments: Annotated[
        int | None,
        Field(ge=2, le=MOST_FRAGMENTS, title="Fragments", description="Number of fragments; empty: by the data."),
    ] = 2
    enforce: Annotated[
        Strategy,
        Field(title="Enforcement", description="How class values are changed or hidden so that joins reach k."),
    ] = "dependency"
    delta: Annotated[
        float, Field(gt=0, le=1, title="delta", description="Selectivity: smallest share of joins that reach k.")
    ] = 0.5
    l: Annotated[
        int | None, Field(ge=2, title="l", description="Different class values in every group and join; empty: none.")
    ] = None
    t: Annotated[
        float | None,
        Field(ge=0, le=1, title="t", description="Largest distance of a class's class values from the table's."),
    ] = None
    ground: Annotated[
        Ground, Field(title="Ground distance", description="For t: how far apart two class values are.")
    ] = "equal"
    attribute_fragments: Annotated[
        TupleOf[TupleOf[str]] | None,
        Field(min_length=2, title="Fragments by hand", description="The quasi-identifiers of each fragment."),
    ] = None
    class_attribute: Annotated[
        str | None,
        Field(title="Class attribute", description="Published in every fragment; empty: the only sensitive one."),
    ] = None
    generalization: Generalization = None
    bins: Annotated[
        int, Field(ge=2, title="Bins", description="Numbers are cut into so many bins to see what tells the same.")
    ] = BINS
    segmentation: Annotated[
        Segmentation,
        Field(title="Segments", description="With l or t: cut rows as far as it goes, or only as far as l needs it."),
    ] = "full"
    seed: Seed = None

    def resolve_class(self, data: Microdata) -> str:
        """The class attribute, which every fragment carries.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        str
            Its name.

        Raises
        ------
        DataError
            Where it is not clear which attribute it is, the attribute does not exist, or it is a quasi-identifier.
        """
        if self.class_attribute is None:
            names = data.require_sensitive()
            if len(names) > 1:
                raise DataError(
                    f"The table has {len(names)} sensitive attributes ({listing(names)}); name the one that every "
                    "fragment carries as class_attribute."
                )
            return names[0]
        if self.class_attribute not in data.attributes:
            raise DataError(
                f"There is no class attribute '{self.class_attribute}'; the table has {listing(data.attributes)}."
            )
        if data.roles[self.class_attribute] is Role.QUASI_IDENTIFIER:
            raise DataError(
                f"The class attribute '{self.class_attribute}' is a quasi-identifier, but every fragment publishes its "
                "exact values; tag it sensitive or insensitive."
            )
        return self.class_attribute

    def resolve_fragments(self, data: Microdata) -> AttributeFragments:
        """The fragments of a table.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        AttributeFragments
            The attributes of each fragment, and the mutual information behind them.

        Raises
        ------
        DataError
            Where the class attribute is not clear, or fragments given by hand do not fit the table.
        """
        common = self.resolve_class(data)
        if self.attribute_fragments is not None:
            return given_fragments(data, common, self.attribute_fragments, self.bins)
        return fragment_attributes(data, common, self.fragments, self.bins)

    def proposed_groups(self, data: Microdata) -> AttributeProposal:
        """The greedy fragments, without the class attribute that each of them carries."""
        chosen = fragment_attributes(data, self.resolve_class(data), self.fragments, self.bins)
        return AttributeProposal(
            word="fragment",
            groups=chosen.fragments,
            centre_word="seed",
            centres=chosen.seeds,
            association=chosen.information,
            measure="mutual information (nats)",
            meaning="How much one attribute tells of another: a fragment should tell much of the class, nothing twice.",
        )

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """k, and where asked for l and t of the class attribute and what the generalizing algorithm promises."""
        common = self.resolve_class(data)
        asked: list[Requirement] = [KAnonymity(k=self.k)]
        if self.l is not None:
            asked.append(DistinctDiversity(l=self.l, attribute=common))
        if self.t is not None:
            asked.append(TCloseness(t=self.t, ground=self.ground, attribute=common))
        own = () if self.generalization is None else self.generalization.promises(data)
        return (*asked, *(requirement for requirement in own if not isinstance(requirement, KAnonymity)))

    def keeps_class_values(self, data: Microdata) -> bool:
        """Whether no class value is changed, because l, t or another requirement asks something of sensitive values.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        bool
            True where segments are made instead of changing values.
        """
        return not all(requirement.attribute_free for requirement in self.promises(data))

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for roles or fragments that do not fit, InfeasibleError for a requirement the table fails."""
        super().validate_data(data)
        if self.enforce == "selectivity" and self.k > MOST_K:
            raise ParameterError(f"Selectivity is counted for k up to {MOST_K:,}, not {self.k:,}; choose 'dependency'.")
        if self.attribute_fragments is not None:
            self.resolve_fragments(data)
        elif len(data.quasi_identifiers) < (self.fragments or 2):
            raise DataError(
                f"{self.fragments or 2} fragments need as many quasi-identifiers, but the table has "
                f"{len(data.quasi_identifiers)}; choose fewer fragments or tag more attributes."
            )
        base = self.generalization
        if base is not None and base.family != "generalization":
            raise DataError(f"{base.title} does not generalize; choose an algorithm such as Mondrian.")
        if base is not None:
            require_groups(base)
        generalizer = self.generalizer(self.promises(data))
        names = (*data.quasi_identifiers, *data.sensitive)
        generalizer.validate_data(part_of(data, names, self.resolve_class(data)))

    def generalizer(self, requirements: tuple[Requirement, ...]) -> Algorithm:
        """The algorithm that generalizes a fragment under the given requirements.

        Parameters
        ----------
        requirements : tuple of Requirement
            What every class must satisfy.

        Returns
        -------
        Algorithm
            `generalization`, or Mondrian, with these requirements.

        Raises
        ------
        ParameterError
            Where the algorithm cannot be given one of the requirements.
        """
        base: Algorithm = self.generalization or Mondrian(requirements=())
        fields = type(base).model_fields
        changes: dict[str, Any] = {}
        if "seed" in fields and getattr(base, "seed", None) is None:
            changes["seed"] = self.seed
        if "requirements" in fields:
            return base.replace(requirements=requirements, **changes)
        for requirement in requirements:
            if isinstance(requirement, KAnonymity) and "k" in fields:
                changes["k"] = requirement.k
            elif self.l is not None and isinstance(requirement, DistinctDiversity):
                raise ParameterError(f"{base.title} cannot be asked for l different values; choose Mondrian, or no l.")
            elif (
                self.t is not None
                and isinstance(requirement, TCloseness)
                and isinstance(getattr(base, "t", None), float)
            ):
                changes["t"] = min(requirement.t, changes.get("t", 1.0))
            elif isinstance(requirement, KAnonymity) or (self.t is not None and isinstance(requirement, TCloseness)):
                raise ParameterError(f"{base.title} cannot be asked for {requirement.label()}; choose Mondrian.")
        return base.replace(**changes)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        progress(0.02, "Choosing fragments")
        chosen = self.resolve_fragments(data)
        promised = self.promises(data)
        if self.keeps_class_values(data):
            fragments, note = self._segmented(data, chosen, promised, progress)
        else:
            fragments, note = self._changed(data, chosen, promised, progress), ""
        release = Release(data, fragments, self)
        joins = require_safe_joins(release)
        notes = (*joins.sentences, note, class_changes(release).sentence)
        return Release(data, fragments, self, tuple(note for note in notes if note))

    def _changed(
        self, data: Microdata, chosen: AttributeFragments, promised: tuple[Requirement, ...], progress: Progress
    ) -> tuple[Fragment, ...]:
        """The fragments, each generalized on its own, with class values changed where joins need it."""
        generalizer = self.generalizer(promised)
        parts: list[tuple[Partition, dict[str, Recoding]]] = []
        for index, names in enumerate(chosen.fragments):
            progress(0.05 + 0.6 * index / len(chosen.fragments), f"Generalizing fragment {index + 1}")
            part = part_of(data, names, chosen.common)
            made = generalizer.anonymize(part).fragments[0]
            recodings = {
                name: region_of(made, name) if name in part.quasi_identifiers else made.recodings[name]
                for name in names
            }
            parts.append(unlinked(made.partition, recodings, parts[0][0]) if parts else (made.partition, recodings))
        progress(0.7, "Making joins safe")
        partitions = [partition for partition, _ in parts]
        changed = enforced_counts(data, chosen.common, partitions, self.enforce, self.k, self.delta, self.seed)
        publish = value_sets if self.enforce == "selectivity" else distorted
        return tuple(
            Fragment(
                f"fragment {number}",
                partition,
                recodings | {chosen.common: publish(data, chosen.common, partition, counts)},
            )
            for number, ((partition, recodings), counts) in enumerate(zip(parts, changed, strict=True), start=1)
        )

    def _segmented(
        self, data: Microdata, chosen: AttributeFragments, promised: tuple[Requirement, ...], progress: Progress
    ) -> tuple[tuple[Fragment, ...], str]:
        """Fragments generalized segment by segment, with the class values as they are."""
        takes_any = self.generalization is None or "requirements" in type(self.generalization).model_fields
        chunked = generalize_chunks(
            data,
            chosen.common,
            chosen.fragments,
            promised,
            self.generalizer,
            self.segmentation if takes_any else "none",
            lambda done: progress(0.05 + 0.8 * done, f"{done:.0%} of the segments generalized"),
        )
        fragments = []
        for number, (names, partition, regions) in enumerate(
            zip(chosen.fragments, chunked.partitions, chunked.regions, strict=True), start=1
        ):
            recodings: dict[str, Recoding] = {
                name: regions.get(name) or Exact(data.domain[name], partition, data.codes[name])
                for name in (*names, chosen.common)
            }
            own = unlinked(partition, recodings, chunked.partitions[0]) if number > 1 else (partition, recodings)
            fragments.append(Fragment(f"fragment {number}", *own))
        note = (
            f"{chunked.n_segments:,} segment{'s' * (chunked.n_segments != 1)} of rows; groups merged with others to "
            f"make joins safe: {chunked.n_merged:,}."
        )
        return tuple(fragments), note
