"""What a runner does with the streams that jobs print to."""

import io
import sys

import pytest

from django_jobqueue.worker.process import flush_streams, speak_in_lines


def closed():
    """A stream that somebody has closed."""
    stream = io.TextIOWrapper(io.BytesIO())
    stream.close()
    return stream


def test_a_runner_prints_in_lines(monkeypatch):
    """A line is written out at its end, also where nobody sits in front of it."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(written)))
    speak_in_lines()
    print("a line")

    assert written.getvalue() == b"a line\n"


@pytest.mark.parametrize("stream", [None, closed(), io.StringIO(), object()], ids=["none", "closed", "text", "odd"])
def test_a_runner_puts_up_with_any_stream(monkeypatch, stream):
    """A stream that was closed, or replaced by something of the project's own, does not keep a runner from its work."""
    monkeypatch.setattr(sys, "stdout", stream)
    speak_in_lines()
    flush_streams()
