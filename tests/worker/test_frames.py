"""Frames: payloads come out whole, however the bytes arrive, and mean what was meant."""

import socket
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.registry import Registry
from django_jobqueue.worker.executor import Order
from django_jobqueue.worker.frames import MAX_FRAME_BYTES, FrameReader, pack
from django_jobqueue.worker.runner import RunnerPlan, _Runner
from tests.worker.flights import MOMENT, flight
from tests.worker.orders import BOUNDS

PAYLOADS = [b"", b"a", b"\x00\x00\x00\x05", "Ünïcødé 🎈".encode(), b"x" * 300_000]


def test_many_frames_in_one_read_come_out_apart():
    """Frames that arrive together are cut where each ends, in their order."""
    assert FrameReader().feed(b"".join(map(pack, PAYLOADS))) == PAYLOADS


def test_a_frame_that_arrives_byte_by_byte_comes_out_whole():
    """Half a length and half a payload wait for the rest."""
    reader = FrameReader()

    answers = [reader.feed(bytes([byte])) for byte in pack(b"hello")]

    assert answers == [[]] * 8 + [[b"hello"]]


def test_half_a_frame_waits_for_the_rest():
    """What a stopped runner left half said is finished when it goes on; the frame after it is not lost."""
    reader = FrameReader()
    data = pack(b"first") + pack(b"second")

    assert reader.feed(data[:12]) == [b"first"]
    assert reader.feed(data[12:]) == [b"second"]


def test_nothing_read_is_nothing_said():
    """An empty read answers with nothing and disturbs nothing."""
    reader = FrameReader()
    reader.feed(pack(b"whole")[:6])

    assert reader.feed(b"") == []
    assert reader.feed(pack(b"whole")[6:]) == [b"whole"]


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=12))
def test_any_cut_gives_the_same_frames(payloads, cuts):
    """Wherever the kernel cuts the stream, the same payloads come out in the same order."""
    data = b"".join(map(pack, payloads))
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    reader = FrameReader()

    answers = [answer for start, end in pairwise(edges) for answer in reader.feed(data[start:end])]

    assert answers == payloads


@pytest.mark.parametrize("length", [MAX_FRAME_BYTES + 1, 0xFFFFFFFF])
def test_a_length_that_no_peer_sends_is_refused(length):
    """A length beyond the limit is an error at once, before anything of that size is waited for."""
    with pytest.raises(ValueError, match=str(length)):
        FrameReader().feed(length.to_bytes(4, "big"))


def test_the_largest_length_is_waited_for():
    """A length at the limit is no error."""
    assert FrameReader().feed(MAX_FRAME_BYTES.to_bytes(4, "big")) == []


def test_an_order_is_understood_as_it_was_meant(monkeypatch):
    """Its fields go by position; each arrives under its own name."""
    keeper, own = socket.socketpair()
    runner = _Runner(own, Registry({}), RunnerPlan(threads=0, bounds=BOUNDS))
    taken = []
    monkeypatch.setattr(runner, "_take", taken.append)
    meant = flight(
        timeout=5, attempt_number=2, version=4, edit_count=3, args="[1]", kwargs='{"a": 2}', enqueued_at="yesterday"
    )

    runner._obey(meant.order())

    assert taken == [
        Order(
            ticket=meant.ticket,
            job_id=meant.claimed.id,
            attempt_number=2,
            task="shop.charge",
            version=4,
            edit_count=3,
            enqueued_at="yesterday",
            started_at=MOMENT,
            last_attempted_at=MOMENT,
            worker_ids=["w"],
            token=str(meant.token),
            is_limited=True,
            args="[1]",
            kwargs='{"a": 2}',
        )
    ]
    keeper.close()
    own.close()
