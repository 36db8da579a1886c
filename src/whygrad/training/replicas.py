"""The copies of a model that are trained together, and writing to variables wherever training code runs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.own_thread import in_own_thread
from whygrad.errors import WhygradError
from whygrad.training.variables import name_of

_TRAINING: Final = ("chief", "worker")  # kinds of tasks, in the order of their replicas


@dataclass(frozen=True, slots=True)
class Replica:
    """One of several copies of a model that are trained together, seen from the code that trains it."""

    number: int  # among all that are in sync
    place: int  # among those of this process
    here: int  # replicas of this process
    count: int  # all that are in sync


def current_replica() -> Replica | None:
    """The replica whose step is running or traced in this thread; None on one device, and across replicas."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return None
    number = tf.get_static_value(context.replica_id_in_sync_group)
    if number is None:  # on a TPU all replicas are one program
        return None
    here = len(context.strategy.extended.worker_devices)
    return Replica(int(number), int(number) % here, here, context.num_replicas_in_sync)


def replicas_of(variables: Iterable[Any]) -> int:
    """On how many replicas these variables are trained together."""
    return max((each.num_replicas_in_sync for each in _strategies(variables)), default=1)


def copies_of(variable: Any) -> tuple[Any, ...]:
    """The variables behind a variable, one for each device of this process; those of a replica's own, all of them."""
    own = compat.native(variable)
    return tuple(own.values) if hasattr(own, "distribute_strategy") and hasattr(own, "values") else (own,)


@dataclass(frozen=True, slots=True)
class Worker:
    """One process of a cluster."""

    name: str  # `worker 1`, `chief`
    index: int  # among those that train
    count: int
    cluster: str  # the same in all of them


def this_worker() -> Worker | None:
    """What `TF_CONFIG` says of this process; None where it trains alone."""
    try:
        config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        cluster, task = dict(config.get("cluster", {})), dict(config.get("task", {}))
        kind, index = str(task.get("type", "worker")), int(task.get("index", 0))
        counts = [len(cluster.get(each, ())) for each in _TRAINING]
    except (ValueError, TypeError):  # TensorFlow itself says what is wrong with it
        return None
    if sum(counts) < 2 or kind not in _TRAINING:
        return None
    place = sum(counts[: _TRAINING.index(kind)]) + index
    name = kind if len(cluster[kind]) == 1 and kind != "worker" else f"{kind} {index}"
    known = hashlib.sha256(json.dumps(cluster, sort_keys=True).encode()).hexdigest()[:16]
    return Worker(name, place, sum(counts), known)


def is_coordinated(strategy: Any = None) -> bool:
    """Whether steps are sent to workers that train apart from one another, each when it gets to it."""
    return isinstance(strategy or tf.distribute.get_strategy(), tf.distribute.ParameterServerStrategy)


def refuse_coordinated(what: str, error: type[WhygradError]) -> None:
    """Say in one sentence that something needs replicas that update together."""
    if is_coordinated():
        raise error(
            f"{what} does not work under a ParameterServerStrategy, whose workers update apart from one another",
            help="train with MirroredStrategy or MultiWorkerMirroredStrategy",
        )


def single_variable(value: Any, dtype: Any, name: str, device: str | None = None) -> Any:
    """A variable of our own that is there once, also under a strategy: what it holds is the same for all replicas."""

    def make() -> Any:
        with tf.device(device):
            return tf.Variable(value, trainable=False, dtype=dtype, name=name)

    return in_own_thread(make) if tf.distribute.has_strategy() else make()


def across_replicas(change: Callable[[], None]) -> None:
    """Run once for all replicas; from inside a replica, all of them meet there."""
    context = tf.distribute.get_replica_context()
    if context is None or not tf.distribute.has_strategy():
        change()
        return
    context.merge_call(lambda strategy: change())


def summed_over_workers(value: Any, variables: Iterable[Any], *, of_the_first: bool = False) -> Any:
    """What all workers that train these variables have, or what the first alone has; with one worker, the value.

    To be called across replicas, by all workers at the same time: each waits for the others.
    """
    several = tf.distribute.MultiWorkerMirroredStrategy
    strategy = next((each for each in _strategies(variables) if isinstance(each, several)), None)
    if strategy is None or this_worker() is None:
        return value
    own = tf.convert_to_tensor(value)

    def part() -> Any:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.where(tf.equal(number, 0), own, tf.zeros_like(own)) if of_the_first else own

    return strategy.reduce("SUM", strategy.run(part), axis=None)


def scope_of(variables: Iterable[Any]) -> contextlib.AbstractContextManager[Any]:
    """Where new variables must be made to be on the devices of the given ones."""
    strategy = None if tf.distribute.has_strategy() else next(_strategies(variables), None)
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def copy_of(variable: Any, role: str, value: Any = None) -> Any:
    """A variable of our own, named after another: with its value, or filled with the given one."""
    now = compat.native(variable).read_value()
    first = now if value is None else tf.broadcast_to(tf.cast(value, now.dtype), tf.shape(now))
    return tf.Variable(first, trainable=False, name=f"{name_of(variable)}/{role}")


def write(variable: Any, value: Callable[..., Any], *others: Any) -> None:
    """Set a variable to a function of itself and other variables, on every device that holds it."""
    own = compat.native(variable)
    rest = tuple(compat.native(other) for other in others)

    def change(target: Any, *sources: Any) -> None:
        target.assign(tf.cast(value(target, *sources), target.dtype))

    strategy: Any = getattr(own, "distribute_strategy", None)
    across = strategy is not None and tf.distribute.in_cross_replica_context()
    if across and own.synchronization is not tf.VariableSynchronization.ON_READ:
        strategy.extended.update(own, change, args=rest, group=True)
    else:
        change(own, *rest)


def mixed(old: Any, new: Any, share: Any) -> Any:
    """A share of the way from one value to another; whole numbers go all the way."""
    old, new = tf.convert_to_tensor(old), tf.convert_to_tensor(new)
    if not (old.dtype.is_floating or old.dtype.is_complex):
        return new
    return old + (tf.cast(new, old.dtype) - old) * tf.cast(share, old.dtype)


def _strategies(variables: Iterable[Any]) -> Iterator[Any]:
    """Those of the variables that have one."""
    found = (getattr(compat.native(variable), "distribute_strategy", None) for variable in variables)
    return (each for each in found if each is not None)
