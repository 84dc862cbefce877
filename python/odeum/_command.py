"""The command `odeum`, as the console script of this package."""

from __future__ import annotations

import signal
import sys

from odeum import _nvrtc, _odeum


def main() -> int:
    """Runs the command with the arguments of this process."""
    _nvrtc.load()
    # Python would note Ctrl-C and go on until the command returns. As without Python it ends the process,
    # and a run that can be stopped in an orderly way hears it itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _odeum.command(["odeum", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
