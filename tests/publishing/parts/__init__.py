"""Releases in parts: certificates, verification, reports."""
