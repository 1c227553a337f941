"""Certificates of releases, and their verification from the published files alone."""

from anoncore.publishing.certification.certificate import Certificate, input_hash, new_key
from anoncore.publishing.certification.certifying import certify
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.verification import verify

__all__ = ["Certificate", "Finding", "Verification", "certify", "input_hash", "new_key", "verify"]
