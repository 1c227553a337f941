"""The command `anoncore dossier`: what a person reads, prints and signs before a table leaves the house."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from anoncore.base.errors import ParameterError
from anoncore.base.extras import require
from anoncore.base.progress import Progress, part_of
from anoncore.cli.exit_codes import DONE, FAILS, add_strict_option, judged_code
from anoncore.cli.log import add_log_options, log
from anoncore.cli.office_rules import add_policy_option, policy_of
from anoncore.cli.output import (
    REPEATED,
    add_flag,
    add_json_option,
    add_reach_options,
    file_or_address,
    is_stream,
    named_file,
    print_json,
    require_free,
    require_one_output,
    tell,
    write_file,
)
from anoncore.cli.recipe_file import add_unit_option, load_recipe, tell_reading
from anoncore.cli.signing import add_trusted_option, read_trusted_keys, signature_findings
from anoncore.cli.sweep import ranges_of
from anoncore.cli.table_file import read_file, table_path
from anoncore.cli.verify import verified_release
from anoncore.front.dossier.dossier import Dossier
from anoncore.front.dossier.measured_treatment import CONSIDERED
from anoncore.front.dossier.other_draws import OTHER_DRAWS
from anoncore.front.policy.policy import Policy
from anoncore.publishing.certification.certificate import JoinedCertificate
from anoncore.publishing.certification.finding import Verification
from anoncore.publishing.report.drawing import WRITING_REPORT
from anoncore.publishing.signing.signers import signed_by
from anoncore.recipes.typed_answers import Answers
from anoncore.search.candidates import candidates
from anoncore.search.sweeping import Point, sweep
from anoncore.table.microdata import Microdata

CERTIFICATES = ".json"
"""How the file of a certificate ends; every other file is a recipe."""


def add_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of the command its options."""
    command.epilog = (
        "Of a recipe the release is made and everything measured; its tables are not written. Of a certificate the "
        "published files are counted, what it says beside that is called claimed, and what needs the original table is "
        "not measured. The exit code is that of the policy, or of the certificate where it does not hold."
    )
    command.add_argument(
        "certificate",
        type=file_or_address,
        nargs="?",
        metavar="RECIPE|CERTIFICATE",
        help="recipe (TOML), or certificate (JSON), or the folder of a large release or the address of a database "
        "(postgresql://), which have it in them",
    )
    command.add_argument(
        "files",
        type=file_or_address,
        nargs="*",
        help="with a certificate: the published files, or a folder of them, or the database (default: those it names)",
    )
    command.add_argument("--table", metavar="NAME", help="name of the release in a database, or schema.name")
    add_policy_option(command, " in section 6")
    command.add_argument(
        "--answers",
        type=named_file,
        metavar="FILE",
        help="what only people know (TOML): for whom, how long, which controls, who decided; see --template (default: "
        "what the recipe says under [dossier])",
    )
    command.add_argument(
        "--try",
        **REPEATED,
        dest="tried",
        metavar="'METHOD AXIS=VALUES ...'",
        help="releases that were considered instead, again for more, e.g. 'mondrian k=5,20'; each is made and attacked",
    )
    command.add_argument(
        "--control",
        type=table_path,
        metavar="TABLE",
        help="people who are not in the release, drawn as those were who are in it, to attack it with",
    )
    command.add_argument(
        "--draws",
        type=int,
        default=OTHER_DRAWS,
        metavar="NUMBER",
        help="of a method that draws at random: further draws that are measured, to say how far they lie apart "
        f"(default: {OTHER_DRAWS})",
    )
    command.add_argument(
        "--output",
        type=Path,
        default=Path("dossier.html"),
        help="HTML file to write, with the same as JSON beside it, or - for the standard output (default: "
        "dossier.html)",
    )
    add_flag(command, "--force", "replace files that are there")
    add_flag(command, "--template", "print a file of answers to fill in, and end")
    add_flag(command, "--schema", "print the JSON schema of dossiers, and end")
    add_trusted_option(command)
    add_strict_option(command)
    add_json_option(command)
    add_unit_option(command)
    add_reach_options(command)
    add_log_options(command)
    command.set_defaults(command=_dossier, no_hashes=False, recipe=None, key_file=None, known=None)


