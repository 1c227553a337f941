"""What one takes away besides the tables: certificate and who signs it, report, mapping, recipe, script."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from anoncore import AnonymizationError, Release, ReleaseError, datasets, privacy
from anoncore.base.texts import listing
from anoncore.publishing import certify
from anoncore.publishing.certification.certifying import require_clear_names
from anoncore.publishing.certification.claimed_entries import require_drawn_seeds
from anoncore.publishing.certification.input_hash import new_key
from anoncore.publishing.export import write_tables
from anoncore.publishing.report import Subject, report
from anoncore.publishing.signing.signature import (
    PUBLIC,
    fingerprint,
    has_passphrase,
    read_private_key,
    read_public_key,
)
from anoncore.publishing.signing.signers import CHECK_STANDS, sign
from anoncore.recipes.prepared_columns import KEY_FILE
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.script import python_script
from anoncore.recipes.source import Source
from anoncore.release.mapping import value_mapping
from anoncore.table.preparation import secret_pseudonyms
from dashboard.board import making
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.serving import own_machine
from dashboard.session import browser, compute, state
from dashboard.session.workspace import Run

SIGNING_KEY, SIGNING_PASSPHRASE = "publish-signing-key", "publish-signing-passphrase"
NOBODY_SIGNS = (
    "Nobody signs this certificate: it proves what the tables show to everybody who checks it, and not who made it. "
    "Whoever has the tables could have made it."
)


@dataclass(frozen=True)
class Signer:
    """Who signs: a private key on this machine, its passphrase, and whose key it is, for people."""

    key: Path
    passphrase: str | None
    whose: str

    def signed(self, certificate: str) -> str:
        """A certificate with the signature in it."""
        return sign(certificate, self.key, self.passphrase)


def choose_signer() -> Signer | None:
    """Ask for the key and say by whose key the certificate is signed; None where nobody signs it.

    A private key belongs on its owner's machine, so that a page for others asks for none.
    """
    if not own_machine.is_served_alone():
        st.caption(
            f"{NOBODY_SIGNS} To sign it, take it away and run `anoncore sign` where your key lies; a private key does "
            "not belong on a server."
        )
        return None
    with st.expander("Sign the certificate"):
        path = st.text_input(
            "File of your private key",
            key=SIGNING_KEY,
            persist_state="session",
            placeholder="nobody signs",
            help="A file on this machine that `anoncore keygen` wrote. It is read when you take the release away.",
        ).strip()
        found, problem = _signer_with(path) if path else (None, "")
        if problem:
            st.warning(escaped(problem))
        st.caption(escaped(CHECK_STANDS))
    st.caption(NOBODY_SIGNS if found is None else f"The certificate is signed by {escaped(found.whose)}.")
    return found


def _signer_with(path: str) -> tuple[Signer | None, str]:
    """Who signs with the key in a file, or why nobody can."""
    try:
        key = own_machine.whole_path(path)
        passphrase = None
        if has_passphrase(key):
            passphrase = st.text_input("Passphrase of the key", key=SIGNING_PASSPHRASE, type="password") or None
            if passphrase is None:
                return None, "The key has a passphrase; type it."
        raw = read_private_key(key, passphrase).public_key().public_bytes_raw()
    except AnonymizationError as error:
        return None, str(error)
    return Signer(key, passphrase, _whose(key, raw)), ""


def _whose(key: Path, raw: bytes) -> str:
    """Whose key it is by the public key beside it, and the fingerprint that readers compare."""
    name = "your"
    try:
        public = read_public_key(key.with_name(key.name + PUBLIC))
        name = f"{public.name}'s" if public.raw == raw else name
    except AnonymizationError:
        pass
    return f"{name} key ({fingerprint(raw)})"


RECIPE_MEASURES = ("privacy.profile", "utility.information_loss")
MEASURES_OF_NOBODY = ("utility.two_way_error",)
"""What a recipe measures where rows are nobody's."""
MOST_COMPARED = 6
NO_ORIGINAL = "It sets the release against its original, which is not here."
NO_MAPPING = "No cell was made of a person's, so there is nothing to map."
BEING_MAPPED = "What became what is still being counted."
NUMBERS_KEY = "publish-numbers"
"""Where the page keeps how ranges of numbers are published."""


@dataclass(frozen=True)
class Paper:
    """A file to take away: its button, what it is in a sentence, and why it cannot be had (empty: it can)."""

    key: str
    title: str
    ending: str
    mime: str
    sentence: str
    make: Callable[[], str | bytes]
    missing: str = ""


