"""The command `odeum`, as the console script of this package."""

from __future__ import annotations

import sys

from odeum import _nvrtc, _odeum


def main() -> int:
    """Runs the command with the arguments of this process."""
    _nvrtc.load()
    return _odeum.command(["odeum", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
