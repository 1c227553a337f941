"""The pages that look closer at a release."""