def render(run: Run, signer: Signer | None = None) -> None:
    """Draw the buttons, each with its sentence, then the recipe's text and the certificate's key."""
    st.subheader("Take away")
    papers = [_certificate(run, signer), _report(run), *_comparison(run), _mapping(run), *_recipes(run)]
    for start in range(0, len(papers), 3):
        for column, paper in zip(st.columns(3), papers[start : start + 3], strict=False):
            _button(column, run, paper)
    with st.expander("Key of the certificate's input hash"):
        st.code(input_key(run), language=None)
        st.caption(
            "The certificate holds a hash of the original table that only this key opens: with both you can prove "
            "later of which table the release was made. Keep the key; don't publish it."
        )
    try:
        text = recipe(run).dumps()
    except AnonymizationError:
        return
    with st.expander("Show the recipe"):
        st.code(text, language="toml")


def _button(place: Any, run: Run, paper: Paper) -> None:
    file_name, key, is_missing = f"{file_stem(run)}{paper.ending}", f"publish-{paper.key}", bool(paper.missing)
    parts.download(
        paper.title,
        paper.key,
        paper.make,
        file_name,
        paper.mime,
        key,
        run,
        place,
        disabled=is_missing,
        width="stretch",
    )
    place.caption(escaped(paper.missing) if paper.missing else paper.sentence)


def file_stem(run: Run) -> str:
    """A file name without its ending from the table's and the method's names."""
    method = run.title if run.algorithm is None else run.algorithm.name
    words = f"{run.table_name.rsplit('.', 1)[0]} {method}".lower()
    return re.sub(r"[^\w]+", "-", words).strip("-")


def input_key(run: Run) -> str:
    """The key of the run's input hash, the same as long as the run is there."""

    def make(_release: Release) -> str:
        return new_key()

    return compute.cached("certificate.key", run, make)


def chosen_release(run: Run) -> Release:
    """The release with its ranges of numbers in the form that was chosen on the page."""
    return replace(run.release, numbers=st.session_state.get(NUMBERS_KEY, "text"))


def guessable_key(run: Run) -> str:
    """Where the page keeps whether a run is certified although its seed can be guessed."""
    return f"publish-guessable-{run.id}"


def may_be_guessed(run: Run) -> bool:
    """Whether somebody asked for the certificate of a run although its seed can be guessed."""
    return bool(browser.widget_value(guessable_key(run), False))


def uncertified(run: Run) -> str:
    """Why there is no certificate, and so no release to take away; empty where there is one."""
    is_known = making.has_known_seed(run)
    instead = "Draw the release anew above." if is_known else "Empty its field Seed on the board, or ask for it above."
    try:
        require_drawn_seeds(run.algorithm, may_be_guessed(run) and not is_known, instead)
    except AnonymizationError as error:
        return str(error)
    promised = compute.cached("privacy.personal_guarantees", run, privacy.personal_guarantees)
    if run.release.is_synthetic and not promised:
        return "A certificate states what holds of groups of people, and the rows of this table are nobody's."
    found = compute.cached("privacy.guarantees", run, privacy.guarantees)
    broken = next((one.sentence for one in found if not one.holds), "")
    if broken:
        return f"There is no certificate for what does not hold. {broken}"
    try:
        require_clear_names(run.release.attributes)
    except AnonymizationError as error:
        return str(error)
    return ""


def _certificate(run: Run, signer: Signer | None = None) -> Paper:
    release, asked, guessable = chosen_release(run), state.asked_of_all(run), may_be_guessed(run)

    def make() -> str:
        cache, key = compute.cache_of(run), input_key(run)
        text = certify(release, key, cache=cache, asked=asked, guessable_seed=guessable).dumps()
        return text if signer is None else signer.signed(text)

    return Paper(
        "certificate",
        "Certificate (JSON)",
        "-certificate.json",
        "application/json",
        "For publication: what holds and by whose definition. `anoncore verify` re-checks it from the published files "
        "alone, in any of the formats.",
        make,
        uncertified(run),
    )


def subject(run: Run) -> Subject:
    """The run as a report sees it; what was measured before is not measured again."""
    return Subject(
        run.label,
        chosen_release(run),
        run.table_name,
        compute.cache_of(run),
        run.color_index,
    )


def _report(run: Run) -> Paper:
    return Paper(
        "report",
        "Report (HTML)",
        "-report.html",
        "text/html",
        "For you: what holds, what an adversary gets, what it costs, with plots, definitions and sources, on one page "
        "that needs no network. Takes some seconds.",
        lambda: report([subject(run)]),
        "" if run.data.knows_rows else NO_ORIGINAL,
    )


