"""The line that says that loops are compiled: shown on a terminal, and only while they are."""

import os
import pty
import subprocess
import sys

CALL = "import anonpaper as ap; ap.mondrian(ap.examples.hospital(), k=2)"


def seen_on_a_terminal(cache):
    """Return what a process that calls an algorithm writes to its terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("TQDM_DISABLE", None)
    running = subprocess.Popen([sys.executable, "-c", CALL], stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1024)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        shown += part
    os.close(ours)
    assert running.wait() == 0
    return shown.decode()


def test_a_first_call_says_that_it_compiles_and_a_second_one_nothing(tmp_path):
    first = seen_on_a_terminal(tmp_path)
    assert "compiling once" in first
    assert "Error" not in first
    assert seen_on_a_terminal(tmp_path) == ""
