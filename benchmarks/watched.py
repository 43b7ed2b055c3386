"""Run one command, and say how it ended: `watched.py SECONDS COMMAND ...` prints JSON.

A process of its own, and a small one: a child's peak memory begins at that of its parent.
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys

seconds = int(sys.argv[1])  # of processor time, which does not depend on what else runs
tool = subprocess.Popen(
    sys.argv[2:], stdout=sys.stderr, start_new_session=True,
    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
)  # fmt: skip
try:
    code = tool.wait(20 * seconds)
except subprocess.TimeoutExpired:
    code = -signal.SIGKILL
with contextlib.suppress(ProcessLookupError):
    os.killpg(tool.pid, signal.SIGKILL)  # what it left behind, too
tool.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
unit = 2**20 if sys.platform == "darwin" else 2**10
print(json.dumps({
    "code": code, "seconds": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss / unit,
}))  # fmt: skip
