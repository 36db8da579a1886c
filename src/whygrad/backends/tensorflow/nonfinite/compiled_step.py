"""A compiled step that gave a bad result, left a bad variable, or lost gradients in float16: why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from whygrad.backends.tensorflow.nonfinite.birth import describe
from whygrad.backends.tensorflow.nonfinite.discoveries import Discovery
from whygrad.backends.tensorflow.nonfinite.explainer import MAX_REPLAYS, Explainer, failed
from whygrad.backends.tensorflow.nonfinite.half import largest_loss
from whygrad.backends.tensorflow.nonfinite.inquiry import Answer, inquire
from whygrad.backends.tensorflow.nonfinite.loss_scale.watch import ScaleWatch
from whygrad.backends.tensorflow.nonfinite.replay.compiled import CompiledReplay
from whygrad.backends.tensorflow.nonfinite.replay.step_histories import StepHistories
from whygrad.backends.tensorflow.nonfinite.replay.step_history import StepHistory
from whygrad.backends.tensorflow.nonfinite.replay.trace import ReplayError
from whygrad.backends.tensorflow.nonfinite.updating import UpdateWatch
from whygrad.backends.tensorflow.nonfinite.watched import Watched
from whygrad.graph.nonfinite import SEVERAL, Nonfinite, Scaled, Stage
from whygrad.observe.place import Place, span

MAX_INQUIRIES: Final = 2  # replays for one function


@dataclass(slots=True)
class CompiledSteps:
    """The look at compiled steps; what it finds goes to the discoveries of the run."""

    watched: Watched
    explainer: Explainer
    updates: UpdateWatch
    scale_watch: ScaleWatch
    histories: StepHistories
    losses: dict[Scaled, None] = field(default_factory=dict)  # of gradients, in casts to float16

    def went_bad(self, history: StepHistory, *, was_seen: bool = True) -> bool:
        """A step gave a bad result, or left a bad variable. False: it reaches neither loss nor gradient.

        `was_seen`: else it is asked whether it did, and nothing is said where no run of it does.
        """
        explainer = self.explainer
        spent = history.inquiries >= MAX_INQUIRIES or explainer.replays >= MAX_REPLAYS
        if spent or explainer.discoveries.have_consequences:
            return True
        history.inquiries += 1
        explainer.replays += 1
        try:
            with self.watched.unseen():
                skips_all = self.scale_watch.skips_all(history)
                replay = CompiledReplay(self.watched, self.histories, history)
                answer = inquire(replay, skips_all=skips_all, held_back=history.held_back)
                event = self._event_of(answer, history)
        except Exception as error:
            if was_seen and not history.died:  # of something else, perhaps
                self._add_unplaced(history, failed(error))
            return True
        if event is not None:
            self._add(event, answer, history)
        elif answer.is_nothing:
            history.inquiries -= 1
            return False
        return True

    def _look_for_underflow(self, history: StepHistory) -> None:
        """Run the last step of a function that uses float16 once more, and see what becomes of its gradients."""
        try:
            with self.watched.unseen():
                replay = CompiledReplay(self.watched, self.histories, history)
                replay.run()
                for request, known in replay.requests():
                    if not replay.unscaled(request, known):
                        pairs = [(variable, known[number]) for variable, number in request.gradients if number in known]
                        self.losses |= dict.fromkeys(filter(None, [largest_loss(replay.trace, pairs, request.place)]))
        except Exception:  # nothing is known to be wrong: there is nothing to say
            return

    def look_at_the_end(self) -> None:
        """A last look at every compiled step."""
        for history in list(self.histories.by_graph.values()):
            self._look_at_the_end(history)
        found = self.explainer.discoveries
        found.all[:] = [each for each in found.all if not self._is_known(each)]

    def _is_known(self, unplaced: Discovery) -> bool:
        """Whether another look has placed a bad value in an expression of the same compiled step."""
        event, history = unplaced.event, unplaced.history
        if history is None or not isinstance(event, Nonfinite) or event.stage is not Stage.UNPLACED:
            return False
        recorder = self.watched.recorder
        events = [each.event for each in self.explainer.discoveries.all if isinstance(each.event, Nonfinite)]
        born = {each.where for each in events if each.stage is Stage.BORN} - {None}
        graphs = [graph for graph in recorder.traces if history.graph in _with_outer(graph)] if born else ()
        return any(span(op.place) in born for graph in graphs for op in recorder.ops_of(graph))

    def _look_at_the_end(self, history: StepHistory) -> None:
        """For variables that went bad behind a loss that stayed finite, and steps that died before they gave one."""
        if history.inquiries or history.snapshot is None or history.last is None:
            return
        if history.died:
            self.went_bad(history)
            return
        values = history.values_now()
        if not self.histories.bad_variables(values) <= history.bad_from_start:
            self.went_bad(history)
        elif (skips := self.scale_watch.skips_all(history)) or self._stands_still(history, values):
            history.bad_calls = history.calls
            self.went_bad(history, was_seen=skips)
        elif history.facts.has_half and not history.searched:
            history.searched = True
            self._look_for_underflow(history)

    def _stands_still(self, history: StepHistory, values: dict[int, Any]) -> bool:
        """Whether none of several steps changed a variable that it is to train, as where the program skips bad ones."""
        if history.calls < SEVERAL or not self.histories.trains(history):
            return False
        self.histories.look_for_movement(history, values)
        return not history.moved

    def _event_of(self, answer: Answer, history: StepHistory) -> Nonfinite | None:
        if answer.is_nothing:
            return None
        if answer.request is None and answer.birth is None:
            update = self.updates.last_of(answer.meant_for[0])
            if update is None:
                raise ReplayError("it is made in the update, and no update of these variables was seen")
            made = answer.in_update
            born = None if made is None else describe(self.watched, answer.trace, made)
            if born is not None and born.stage is Stage.ENTERED:  # a variable that the update takes, such as its rate
                return born
            if born is not None and self.updates.is_before(update, born):
                return replace(born, rows=(), batch=None)  # gradients have no examples
            return self.updates.bad_update(update, answer.left_bad, born)
        if answer.birth is None:
            raise ReplayError("the replay gave finite values")
        return self.explainer.event_of(answer.trace, answer.birth, history)

    def _add(self, event: Nonfinite, answer: Answer, history: StepHistory) -> None:
        explainer, updates = self.explainer, self.updates
        if any(known.history is history and known.is_same(event) for known in explainer.discoveries.all):
            return
        place = None if answer.request is None else answer.request.place
        step = 1 if history.bad_calls == history.calls else answer.step
        found = Discovery(event, place, step, answer.loss_is_bad, answer.symptom)
        found.variables = dict.fromkeys(answer.culprits)
        if answer.request is None and answer.in_update is not None and event.stage is Stage.BORN:
            update = updates.last_of(answer.meant_for[0])
            found.in_update, found.place = True, None if update is None else update.place
            found.variables = dict.fromkeys(answer.meant_for)
        found.history = history
        kept_out = not answer.left_bad and not history.died
        found.skipped = kept_out and not history.written_variables.isdisjoint(found.variables)
        found.applied = bool(answer.left_bad)
        explainer.discoveries.all.append(found)
        explainer.analysed = (answer.trace, answer.ends)
        explainer.keep(found)
        updates.poisoned.update(answer.left_bad)
        if answer.victims:
            update = updates.last_of(answer.victims[0])
            where = answer.spread_at or (None if update is None else update.place)
            updates.add_spread(where, answer.victims, answer.culprits, inside_optimizer=answer.spread_at is None)

    def _asked_at(self, history: StepHistory) -> Place:
        """The first request of a step, of those whose variables went bad where there are any."""
        made = self.histories.requests.items()
        own = [each for graph, requests in made if history.graph in _with_outer(graph) for each in requests]
        own = own or [each for _, requests in made for each in requests]
        bad = self.histories.bad_variables(history.values_now()) - history.bad_from_start
        spoilt = [each for each in own if not bad.isdisjoint(variable for variable, _ in each.gradients)]
        return next((each.place for each in spoilt or own), None)

    def _add_unplaced(self, history: StepHistory, reason: str) -> None:
        place = self._asked_at(history)
        event = Nonfinite(stage=Stage.UNPLACED, where=span(place), reason=reason)
        found = Discovery(event, place, history.first_bad or history.calls, history.bad_calls > 0, history=history)
        self.explainer.discoveries.all.append(found)


def _with_outer(graph: Any) -> Iterator[Any]:
    """A graph, and those that it was traced in."""
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)
