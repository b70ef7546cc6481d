"""`python -m benchwright`: the same as the `benchwright` command."""

from __future__ import annotations

import sys

from benchwright.cli import main

if __name__ == "__main__":
    sys.exit(main())
