"""Test the tests of the numerical core: change its code in random places, and count the changes that a test notices.

python tools/mutants.py                     # 40 mutants of each folder, seed 0
python tools/mutants.py --sample 100 --seed 7
python tools/mutants.py --sample 0          # every mutant: some days
python tools/mutants.py graphs partition    # some folders

mutmut creates the mutants, finds the tests that reach them, and runs those (`[tool.mutmut]` in pyproject.toml). The
last lines are a Markdown table; the mutants that no test noticed are listed above it, and `mutmut show NAME` prints
one. Mutants that only remove the guard from ``zip(..., strict=True)``, which only a programming error can trigger, do
not count. Lines with the comment ``pragma: no mutate`` are left out: what mutmut changes there changes no result, such
as the seed of a start vector, and the comment says why. The exit code is 1 if fewer than 90 % of the others were
noticed.
"""

import argparse
import random
import re
import subprocess
import sys
from collections import Counter

FOLDERS = ("views", "numerics", "graphs", "partition", "methods.ocbr")
CHEAP = "manyview.views.batches.*"  # running these makes all mutants, and finds the tests of each
NOTICED = ("killed", "timeout", "segfault", "suspicious")
ENOUGH = 0.9
GUARD = re.compile(r",?\s*strict=\w+\s*|,\s*(?=\))")


def mutmut(*words: str) -> str:
    """Run mutmut, and return what it printed."""
    done = subprocess.run([sys.executable, "-m", "mutmut", *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout)
    return done.stdout


def outcomes() -> dict[str, str]:
    """Return the outcome of each mutant so far, by name."""
    lines = (line.strip().rpartition(": ") for line in mutmut("results", "--all", "true").splitlines())
    return {name: outcome for name, _, outcome in lines if "__mutmut_" in name}


def is_guard(diff: str) -> bool:
    """Return whether a change only affects `strict` in a call of zip."""
    changed = [line[1:] for line in diff.splitlines() if re.match(r"[-+](?![-+]{2} )", line)]
    return bool(changed) and len({GUARD.sub("", line) for line in changed}) == 1


def sample(names: list[str], folder: str, size: int, seed: int) -> list[str]:
    """Draw mutants of a folder; all of them if size is 0."""
    own = sorted(name for name in names if name.startswith(f"manyview.{folder}."))
    return random.Random(f"{seed}, {folder}").sample(own, min(size or len(own), len(own)))


def table(drawn: dict[str, list[str]], found: dict[str, str]) -> tuple[list[str], float]:
    """Return the lines of a Markdown table, and the share of all mutants that were noticed."""
    head = ["| folder | mutants | noticed | guards | survived | reached by no test | score |", f"|---|{'---:|' * 6}"]
    counts = {folder: Counter(_kind(found[name]) for name in names) for folder, names in drawn.items()}
    total = sum(counts.values(), Counter())
    return head + [_row(folder, own) for folder, own in (counts | {"all": total}).items()], _score(total)


def _kind(outcome: str) -> str:
    return "noticed" if outcome in NOTICED else outcome if outcome in ("guard", "no tests") else "survived"


def _score(counts: Counter[str]) -> float:
    return counts["noticed"] / max(counts.total() - counts["guard"], 1)


def _row(folder: str, counts: Counter[str]) -> str:
    kinds = " | ".join(str(counts[kind]) for kind in ("noticed", "guard", "survived", "no tests"))
    return f"| {folder} | {counts.total()} | {kinds} | {_score(counts):.0%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER", help=f"of {', '.join(FOLDERS)}")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each folder; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", default="2", help="mutants at once")
    words = parser.parse_args()
    mutmut("run", "--max-children", words.processes, CHEAP)
    known = list(outcomes())
    drawn = {folder: sample(known, folder, words.sample, words.seed) for folder in words.folders}
    chosen = [name for names in drawn.values() for name in names]
    mutmut("run", "--max-children", words.processes, *chosen)
    found = outcomes()
    found |= {name: "guard" for name in chosen if found[name] == "survived" and is_guard(mutmut("show", name))}
    lines, score = table(drawn, found)
    missed = [f"{name}: {found[name]}" for name in chosen if found[name] not in NOTICED]
    print("\n".join([*missed, "", *lines]))
    sys.exit(1 if score < ENOUGH else 0)


if __name__ == "__main__":
    main()
