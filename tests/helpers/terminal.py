"""A shell on a terminal of its own, as somebody sits in front of it."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 120  # seconds: each Tab starts the program
CLEAR_LINE = "\x15"


class Terminal:
    """What a shell shows, and a keyboard."""

    def __init__(self, handle):
        self.handle, self.shown = handle, ""

    @classmethod
    @contextmanager
    def of_bash(cls, home):
        """Install completion as users do, then start bash."""
        (home / "tumours.csv").touch()
        binaries = str(Path(sys.executable).parent)
        environment = {"HOME": str(home), "PATH": f"{binaries}:/usr/bin:/bin", "SHELL": "/bin/bash", "TERM": "dumb"}
        environment |= {"LC_ALL": "C.UTF-8", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        install = ["bash", "-c", "manyview --install-completion bash && true"]  # `true`: bash must stay the parent
        subprocess.run(install, env=environment, cwd=home, check=True, capture_output=True)
        ours, theirs = pty.openpty()
        shell = subprocess.Popen(
            ["bash", "-i"],
            env=environment,
            cwd=home,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            yield cls(ours)
        finally:
            shell.kill()
            shell.wait()
            os.close(ours)

    def type(self, keys):
        """Type on an empty line."""
        self.shown = ""
        os.write(self.handle, (CLEAR_LINE + keys).encode())

    def shows(self, text):
        """Wait for a text; give up after a while."""
        end = time.monotonic() + PATIENCE
        while text not in self.shown and time.monotonic() < end:
            if select.select([self.handle], [], [], 1)[0]:
                self.shown += re.sub(r"\x1b\[[\d;?]*[A-Za-z]|[\x07\b]", "", os.read(self.handle, 4096).decode())
        return text in self.shown
