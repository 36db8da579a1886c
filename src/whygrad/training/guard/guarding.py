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
from whygrad.errors import NonfiniteError, UsageError
from whygrad.training.guard.finite_gradients import all_finite, bad_of_all, gradient_is_finite, without_bad_elements
from whygrad.training.guard.forward_state import EagerState, written_before
from whygrad.training.guard.kept_states import KeptStates
from whygrad.training.guard.record import GuardRecord
from whygrad.training.replicas import Replica, copies_of, current_replica, refuse_coordinated, replicas_of
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


@dataclass(slots=True, eq=False)
class _Update:
    """One update of an optimizer, which is to be made or not."""

    finite: Any  # whether its gradients are
    which: Callable[[], list[Any]]  # of them are
    scale: Any  # of an optimizer that looks for itself, and has been given them
    apply: Callable[[Callable[[list[Any]], list[Any]]], Any]  # with the gradients as the function returns them
    replicas: Any = None  # whose gradients are not finite


class Guarding:
    """The state of one guarded optimizer, made when its variables are known."""

    def __init__(self, settings: GuardSettings) -> None:
        self.settings = settings
        self.record: GuardRecord | None = None
        self.kept: KeptStates | None = None
        self.eager_state = EagerState()
        self._places: dict[int, int] = {}  # of the variables in the record
        self.unrestored: tuple[str, ...] = ()  # what a bad step has changed all the same

    def build(self, optimizer: Any, variables: Sequence[Any]) -> None:
        """Once the variables are known."""
        if self.record is None:
            refuse_coordinated("a guard", UsageError)
            replicas = replicas_of(variables)
            self.record = GuardRecord([name_of(variable) for variable in variables], replicas)
            self._places = {id(compat.native(variable)): i for i, variable in enumerate(variables)}
            if self.settings.on_nonfinite == "rollback":
                if replicas > 1 and self.settings.keep_in is not None:
                    raise UsageError(
                        f"the states of {replicas} replicas are kept in memory only", help="leave `keep_in` out"
                    )
                state = _copies([*variables, *compat.state_of_optimizer(optimizer)])
                self.kept = KeptStates(state, self.settings.keep, self.settings.keep_every, self.settings.keep_in)

    def step(self, optimizer: Any, gradients: list[Any], variables: Sequence[Any], apply: Callable[[Any], Any]) -> None:
        """Look at the gradients of one step; `apply` is the optimizer's own update."""
        finite = all_finite([gradient for gradient in gradients if gradient is not None])
        scale = compat.dynamic_scale_of(optimizer)
        if scale is not None:
            apply(gradients)  # it looks for itself, lowers its scale, and applies nothing
        replica = current_replica()
        if replica is None:
            update = _Update(
                finite,
                lambda: self._which_are_finite(gradients, variables),
                scale,
                lambda change: apply(change(gradients)),
            )
            self._settle(update, optimizer, variables)
            return
        self._check_replicas(replica)
        bad = bad_of_all(replica, finite, lambda: self._which_are_finite(gradients, variables))

        def together(strategy: Any, given: Any, bad: Any, scale: Any) -> None:
            """Once for all replicas, with what each of them has; a branch of one alone may not hold an update."""
            marks = strategy.experimental_local_results(bad)[0] > 0

            def on_each(change: Callable[[list[Any]], list[Any]]) -> None:
                strategy.extended.call_for_each_replica(lambda own: apply(change(own)), args=(given,))

            first = None if scale is None else strategy.experimental_local_results(scale)[0]
            good = tf.logical_not(tf.reduce_any(marks))
            update = _Update(good, lambda: tf.unstack(~tf.reduce_any(marks, 0), num=len(self._places)), first, on_each)
            update.replicas = tf.reduce_any(marks, 1)
            self._settle(update, optimizer, variables)

        tf.distribute.get_replica_context().merge_call(together, args=(gradients, bad, scale))

    def _settle(self, update: _Update, optimizer: Any, variables: Sequence[Any]) -> None:
        assert self.record is not None
        if update.scale is not None:
            finite = tf.logical_or(update.finite, update.scale > _ABSORBS_ABOVE)
            choose(finite, self.record.good, lambda: self._bad(update, None))
            return
        stopped = self.record.stopped
        go_on = tf.logical_and(update.finite, tf.logical_not(stopped)) if compat.inside_xla() else update.finite
        put_back = self._putting_back(variables, optimizer)
        choose(go_on, lambda: self._good(update), lambda: self._bad(update, put_back))

    def _good(self, update: _Update) -> None:
        assert self.record is not None
        update.apply(lambda gradients: gradients)
        self.record.good()
        if self.kept is not None:
            self.kept.note()
        if tf.executing_eagerly():
            self.eager_state.take()

    def _bad(self, update: _Update, put_back: Callable[[], None] | None) -> None:
        assert self.record is not None
        self.record.bad(update.which(), update.replicas)
        mode = self.settings.on_nonfinite
        if mode == "zero" and update.scale is None:
            update.apply(lambda gradients: [without_bad_elements(gradient) for gradient in gradients])
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
        put_back, self.unrestored = written_before(_copies(own))
        return put_back

    def _check_replicas(self, replica: Replica) -> None:
        assert self.record is not None
        if replica.count != self.record.replicas:
            raise UsageError(
                f"the optimizer was made for {self.record.replicas} replicas and runs on {replica.count}",
                help="call wg.guard and build the model inside `with strategy.scope():`",
            )

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


def _copies(variables: Iterable[Any]) -> list[Any]:
    """TensorFlow's own variables, one for each device that has one."""
    return [copy for variable in variables for copy in copies_of(variable)]
