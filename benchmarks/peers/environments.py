"""The peers of peers.toml, each with its own environment."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MARK = "installed.txt"  # marks a complete environment, and records its recipe


@dataclass(frozen=True)
class Peer:
    """A package to measure: how it is installed, and which of its methods take part in which command."""

    name: str
    adapter: str
    pip: tuple[str, ...] = ()
    accuracy: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def python(self, envs: Path) -> Path:
        """The interpreter that runs the adapter."""
        return envs / self.name / "bin" / "python" if self.pip else Path(sys.executable)

    def is_ready(self, envs: Path) -> bool:
        """Whether the environment was made from the present recipe."""
        mark = envs / self.name / MARK
        return not self.pip or (mark.exists() and mark.read_text() == "\n".join(self.pip))

    def install(self, envs: Path) -> str:
        """Make the environment if necessary; return "ready", or the last message of pip."""
        if self.is_ready(envs):
            return "ready"
        folder, python = envs / self.name, str(self.python(envs))
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for command in ([sys.executable, "-m", "venv", "--clear", str(folder)], *(pip + x.split() for x in self.pip)):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                messages = done.stderr.strip().splitlines() or ["no reason given"]
                return f"failed: {messages[-1]}"
        (folder / MARK).write_text("\n".join(self.pip))
        return "ready"


def read_peers(only: list[str]) -> list[Peer]:
    """All peers, or those named."""
    recipes = tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))
    unknown = sorted(set(only) - set(recipes))
    if unknown:
        sys.exit(f"Unknown peer {', '.join(unknown)}. Choose from: {', '.join(recipes)}.")
    return [
        Peer(name, **{key: tuple(value) if isinstance(value, list) else value for key, value in recipe.items()})
        for name, recipe in recipes.items()
        if name in only or not only
    ]


def setup(peers: list[Peer], envs: Path) -> Iterator[list[object]]:
    """Make the environments, and yield a row of the table for each."""
    for peer in peers:
        yield [peer.name, "; ".join(peer.pip) or "the environment of this run", peer.install(envs)]
