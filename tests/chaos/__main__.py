"""Run the chaos: `python -m tests.chaos [--full] [--out FILE] [--seed N] [pytest arguments]`."""

import argparse
import os
import sys

import pytest

from tests.chaos.harness.process import ROOT


def main():
    """Translate the words for pytest."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--full", action="store_true", help="at least thirty injections of each fault")
    parser.add_argument("--out", help="write the table to this file")
    parser.add_argument("--seed", help="of an earlier run; random if not given")
    known, others = parser.parse_known_args()
    os.environ.update(
        {"CHAOS_SIZE": "full" if known.full else "", "CHAOS_SEED": known.seed or "", "CHAOS_OUT": known.out or ""}
    )
    os.chdir(ROOT)
    return pytest.main(["tests/chaos", "-m", "chaos", "-p", "no:cacheprovider", *others])


if __name__ == "__main__":
    sys.exit(main())
