"""What waits for the disk is bounded, and what is left out is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from store.samples import rows, same, track
from whygrad.store.backlog import Backlog
from whygrad.store.rows import joined

TRACK = track(2)


def test_rows_come_out_as_they_went_in() -> None:
    backlog = Backlog(1 << 20)
    for start in range(0, 100, 10):
        backlog.add(1, TRACK, rows(TRACK, range(start, start + 10)))

    ((number, taken),) = backlog.take()

    assert number == 1
    assert same(taken, rows(TRACK, range(100)))
    assert backlog.take() == []
    assert backlog.thinned == 0


@given(
    chunks=st.lists(st.integers(1, 20), min_size=1, max_size=30),
    room=st.integers(1, 40),
    tracks=st.lists(st.integers(1, 2), min_size=30, max_size=30),
)
def test_never_more_than_the_limit_and_nothing_vanishes_uncounted(
    chunks: list[int], room: int, tracks: list[int]
) -> None:
    backlog = Backlog(room * TRACK.row_bytes)
    given_steps: dict[int, list[int]] = {1: [], 2: []}
    step = 0
    for size, number in zip(chunks, tracks, strict=False):
        backlog.add(number, TRACK, rows(TRACK, range(step, step + size)))
        given_steps[number].extend(range(step, step + size))
        step += size
        assert backlog.nbytes <= max(backlog.limit, 2 * TRACK.row_bytes)

    taken = dict(backlog.take())

    kept = {number: part.steps.tolist() for number, part in taken.items()}
    assert sum(map(len, kept.values())) + backlog.thinned == step
    for number, steps in kept.items():
        assert steps == sorted(set(steps))
        assert set(steps) <= set(given_steps[number])
        assert steps[-1] == given_steps[number][-1]  # the newest is always there
        assert same(taken[number], rows(TRACK, steps))


def test_thinned_rows_are_spread_over_the_whole_stretch() -> None:
    backlog = Backlog(64 * TRACK.row_bytes)
    for step in range(1000):
        backlog.add(1, TRACK, rows(TRACK, [step]))

    ((_, taken),) = backlog.take()

    gaps = taken.steps[1:] - taken.steps[:-1]
    assert taken.steps[0] < 64
    assert gaps.max() <= 100  # an even spread over 32 to 64 rows would be 16 to 32


def test_what_is_put_back_comes_before_what_came_since() -> None:
    backlog = Backlog(1 << 20)
    backlog.add(1, TRACK, rows(TRACK, range(5)))
    taken = backlog.take()
    backlog.add(1, TRACK, rows(TRACK, range(5, 8)))
    backlog.put_back(taken)

    ((_, again),) = backlog.take()

    assert same(again, joined(TRACK, [rows(TRACK, range(8))]))
