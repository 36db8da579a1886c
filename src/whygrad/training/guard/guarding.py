"""What a guarded optimizer does with the gradients of one step: look, then apply, clean, or hold back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import tensorflow as tf

from whygrad.arguments import check_choice, check_whole
from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.measure.graph_building import choose
from whygrad.backends.tensorflow.measure.statistics import Reducer
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.errors import NonfiniteError, UsageError
from whygrad.training.guard.forward_state import EagerState, written_before
from whygrad.training.guard.kept_states import KeptStates
from whygrad.training.guard.record import GuardRecord
from whygrad.training.variables import name_of

MODES: Final = ("skip", "raise", "zero", "rollback")
_ABSORBS_ABOVE: Final = 1.0  # a loss scale that can still be lowered


@dataclass(frozen=True, slots=True)
class GuardSettings:
    on_nonfinite: str = "skip"
    patience: int | None = 10
    keep: int = 2
    keep_every: int = 100
    keep_in: str | None = None  # a folder

    def __post_init__(self) -> None:
        check_choice("on_nonfinite", self.on_nonfinite, MODES)
        if self.patience is not None:
            check_whole("patience", self.patience, help="`patience=None` never stops the training")
        check_whole("keep", self.keep, help="a rollback needs at least one state to go back to: `keep=1`")
        check_whole("keep_every", self.keep_every, help="`keep_every=100` keeps a state every 100 updates")


class Guarding:
    """The state of one guarded optimizer, made when its variables are known."""

    def __init__(self, settings: GuardSettings) -> None:
        self.settings = settings
        self.record: GuardRecord | None = None
        self.kept: KeptStates | None = None
        self.eager_state = EagerState()
        self._places: dict[int, int] = {}  # of the variables in the record
        self.unrestored: tuple[str, ...] = ()  # what a bad step has changed all the same

    def restore(self, given: Iterable[Any] | Any) -> None:
        """Variables that the forward pass writes, for eager steps."""
        self.eager_state.watch(given)

    def build(self, optimizer: Any, variables: Sequence[Any]) -> None:
        """Once the variables are known."""
        if self.record is None:
            self.record = GuardRecord([name_of(variable) for variable in variables])
            self._places = {id(compat.native(variable)): i for i, variable in enumerate(variables)}
            if self.settings.on_nonfinite == "rollback":
                state = [compat.native(each) for each in (*variables, *compat.state_of_optimizer(optimizer))]
                self.kept = KeptStates(state, self.settings.keep, self.settings.keep_every, self.settings.keep_in)

    def step(self, optimizer: Any, gradients: list[Any], variables: Sequence[Any], apply: Callable[[Any], Any]) -> None:
        """Look at the gradients of one step; `apply` is the optimizer's own update."""
        assert self.record is not None
        _refuse_replicas()
        given = [gradient for gradient in gradients if gradient is not None]
        finite = all_finite(given)
        scale = compat.dynamic_scale_of(optimizer)
        if scale is not None:
            apply(gradients)  # it looks for itself, lowers its scale, and applies nothing
            finite = tf.logical_or(finite, scale > _ABSORBS_ABOVE)
            choose(finite, self.record.good, lambda: self._bad(gradients, variables, None))
            return
        go_on = tf.logical_and(finite, tf.logical_not(self.record.stopped)) if compat.inside_xla() else finite
        put_back = self._putting_back(variables, optimizer)
        choose(go_on, lambda: self._good(gradients, apply), lambda: self._bad(gradients, variables, apply, put_back))

    def _good(self, gradients: list[Any], apply: Callable[[Any], Any]) -> None:
        assert self.record is not None
        apply(gradients)
        self.record.good()
        if self.kept is not None:
            self.kept.note()
        if tf.executing_eagerly():
            self.eager_state.take()

    def _bad(
        self,
        gradients: list[Any],
        variables: Sequence[Any],
        apply: Callable[[Any], Any] | None,
        put_back: Callable[[], None] | None = None,
    ) -> None:
        assert self.record is not None
        self.record.bad(self._which_are_finite(gradients, variables))
        mode = self.settings.on_nonfinite
        if mode == "zero" and apply is not None:
            apply([_without_bad_elements(gradient) for gradient in gradients])
        elif put_back is not None:
            put_back()
            if self.kept is not None:
                self.kept.go_back()
        limit = 1 if mode == "raise" else self.settings.patience
        if limit is not None:
            self.record.stop_at(limit)
            if tf.executing_eagerly():
                self.check()
            elif not compat.inside_xla():
                self.record.fail_if_stopped()

    def _which_are_finite(self, gradients: list[Any], variables: Sequence[Any]) -> list[Any]:
        """In the order of the record; a step may have gradients for some of its variables only."""
        finite = [tf.constant(True)] * len(self._places)
        for gradient, variable in zip(gradients, variables, strict=False):
            place = self._places.get(id(compat.native(variable)))
            if place is not None:
                finite[place] = gradient_is_finite(gradient)
        return finite

    def _putting_back(self, variables: Sequence[Any], optimizer: Any) -> Callable[[], None] | None:
        if self.settings.on_nonfinite == "zero":
            return None
        if tf.executing_eagerly():
            self.unrestored = () if self.eager_state else ("what the forward pass wrote; pass `restore=model`",)
            return self.eager_state.put_back
        ours = [each.variables for each in (self.record, self.kept) if each is not None]
        own = [*variables, *compat.state_of_optimizer(optimizer), *chain(*ours)]
        put_back, self.unrestored = written_before([compat.native(each) for each in own])
        return put_back

    def check(self) -> None:
        """Raise NonfiniteError if training is to stop. For steps that cannot stop by themselves."""
        record = self.record
        if record is None or not bool(record.stopped.numpy()):
            return
        record.stopped.assign(False)
        raise NonfiniteError(
            f"{record.last()}; nothing of it was applied",
            help="`whygrad run --find-nan script.py` names the expression that made the first bad value",
        )

    def report(self) -> str:
        """What the guard has seen, in words."""
        lines = [] if self.record is None else self.record.lines(self.settings.on_nonfinite)
        if lines and self.unrestored and self.settings.on_nonfinite != "zero":
            lines.append(f"not restored: {', '.join(self.unrestored)}")
        return "\n".join(lines) or "whygrad guard: every gradient was finite"