def _dossier(arguments: argparse.Namespace) -> int:
    if arguments.template:
        print(Answers.template(), end="")
        return DONE
    if arguments.schema:
        print_json(Dossier.schema())
        return DONE
    subject = arguments.certificate
    if subject is None:
        raise ParameterError("Name a recipe (.toml) or a certificate (.json), or ask for --template or --schema.")
    require_one_output(arguments)
    require(WRITING_REPORT, "jinja2")
    is_certificate = isinstance(subject, str) or subject.is_dir() or subject.suffix.lower() == CERTIFICATES
    _require_fitting(arguments, is_certificate)
    beside = arguments.output.with_suffix(".json")
    targets = [arguments.output] if is_stream(arguments.output) else [arguments.output, beside]
    for target in targets:
        require_free(target, arguments.force)
    policy = policy_of(arguments)
    answers = None if arguments.answers is None else Answers.load(arguments.answers)
    if is_certificate:
        dossier = _of_certificate(arguments, policy, answers or Answers())
    else:
        dossier = _of_recipe(arguments, policy, answers)
    texts = [dossier.to_html(), dossier.to_json()]
    for target, text in zip(targets, texts, strict=False):
        write_file(target, text.encode())
    lines = [dossier.reached.verdict]
    lines += [] if dossier.reached.policy is None else [dossier.reached.policy.headline]
    lines += [] if is_stream(arguments.output) else [f"Written: {' and '.join(map(str, targets))}"]
    tell(arguments, lines, {"written": [str(target) for target in targets], "dossier": dossier.to_dict()})
    # As for run: what a recipe publishes by decision was decided, and only --strict asks that it breaks nothing.
    return FAILS if arguments.strict and dossier.holds_if_unknown else judged_code(arguments, dossier.exit_code)


def _require_fitting(arguments: argparse.Namespace, is_certificate: bool) -> None:
    """Require options that go together. Raises ParameterError for others."""
    if is_certificate and (arguments.tried or arguments.control or arguments.unit):
        raise ParameterError("--try, --control and --unit need the original table; name the recipe, not a certificate.")
    if not is_certificate and (arguments.files or arguments.table):
        raise ParameterError("Published files are named after a certificate; of a recipe the release is made anew.")
    if not is_certificate and arguments.trusted_key:
        raise ParameterError("--trusted-key is about who signed a certificate; name the certificate, not the recipe.")
    if arguments.output.suffix.lower() == CERTIFICATES:
        raise ParameterError(f"'{arguments.output}' is where the JSON goes; name the HTML file, such as dossier.html.")


def _of_recipe(arguments: argparse.Namespace, policy: Policy | None, answers: Answers | None) -> Dossier:
    """The dossier of the release that a recipe describes; without other answers, with those of the recipe."""
    recipe = load_recipe(arguments.certificate, arguments)
    answers = recipe.dossier if answers is None else answers
    people = None if arguments.control is None else read_file(arguments.control)
    ranges = ranges_of(arguments.tried)
    with log().progress() as progress:
        run = recipe.run(part_of(progress, 0.0, 0.2))
        points = _considered(ranges, run.data, part_of(progress, 0.2, 0.4))
        control = None if people is None else run.data.with_same_tags(people)
        dossier = Dossier.of(
            run.release, policy, answers, points, control, arguments.draws, part_of(progress, 0.4, 1.0)
        )
    tell_reading(recipe)
    return dossier


def _considered(
    ranges: Mapping[str, Mapping[str, Sequence[float]]], data: Microdata, progress: Progress
) -> list[Point]:
    """The releases that were considered instead, each made and measured."""
    tried = candidates(ranges, data) if ranges else ()
    if not tried:
        return []
    measured = 0

    def take(_: int, __: Point) -> None:
        nonlocal measured
        measured += 1
        progress(measured / len(tried), f"Measuring what was considered instead, {measured} of {len(tried)}")

    progress(0.0, "Measuring what was considered instead")
    return [point for point in sweep(data, tried, list(CONSIDERED), take=take) if point is not None]


def _of_certificate(arguments: argparse.Namespace, policy: Policy | None, answers: Answers) -> Dossier:
    """The dossier of a release that was certified, from the certificate and what is published."""
    read_trusted_keys(arguments)
    release = verified_release(arguments)
    if isinstance(release.certificate, JoinedCertificate) or release.verifying is None:
        raise ParameterError("This is the certificate of several tables, and a dossier is of one; name its recipe.")
    signed = signed_by(release.content, arguments.trusted_key)
    found = Verification((*release.verification.findings, *signature_findings(arguments, signed)))
    return Dossier.of_verification(release.certificate, found, release.verifying, policy, answers, signed.sentence)
