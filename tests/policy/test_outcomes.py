"""What an attempt can end in."""

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest

from django_jobqueue.models import Attempt
from django_jobqueue.policy import outcomes


def test_every_outcome_is_a_value():
    """Each name that an attempt's row may hold has its type."""
    names = {cls.__name__.lower() for cls in get_args(outcomes.Outcome)}

    assert names == {name.replace("_", "") for name in outcomes.OutcomeName}


def test_the_model_offers_the_same_outcomes():
    """The choices of Attempt.outcome are the names of the outcomes."""
    assert set(Attempt.Outcome.values) == set(outcomes.OutcomeName)


@pytest.mark.parametrize("cls", get_args(outcomes.Outcome))
def test_outcomes_are_frozen(cls):
    """An outcome that was reported cannot be changed on its way to the store."""
    outcome = cls(*([1.0] if cls is outcomes.Snoozed else []))

    with pytest.raises(FrozenInstanceError):
        setattr(outcome, fields(outcome)[0].name, None)
