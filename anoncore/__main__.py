"""`python -m anoncore`: the command line, where the program `anoncore` is not on the path."""

import sys

from anoncore.cli import main

if __name__ == "__main__":
    sys.exit(main())
