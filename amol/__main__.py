"""``python -m amol`` is the command ``amol``."""

import sys

from amol.cli import main

if __name__ == "__main__":
    sys.exit(main())
