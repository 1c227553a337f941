"""Certificates of releases, and their verification from the published files alone."""
