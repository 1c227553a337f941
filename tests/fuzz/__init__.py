"""Random and broken inputs for everything that takes a file, a text or parameters; `python -m tests.fuzz --help`."""
