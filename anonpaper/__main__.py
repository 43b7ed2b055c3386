"""``python -m anonpaper``: see :mod:`anonpaper.cli`."""

import sys

from anonpaper.cli import main

if __name__ == "__main__":
    sys.exit(main())