def _comparison(run: Run) -> list[Paper]:
    """A report that sets this release beside those of the other columns."""
    others = [one for one in state.runs() if one.data.knows_rows and one.id != run.id][: MOST_COMPARED - 1]
    if not others or not run.data.knows_rows:
        return []
    return [
        Paper(
            "comparison",
            f"Comparison of {len(others) + 1} releases (HTML)",
            "-comparison.html",
            "text/html",
            f"The same for this release beside {', '.join(escaped(one.label) for one in others)}, on one scale.",
            lambda: report([subject(one) for one in (run, *others)]),
        )
    ]


def _mapping(run: Run) -> Paper:
    missing = NO_ORIGINAL if not run.data.knows_rows else NO_MAPPING if run.release.is_synthetic else ""
    if missing:
        return Paper("mapping", "Mapping (CSV)", "-mapping.csv", "text/csv", "", bytes, missing)
    found = parts.soon("What became what is counted", run, value_mapping)
    if found is None:
        return Paper("mapping", "Mapping (CSV)", "-mapping.csv", "text/csv", "", bytes, BEING_MAPPED)

    def make() -> bytes:
        content = io.BytesIO()
        write_tables({"mapping": found.frame}, content, "csv")
        return content.getvalue()

    secret = "-not-for-publication" if found.not_for_publication else ""
    return Paper(
        "mapping",
        "Mapping (CSV)",
        f"-mapping{secret}.csv",
        "text/csv",
        f"What became what, value by value, with the number of rows. {escaped(found.sentence)}",
        make,
        "" if len(found.frame) else found.sentence,
    )


def _recipes(run: Run) -> list[Paper]:
    try:
        found, missing = recipe(run), ""
    except AnonymizationError as error:
        found, missing = None, str(error)
    held = () if found is None else found.holds_values_of
    secret = "-not-for-publication" if held else ""
    warning = f" Not for publication: it holds values of {escaped(listing(held))}." if held else ""
    answered = " It has the answers of the dossier, so keep it in your house." if state.answers(run).to_dict() else ""
    return [
        Paper(
            "recipe",
            "Recipe (TOML)",
            f"{secret}.toml",
            "application/toml",
            "Source, tags, method and requirements: `anoncore run` makes such a release from it again, also from a "
            "larger table. A seed is never written into it: with it a reader could undo the random choices."
            + warning
            + answered,
            lambda: found.dumps() if found is not None else "",
            missing,
        ),
        Paper(
            "script",
            "Script (Python)",
            f"{secret}.py",
            "text/x-python",
            "The same recipe as a short Python script, to go on from. It holds no seed either." + warning,
            lambda: python_script(found) if found is not None else "",
            missing,
        ),
        *([] if run.data.pseudonym is None else [_pseudonym_key(run)]),
    ]


def _pseudonym_key(run: Run) -> Paper:
    return Paper(
        "pseudonym-key",
        "Key of the pseudonyms",
        "-not-for-publication.key",
        "text/plain",
        f"Keep it, and don't publish it: whoever has it finds everybody whose id they know. Save it as {KEY_FILE} "
        "beside the recipe, and later releases have the same pseudonyms.",
        lambda: secret_pseudonyms(bytes.fromhex(run.tags.secret)).file_text,
    )


def recipe(run: Run) -> Recipe:
    """The recipe of a run. A table of one's own is named by its file, which is expected beside the recipe.

    Raises ReleaseError for a release that was made elsewhere.
    """
    if run.algorithm is None:
        raise ReleaseError("This release was made elsewhere, so nothing here makes it again.")
    # To find the rules of its hierarchies may take a second.
    numbers = chosen_release(run).numbers
    made = compute.cached("dashboard.recipe", run, lambda _release, _numbers: _recipe(run), numbers)
    return replace(made, dossier=state.answers(run))


def _recipe(run: Run) -> Recipe:
    assert run.algorithm is not None, "its recipe was asked for"
    entry = next((entry for entry in datasets.tables().values() if entry.title == run.table_name), None)
    if entry is None:
        source = Source(path=run.table_name, sheet=run.table.sheet if run.table is not None else None)
    else:
        source = Source(builtin=entry.name, rows=run.data.n_rows if entry.generated else None)
    numbers = chosen_release(run).numbers
    measures = MEASURES_OF_NOBODY if run.release.is_synthetic else RECIPE_MEASURES
    return Recipe.of(source, run.data, run.algorithm, measures, numbers)
