"""One self-contained HTML report of a release, or of several side by side."""

from anoncore.publishing.report.document import MOST, report
from anoncore.publishing.report.subject import Subject

__all__ = ["MOST", "Subject", "report"]
