"""Certificates of releases, and their verification from the published files alone."""

from anoncore.publishing.certification.certificate import Certificate, certify, input_hash, new_key
from anoncore.publishing.certification.verification import Finding, Verification, verify

__all__ = ["Certificate", "Finding", "Verification", "certify", "input_hash", "new_key", "verify"]
