"""What a worker's log is told, once."""

import logging

from django_jobqueue.worker.news import News


def test_pauses_are_told_when_they_begin_and_end(caplog):
    """One line at INFO for each change, however often a worker looks."""
    news = News()
    with caplog.at_level(logging.INFO, "django_jobqueue.worker"):
        for there_are in (False, True, True, False, False):
            news.pauses(there_are=there_are)

    first, last = caplog.records
    assert first.getMessage().startswith("something is paused, and is not claimed; ")
    assert last.getMessage() == "nothing is paused any more"
    assert {record.levelno for record in caplog.records} == {logging.INFO}