def all_finite(gradients: Sequence[Any]) -> Any:
    """A tensor that says whether every element is; one pass, and a closer look only where the squares overflow."""
    if not gradients:
        return tf.constant(True)
    reducer = Means(tf.float32, compat.inside_xla()).reducer
    total = tf.add_n([_half_square_sum(gradient, reducer) for gradient in gradients])

    def look_closer() -> Any:
        return tf.reduce_all([gradient_is_finite(gradient) for gradient in gradients])

    return tf.cond(tf.math.is_finite(total), lambda: tf.constant(True), look_closer)


def gradient_is_finite(gradient: Any) -> Any:
    if gradient is None:
        return tf.constant(True)
    return tf.reduce_all(tf.math.is_finite(_values(gradient)))


def _half_square_sum(gradient: Any, reducer: Reducer) -> Any:
    values = _values(gradient)
    wide = values if values.dtype.size >= 4 else tf.cast(values, tf.float32)
    return tf.cast(reducer.half_squares(wide, None), tf.float32)


def _values(gradient: Any) -> Any:
    return gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient


def _without_bad_elements(gradient: Any) -> Any:
    if gradient is None:
        return None
    values = _values(gradient)
    fixed = tf.where(tf.math.is_finite(values), values, tf.zeros_like(values))
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(fixed, gradient.indices, gradient.dense_shape)
    return fixed


def _refuse_replicas() -> None:
    context = tf.distribute.get_replica_context()
    if context is not None and context.num_replicas_in_sync > 1:
        raise UsageError(
            "a guard cannot hold back the update of several replicas yet",
            help="guard a step that runs on one device, or let a LossScaleOptimizer skip bad steps",
        )
