"""`python -m whygrad` is the `whygrad` command."""

import sys

from whygrad.cli import main

if __name__ == "__main__":
    sys.exit(main())
