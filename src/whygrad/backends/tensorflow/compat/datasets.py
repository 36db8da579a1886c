"""Data sets that are made of arrays: what is in them, told without going through them, and how they were shuffled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import tensorflow as tf

# What gives the elements it is given, all of them: in another order, in batches, again, later.
_KEEPING: Final = ("Batch", "Shuffle", "Prefetch", "Repeat", "Cache", "Options", "Model")
_CUTTING: Final = ("Take", "Skip", "Shard")


def is_dataset(thing: Any) -> bool:
    return isinstance(thing, tf.data.Dataset)


def arrays_in(dataset: Any) -> Any:
    """The tensors that a data set was made of, whole and in its own structure; None where it is not known."""
    if _is(dataset, "TensorSlice"):
        return tf.nest.pack_sequence_as(dataset.element_spec, list(getattr(dataset, "_tensors", ())))
    if _is(dataset, "Zip"):
        parts = [arrays_in(each) for each in _inputs(dataset)]
        return None if any(each is None for each in parts) else tuple(parts)
    return arrays_in(_inputs(dataset)[0]) if _is(dataset, *_KEEPING) and len(_inputs(dataset)) == 1 else None


def are_shuffled_apart(dataset: Any) -> bool:
    """Whether inputs and targets are put together after each was shuffled by itself.

    A data set that is shuffled anew each time it is gone through has another order for each that takes from it.
    """
    for each in _behind(dataset):
        if _is(each, "Zip"):
            shuffles = [[s for s in _behind(part) if _is(s, "Shuffle")] for part in _inputs(each)]
            orders = {tuple(map(_order, one)) for one in shuffles}
            taken = Counter(id(s) for one in shuffles for s in one if _reshuffles(s))
            return any(map(bool, orders)) and (len(orders) > 1 or max(taken.values(), default=0) > 1)
    return False


def is_shuffled_before_cut(one: Any, other: Any) -> bool:
    """Whether two data sets are parts of one that is shuffled anew each time: a row is now in one, now in the other."""
    cut = [each for each in _behind(one) if _is(each, *_CUTTING)], [e for e in _behind(other) if _is(e, *_CUTTING)]
    if not all(cut):
        return False
    below = [{id(each) for each in _behind(last[-1]) if _reshuffles(each)} for last in cut]
    return bool(below[0] & below[1])


def _reshuffles(dataset: Any) -> bool:
    return _is(dataset, "Shuffle") and getattr(dataset, "_reshuffle_each_iteration", None) is not False


def _order(shuffle: Any) -> object:
    """The same for two shuffles that give one order; without a seed none do."""
    seeds = tuple(int(getattr(shuffle, name, 0)) for name in ("_seed", "_seed2", "_buffer_size"))
    return seeds if any(seeds[:2]) else id(shuffle)


def _behind(dataset: Any) -> Iterator[Any]:
    """A data set and those that it takes its elements from, the nearest first."""
    waiting = [dataset]
    while waiting:
        each = waiting.pop(0)
        yield each
        waiting += _inputs(each)


def _inputs(dataset: Any) -> list[Any]:
    return list(getattr(dataset, "_inputs", list)())


def _is(dataset: Any, *kinds: str) -> bool:
    return any(kind in type(dataset).__name__ for kind in kinds)
