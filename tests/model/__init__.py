"""A model of the queue, a machine that compares the two, and mutants that show that the machine has eyes."""

import pytest

# What the mirror asserts is what the table of mutants shows.
pytest.register_assert_rewrite("tests.model.mirror")
