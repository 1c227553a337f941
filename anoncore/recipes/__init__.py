"""A recipe holds everything that makes a release again; here it is read, written, run, and sent to an engine."""
