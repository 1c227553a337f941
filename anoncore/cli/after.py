"""Earlier releases of the same people: the options that name them, and what both releases tell together."""

from __future__ import annotations

import argparse
from pathlib import Path

from anoncore.base.errors import ParameterError
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.earlier import Earlier
from anoncore.publishing.certification.laid_beside import laid_beside
from anoncore.publishing.saved_releases import saved_releases
from anoncore.release.release import Release


def add_after_options(run: argparse.ArgumentParser) -> None:
    """Give the command its options for earlier releases."""
    run.add_argument(
        "--after",
        type=Path,
        action="append",
        default=[],
        metavar="CERTIFICATE",
        help="certificate of an earlier release of the same people or some of them, again for more: the new one names "
        "it, with what it promised",
    )
    run.add_argument(
        "--after-release",
        type=Path,
        action="append",
        default=[],
        metavar="SESSION",
        help="saved session of the dashboard in which an earlier release was made that --after names, again for more: "
        "the certificate then says what both releases tell together",
    )
    run.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="with --after-release: the column, or again for the columns together, by which a row of both tables is "
        "the same person (default: the unit of the tables)",
    )


def earlier_certificates(arguments: argparse.Namespace) -> list[Certificate]:
    """The certificates of the earlier releases. Raises ParameterError for options that do not go together."""
    if arguments.after and arguments.no_certificate:
        raise ParameterError("--after names earlier releases in the certificate, which --no-certificate leaves out.")
    if arguments.after_release and not arguments.after:
        raise ParameterError("--after-release needs --after with the certificate of that earlier release.")
    if arguments.by and not arguments.after_release:
        raise ParameterError("--by is for --after-release: it says which rows of both tables are the same person.")
    return [Certificate.load(path) for path in arguments.after]


def earlier_entries(arguments: argparse.Namespace, release: Release, certificates: list[Certificate]) -> list[Earlier]:
    """What the new certificate says of the earlier releases."""
    releases = [one for path in arguments.after_release for one in saved_releases(path)]
    return laid_beside(release, certificates, releases, arguments.by)
