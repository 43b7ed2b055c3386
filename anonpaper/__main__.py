"""``python -m anonpaper``: see :mod:`anonpaper.owner.cli`."""

import sys

from anonpaper.owner.cli import main

if __name__ == "__main__":
    sys.exit(main())
