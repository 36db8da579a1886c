"""One capture of a TensorFlow program: hooks in, log, hooks out, and the frozen recording of it.

Parts that only some programs need (updates, compiled steps, values that are not finite) are made when one needs them.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property, partial
from types import FrameType, ModuleType
from typing import Any

from whygrad.backends import WatchOptions
from whygrad.backends.tensorflow import capability, compat
from whygrad.backends.tensorflow.freeze.recording import Freezer
from whygrad.backends.tensorflow.freeze.request_graph import freeze
from whygrad.backends.tensorflow.freeze.traced_functions import traced_functions
from whygrad.backends.tensorflow.keras import hooks as keras_hooks
from whygrad.backends.tensorflow.keras.by_hand import COMPARING
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.keras.losses import TELLING
from whygrad.backends.tensorflow.listen import custom_gradient as custom
from whygrad.backends.tensorflow.listen import departure, tape, variable_hooks
from whygrad.backends.tensorflow.listen import foreign_body as foreign
from whygrad.backends.tensorflow.listen.gradient_calls import hear_updates
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.listen.op_listener import OpListener
from whygrad.backends.tensorflow.log.episode import Episodes
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry, Requests, Ticket
from whygrad.backends.tensorflow.log.tapes import Tapes
from whygrad.backends.tensorflow.log.updates import Updates, is_stateful
from whygrad.backends.tensorflow.log.variables import VariableBook
from whygrad.backends.tensorflow.nonfinite import attribution
from whygrad.backends.tensorflow.nonfinite import hooks as nonfinite_hooks
from whygrad.backends.tensorflow.nonfinite.compiled_step import CompiledSteps
from whygrad.backends.tensorflow.nonfinite.discoveries import Discoveries
from whygrad.backends.tensorflow.nonfinite.explainer import Explainer
from whygrad.backends.tensorflow.nonfinite.formula import Formulas
from whygrad.backends.tensorflow.nonfinite.kept.keeper import Keeper
from whygrad.backends.tensorflow.nonfinite.known_step import KnownStep, KnownSteps
from whygrad.backends.tensorflow.nonfinite.loss_scale.descent import ScaledDescent
from whygrad.backends.tensorflow.nonfinite.loss_scale.watch import ScaleWatch
from whygrad.backends.tensorflow.nonfinite.replay.blanks import with_blanks
from whygrad.backends.tensorflow.nonfinite.replay.compiled import KeptSteps
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import ScaledLosses, StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.tap import TAPPED
from whygrad.backends.tensorflow.nonfinite.row_writes import look_at_rows
from whygrad.backends.tensorflow.nonfinite.sentinel import Sentinel
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.backends.tensorflow.numbers.sparse_updates import SparseUpdates
from whygrad.backends.tensorflow.numbers.step_numbers import StepNumbers
from whygrad.backends.tensorflow.numbers.term_norms import TermNorms
from whygrad.graph import Event, Failure, Held, Recording, TermNumbers
from whygrad.notice import warn

_running: list[Capture] = []
_ASKING = ("OptionalHasValue", b"OptionalHasValue")  # whether a step of `fit` had data


def running_capture() -> Capture | None:
    """The capture that watches now; a recorder of a run has its ledger kept there."""
    return _running[-1] if _running else None


class Capture:
    """Created when TensorFlow is there; `join` is called again when Keras is."""

    def __init__(self, on_settled: Callable[[], None] | None = None, options: WatchOptions | None = None) -> None:
        self.options = options or WatchOptions()
        self.hooks = Hooks()
        self.variables = book = VariableBook()
        self.recorder = recorder = Recorder(book)
        self.bodies = foreign.Bodies()
        self.keras = KerasFacts(recorder, book, self._optimizer_facts, self.bodies)
        episodes = Episodes(recorder)
        self.tapes = Tapes(recorder, book, episodes)
        self.requests = Requests(recorder, book, self.tapes, episodes, self.keras)
        self.requests.freeze = partial(freeze, recorder, self.keras)
        self.updates = Updates(recorder, book, episodes, self.keras.training_place)
        self._scaled: ScaledLosses = weakref.WeakKeyDictionary()
        self._scalers: list[type] = []  # classes of optimizers that divide by a loss scale
        self.numbers = StepNumbers(recorder, book, self._scaled)
        self.watched = Watched(recorder, book, self.keras.shown_at)
        self.discoveries = Discoveries()
        self.sentinel = Sentinel(recorder, book, self.discoveries, lambda: self.explainer)
        self._connect()
        if on_settled is not None:
            recorder.on_settled.append(on_settled)
        self._news = (0, 0, 0)
        if self.options.on_news is not None:
            self.hooks.afterwards = self._look_for_news
        if self.options.on_step is not None:
            self.requests.on_eager.insert(0, partial(_tell_loss, recorder, self.options.on_step))
            recorder.on_call.append(partial(self.options.on_step, None))
        self.term_norms = TermNorms(recorder, self.tapes, self.requests) if self.options.terms else None
        if self.term_norms is not None:
            self.requests.on_eager.append(self.term_norms.ran)
            self.requests.on_traced.append(self.term_norms.traced)
        self.freezer = Freezer(
            recorder,
            self.keras,
            self.requests,
            self.updates,
            self.numbers,
            self._numbers_of_terms,
            lambda entry: with_blanks(self.watched, self.histories, entry),
            self._events,
        )
        self.listener = OpListener(self.hooks, self._note_op, self._ignores)
        self.updates.known.hush = lambda: self.listener.hush()
        self.requests.hush = lambda: self.listener.hush() if self.term_norms is None else None
        self._joined: set[str] = set()
        self._known: dict[int, KnownStep] = {}

    @cached_property
    def sparse_updates(self) -> SparseUpdates:
        return SparseUpdates(self.variables, self.numbers)

    @cached_property
    def histories(self) -> StepHistories:
        made = StepHistories(
            self.recorder,
            self.variables,
            self._scaled,
            lambda bad: self.compiled_steps.went_bad(bad),
            every_call=self.options.find_nan,
        )
        made.on_step += [self.keras.step_ran, self.numbers.step_ran]
        made.on_look = self.known_steps.look
        return made

    @cached_property
    def known_steps(self) -> KnownSteps:
        return KnownSteps(self.recorder, lambda: self.histories, self.numbers.turn_of, self._known)

    @cached_property
    def update_watch(self) -> UpdateWatch:
        recorder, book, updates = self.recorder, self.variables, self.updates
        descent = ScaledDescent(recorder, book)
        scales = ScaleWatch(recorder, book, self.requests, updates, self._scaled, self._scalers, descent)
        guarded = self.options.on_optimizer is not None
        return UpdateWatch(recorder, book, updates, self.discoveries, scales, self.histories, guarded=guarded)

    @cached_property
    def keeper(self) -> Keeper:
        return Keeper(self.variables, self.options.keep)

    @cached_property
    def explainer(self) -> Explainer:
        return Explainer(self.watched, self.discoveries, self.update_watch, self.keeper)

    @cached_property
    def compiled_steps(self) -> CompiledSteps:
        updates = self.update_watch
        return CompiledSteps(self.watched, self.explainer, updates, updates.scale_watch, self.histories)

    @cached_property
    def formulas(self) -> Formulas:
        return Formulas(self.watched, self.kept_steps)

    @cached_property
    def kept_steps(self) -> KeptSteps:
        return KeptSteps(self.watched, self.histories)

    def _connect(self) -> None:
        """Who hears of what."""
        recorder, requests, updates = self.recorder, self.requests, self.updates
        self.hooks.on_thread = recorder.change_thread
        self.keras.on_tap = lambda holder: self.histories.taps.numbers.add(compat.tensor_id(holder))
        recorder.still_needed = self.tapes.still_needed
        recorder.on_write = updates.wrote
        recorder.on_settled.append(self.numbers.look_again)
        recorder.on_given = self.sentinel.look_at_write
        requests.on_answer.append(self.sentinel.look)
        requests.on_eager.append(self.numbers.ran)
        requests.on_traced += [lambda *request: self.histories.traced(*request), self.numbers.traced]
        updates.on_begin += [
            lambda update, gradients, variables, _: self.sentinel.look_at_update(update, gradients, variables),
            lambda *update: self.sparse_updates.note(*update),
            lambda *update: self.update_watch.begin(*update),
        ]
        updates.on_end.append(lambda: self.update_watch.after())
        updates.on_write.append(lambda variable: self.update_watch.wrote(variable))

    def offered(self, gradients: list[Any], variables: list[Any]) -> None:
        """These are to be applied if they are finite: a guard asks first, and may never call its optimizer."""
        if compat.current_graph() is None:
            place = self.recorder.places.at(sys._getframe(1))
            self.hooks.safely(self.sentinel.look_at_offer, place, gradients, variables)

    def _look_for_news(self, tape: Any) -> None:
        """Ask whether to stop where a request or update of a new kind was seen, or a value that is not finite.

        A persistent tape may still be asked for what is missing now.
        """
        __tracebackhide__ = True
        if tape is not None and self.tapes.of(tape).persistent:
            return
        news = (len(self.requests.entries), len(self.updates.entries), len(self.discoveries.all))
        if news != self._news and self.options.on_news is not None and not self.hooks.broken:
            self._news = news
            error = self.options.on_news()
            if error is not None:
                raise error

    def _events(self) -> Iterator[Event]:
        """What happened beside requests and updates, in order; a part that was never made has nothing to say."""
        made, recorder = vars(self), self.recorder
        yield from self.keras.events()
        yield from dict.fromkeys(recorder.events)
        if recorder.traced.of:
            yield from traced_functions(recorder.traced, self.keras.attributes.numbers)
        if recorder.observed.row_writes:
            look_at_rows(self.watched, self.kept_steps)
        yield from recorder.folds.events()
        if "sparse_updates" in made:
            yield from self.sparse_updates.events()
        if "histories" in made:
            self.compiled_steps.look_at_the_end()
        if self.discoveries.all:
            yield from self.discoveries.events()
        if "compiled_steps" in made:
            yield from self.compiled_steps.losses
        if "update_watch" in made:
            yield from self.update_watch.events()
        if recorder.custom_calls.of:
            yield from self.formulas.events()
        if "kept_steps" in made:
            self.kept_steps.clear()

    def start(self) -> None:
        """Put the hooks in; where that fails the program runs on unwatched."""
        try:
            self._install()
        except capability.MissingNameError:  # said already
            self.stop()
        except Exception as error:
            self.stop()
            self.hooks.fail(error)

    def _install(self) -> None:
        hooks, recorder = self.hooks, self.recorder
        _running.append(self)
        self._say_what_is_missing()
        self.listener.listen()
        tape.install(hooks, self.tapes, self.requests, self.listener, again=self.options.terms)
        departure.install(hooks, recorder, self.bodies)
        custom.install(hooks, recorder)
        foreign.install(hooks, recorder, self.bodies)
        variable_hooks.install(hooks, recorder, self.requests)
        keras_hooks.install_tensorflow(hooks, self.keras)
        attribution.install(hooks, recorder, self.watched.backward_ops)
        nonfinite_hooks.install(hooks, recorder, self.listener, lambda: self.histories, self._known)
        for name in ("keras", "tf_keras"):
            module = sys.modules.get(name)
            if module is not None:
                self._join(module)

    def _say_what_is_missing(self) -> None:
        for name in capability.missing.values():
            error = capability.MissingNameError(name)
            warn(str(error))
            if name.loss is capability.Loss.EVERYTHING:
                raise error

    def join(self, module: ModuleType) -> None:
        """Hook a Keras that was imported just now."""
        self.hooks.safely(self._join, module)

    def _join(self, module: ModuleType) -> None:
        name = module.__name__
        if name in self._joined or not hasattr(module, "layers"):
            return
        self._joined.add(name)
        keras_hooks.install(self.hooks, self.keras, module)
        scalers = nonfinite_hooks.scalers_of(module)
        self._scalers += scalers
        nonfinite_hooks.join(self.hooks, self.updates, lambda: self.update_watch, module, scalers)
        base = module.optimizers.Optimizer
        if self.options.on_optimizer is not None:
            self.options.on_optimizer(self.hooks, base)
        hear_updates(self.hooks, base, compat.updating_method(base), self.updates)

    def _ignores(self, op_type: Any, graph: Any) -> bool:
        """Whether nothing would come of an op: most of the many of an optimizer, and what `fit` asks at each step."""
        if graph is None and op_type in _ASKING:
            return True
        aside = self.recorder.ignores(op_type) and self.term_norms is None
        return aside and self.hooks.is_thread(threading.get_ident())

    def _note_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, graph: Any, frame: FrameType) -> None:
        self.recorder.on_op(op_type, inputs, attrs, outputs, graph, frame)
        if self.term_norms is not None:
            self.term_norms.keep(outputs)
        if op_type in TELLING and self.recorder.tapes:
            self.keras.losses.note_function(op_type.decode() if isinstance(op_type, bytes) else op_type, frame, graph)
        if op_type in COMPARING and self.recorder.tapes and not self.recorder.paused:
            self.keras.by_hand.note(op_type.decode() if isinstance(op_type, bytes) else op_type, inputs, outputs, frame)
        if graph is not None and op_type in TAPPED and self.keras.running:
            self.histories.taps.put(graph, outputs)

    def stop(self) -> None:
        """Put everything back, and say which steps were kept; safe to call twice."""
        if self in _running:
            _running.remove(self)
        self.hooks.remove()
        self.listener.stop()
        for line in self.keeper.take_lines() if "keeper" in vars(self) else ():
            print(line, file=sys.stderr)

    def record(self, failure: Failure | None = None) -> Recording:
        """All that was seen so far; watching may go on."""
        self.hooks.catch_up()
        if "histories" in vars(self):
            with self.recorder.pausing():
                self.known_steps.settle()
        return self.freezer.recording(failure)

    def has_failed(self) -> bool:
        """Whether something of ours failed, so that the program went on unwatched."""
        return self.hooks.broken

    def held_in(self, value: object) -> tuple[Held, ...] | None:
        """The variables and gradients in a value, or in a list of them; None where there are none."""
        from whygrad.backends.tensorflow.freeze.operands import held_in

        with self.recorder.pausing():
            return held_in(self.variables, self.updates, value)

    def paused(self) -> AbstractContextManager[None]:
        """For ops of our own, which are none of the program's."""
        return self.recorder.pausing()

    def _numbers_of_terms(self, entry: RequestEntry) -> TermNumbers | None:
        return None if self.term_norms is None else self.term_norms.of(entry)

    def _optimizer_facts(self, optimizer: Any) -> tuple[int, bool]:
        return self.updates.number(optimizer), is_stateful(optimizer)


def _tell_loss(recorder: Recorder, told: Callable[[float | None], None], ticket: Ticket, *_: object) -> None:
    target = ticket.raw_targets[0] if len(ticket.raw_targets) == 1 else None
    scalar = hasattr(target, "numpy") and getattr(target, "shape", None) == ()
    with recorder.pausing():
        value = float(target.numpy()) if scalar else None  # type: ignore[union-attr]
    told(value)
