"""The mutants of the chaos: what they break is still there."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_mutant_still_breaks_what_it_is_meant_to_break():
    """Each finds the words and the methods that it replaces, called as they are today.

    The hunts take minutes and are run by hand. Meanwhile a mutant may come to end in a TypeError, which any rule finds.
    """
    check = subprocess.run(
        [sys.executable, "-m", "tests.chaos.mutants"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert check.returncode == 0, check.stderr
