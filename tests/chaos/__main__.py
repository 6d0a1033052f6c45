"""Run the chaos: `python -m tests.chaos [--full] [--out FILE] [--seed N] [--shards N] [pytest arguments]`.

The random mix of all faults goes on for half an hour with
`python -m tests.chaos --full --minutes 30 --shards 1 tests/chaos/test_everything.py`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.chaos.harness.process import ROOT, dying_with_us
from tests.chaos.harness.report import table

NO_TESTS = 5
"""pytest's exit code where nothing was selected: a shard may have nothing to do."""


def main():
    """Run the shards, each with a server of its own, and write the table of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--full", action="store_true", help="at least thirty injections of each fault, every mutant")
    parser.add_argument("--minutes", default="", help="so long the random mix of all faults goes on, at least")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    parser.add_argument("--seed", default="", help="of an earlier run; random if not given")
    parser.add_argument("--shards", type=int, default=2, help="so many runs side by side; 2 if not given")
    known, others = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="django-jobqueue-chaos-rows-") as folder:
        shards = [start(number, known, others, Path(folder)) for number in range(known.shards)]
        # Told to stop, the shards clean up and end, and so does this.
        signal.signal(signal.SIGTERM, lambda *_: [shard.terminate() for shard in shards])
        codes = [shard.wait() for shard in shards]
        rows = [json.loads(line) for path in sorted(Path(folder).iterdir()) for line in path.read_text().splitlines()]
    text = table(sorted(rows))
    print(f"\n{text}")
    if known.out:
        known.out.write_text(text + "\n")
    ran = [code for code in codes if code != NO_TESTS]
    return max(map(abs, ran), default=NO_TESTS)


def start(number, known, others, folder):
    """Start one shard: pytest on every nth test."""
    environment = os.environ | {
        "CHAOS_SIZE": "full" if known.full else "",
        "CHAOS_SEED": known.seed,
        "CHAOS_MINUTES": known.minutes,
        "CHAOS_SHARD": f"{number}/{known.shards}",
        "CHAOS_ROWS": str(folder / f"rows-{number}"),
    }
    files = [] if any(Path(word.split("::")[0]).exists() for word in others) else ["tests/chaos"]
    command = [sys.executable, "-m", "pytest", *files, "-m", "chaos", "-p", "no:cacheprovider", "-q", *others]
    return subprocess.Popen(command, cwd=ROOT, env=environment, preexec_fn=dying_with_us(signal.SIGTERM))  # noqa: PLW1509


if __name__ == "__main__":
    sys.exit(main())
