"""What trainings compare: each loss object that is called under a tape, with its targets and predictions.

A compiled step leaves them in variables of ours, which share their buffers. They are looked at after the steps 1, 2, 4,
8 and so on, and at the end: in between nothing is read.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any, Final

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.data_facts import GivenData
from whygrad.backends.tensorflow.keras.inspection import listed, path_of
from whygrad.backends.tensorflow.keras.layer_chain import LayerChain
from whygrad.backends.tensorflow.keras.layer_facts import activation_of, is_mixed, last_bend, settled
from whygrad.backends.tensorflow.keras.loss_sites import LossFacts, LossSite, loss_function, loss_object, unseen
from whygrad.backends.tensorflow.keras.trainings import Trainings
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.measure.array_values import joined
from whygrad.backends.tensorflow.measure.finite import array_of
from whygrad.graph.learning import PASSING, Activation, LayerFacts, LayerKind, Missed, Objective
from whygrad.graph.objects import CompiledMetric
from whygrad.observe.fact import Maker
from whygrad.observe.place import Place, span
from whygrad.source.position import CodeOwner, owner_of

_MOST: Final = 64  # losses


class Objectives:
    def __init__(
        self,
        recorder: Recorder,
        chain: LayerChain,
        trainings: Trainings,
        on_tap: Callable[[Any], None],
        used_apart: Callable[[Any], bool],
    ) -> None:
        self._used_apart = used_apart  # whether user code calls a model outside of training
        self._recorder = recorder
        self._chain = chain
        self._trainings = trainings
        self._sites: dict[tuple[Any, ...], LossSite] = {}
        self.made: weakref.WeakKeyDictionary[Any, Place] = weakref.WeakKeyDictionary()  # loss objects
        self._evaluated: weakref.WeakSet[Any] = weakref.WeakSet()
        self._given: weakref.WeakKeyDictionary[Any, GivenData] = weakref.WeakKeyDictionary()
        self._on_tap = on_tap
        self._last: int | None = None  # the prediction that a loss function was called with
        self._turn = 0
        self._looked = True  # since the last step
        trainings.on_end.append(self._ended)

    def loss_made(self, loss: Any, frame: FrameType, *_: Any) -> None:
        self.made[loss] = self._recorder.places.at(frame)

    def evaluated(self, model: Any, *_: Any) -> None:
        """A model is used outside of training."""
        self._evaluated.add(model)

    def began(self, model: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A model is about to be trained on these data."""
        if method == "fit":
            self._given.setdefault(model, GivenData()).look(args, kwargs, self._weights_of(model))

    def _ended(self, model: Any) -> None:
        if model in self._given:
            self._given[model].ended(self._weights_of(model))

    def _weights_of(self, model: Any) -> int:
        """A number for the values of its smallest weight."""
        listing = listed(model, "trainable_variables")
        with self._recorder.pausing():
            least = min(listing, key=lambda each: math.prod(each.shape), default=None)
            return 0 if least is None else hash(least.numpy().tobytes())

    def compared(self, loss: Any, frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A loss object is about to be called."""
        given = {**dict(zip(("y_true", "y_pred"), args, strict=False)), **kwargs}
        compiled = owner_of(frame.f_code) is not CodeOwner.USER
        facts = partial(loss_object, loss, self.made.get(loss), compiled=compiled)
        key = (type(loss), id(loss) if compiled else 0)
        self._compare(key, facts, given.get("y_true"), given.get("y_pred"), frame)

    def called(self, name: str, of_logits: bool, target: Any, prediction: Any, frame: FrameType) -> None:
        """User code called a loss function of the framework's; `frame` is the user's."""
        if compat.id_of(prediction) == self._last:  # another op of the same call
            return
        self._last = compat.id_of(prediction)
        self._compare((name,), partial(loss_function, name, of_logits=of_logits), target, prediction, frame)

    def _compare(
        self, key: tuple[Any, ...], loss: Callable[[], LossFacts], target: Any, prediction: Any, frame: FrameType
    ) -> None:
        recorder = self._recorder
        if recorder.paused or not recorder.tapes or compat.id_of(prediction) is None:
            return
        place, graph = recorder.places.at(frame), compat.current_graph()
        key = (place, *key)
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) >= _MOST:
                return
            site = self._sites[key] = self._met(loss(), place, target, prediction, graph)
        if graph is not None:
            self._tap(site, graph, target, prediction, frame)
            return
        site.turn += 1
        if not site.turn & (site.turn - 1):
            arrays = [each for tensor in self._chain.inputs() if (each := _array(tensor)) is not None]
            site.look(_array(target), _array(prediction), arrays)

    def _met(self, loss: LossFacts, place: Place, target: Any, prediction: Any, graph: Any) -> LossSite:
        maker = self._recorder.observed.maker_in(graph)
        layers = tuple(self._chain.behind(prediction, maker))
        running = self._trainings.running[-1] if self._trainings.running else None
        model = self._chain.model() if running is None else running[0]
        return LossSite(
            loss=loss,
            place=place,
            compiled=loss.compiled and running is not None,
            model=None if model is None else weakref.ref(model),
            trained=None if running is None else running[1],
            layers=layers,
            activation=self._activation([facts for _, facts in layers], prediction, maker),
            mixed=is_mixed(compat.tensor_id(prediction), maker),
            logits_kept=loss.looks_behind and compat.keeps_logits(prediction),
            targets=unseen(target),
            shape=unseen(prediction),
        )

    def _activation(self, layers: list[LayerFacts], prediction: Any, maker: Maker) -> Activation:
        """Of the layer that made the predictions, else by the op that did."""
        last = next((each for each in layers if each.kind not in PASSING), None)
        known = last is not None and not last.bent and last.activation is not Activation.OTHER
        if last and known and (last.kind is not LayerKind.OTHER or last.activation is Activation.COSINE):
            return last.activation
        op = last_bend(compat.tensor_id(prediction), maker)
        shape = None if op is None else op.outputs[0].shape
        same = shape is not None and shape[-1:] == (compat.shape_of(prediction) or ())[-1:]  # the same axis is the last
        return Activation.OTHER if op is None or not same else activation_of(op)

    def _tap(self, site: LossSite, graph: Any, target: Any, prediction: Any, frame: FrameType) -> None:
        how = compat.tracing(frame)
        if how.foreign or how.compiled or compat.replicas() > 1:
            return
        with self._recorder.pausing(), compat.unrecorded():
            inputs = () if self._knows_inputs() else self._chain.inputs()
            holders = [self._holder(each, graph) for each in (target, prediction, *inputs)]
        if holders[0] is None:
            site.look(_array(target), None, [])  # one that the function was not given: it is always the same
        site.taps[-3:] = [*site.taps[-3:], (holders[0], holders[1], tuple(holders[2:]))]

    def _knows_inputs(self) -> bool:
        """Whether the arrays that a model is trained on were looked at."""
        running = self._trainings.running
        given = self._given.get(running[-1][0]) if running else None
        return given is not None and bool(given.inputs)

    def _holder(self, tensor: Any, graph: Any) -> Any:
        """A variable that a step leaves a tensor in; None where the tensor is not the step's own."""
        if not _is_numeric(tensor) or getattr(tensor, "graph", None) is not graph:
            return None
        holder = compat.tap(graph, tensor, compat.OWN_TAP)
        self._on_tap(holder)
        return holder

    def step_ran(self, times: int) -> None:
        """So many compiled training steps are over."""
        before = self._turn
        self._turn += times
        self._looked = False
        if self._turn.bit_length() > before.bit_length():  # past the next power of two
            self._look_again()

    def _look_again(self) -> None:
        if self._looked:
            return
        self._looked = True
        with self._recorder.pausing():
            for site in self._sites.values():
                for target, prediction, inputs in site.taps:
                    arrays = [_left_in(holder) for holder in (target, prediction, *inputs)]
                    site.look(arrays[0], arrays[1], arrays[2:])

    def facts(self) -> Iterator[Objective]:
        """Every loss that was called, as it is known by now."""
        self._look_again()
        for position, site in enumerate(self._sites.values()):
            steps = max(site.turn, self._turn if site.taps else 0)
            model = None if site.model is None else site.model()
            given = GivenData() if model is None else self._given.get(model, GivenData())
            compiled = None if model is None or not site.compiled else self._trainings.compiled_as(model)
            beside = [other for other in self._sites.values() if other.model == site.model]
            alone = site.compiled and sum(other.trained == site.trained for other in beside if other.compiled) == 1
            yield Objective(
                loss=site.loss.kind,
                name=site.loss.name,
                from_logits=site.loss.from_logits,
                logits_kept=site.logits_kept,
                ignores=site.loss.ignores,
                where=span(site.place) if compiled is None else compiled.where,
                made=span(site.loss.made),
                compiled=compiled is not None,
                model="" if model is None else path_of(model),
                trained=span(site.trained),
                layers=tuple(settled(layer(), facts, steps) for layer, facts in site.layers),
                activation=site.activation,
                mixed=site.mixed,
                targets=joined(given.targets, site.targets) if alone and given.targets else site.targets,
                predictions=tuple(site.predictions) or (site.shape,),
                inputs=given.inputs or site.inputs,
                missed=(*given.missed, *((Missed.TARGETS_AMONG_INPUTS,) * bool(site.holding and not given.missed))),
                metrics=() if compiled is None else tuple(_own(compiled.metrics, site, position)),
                weighted=given.weighted,
                whole=alone and given.targets is not None,
                evaluated=model in self._evaluated
                or given.validated
                or (model is not None and self._used_apart(model)),
                steps=steps,
            )


def _own(metrics: tuple[CompiledMetric, ...], site: LossSite, position: int) -> Iterator[CompiledMetric]:
    """The metrics of one output."""
    last = site.layers[0][1].name.rpartition("/")[2] if site.layers else ""
    return (metric for metric in metrics if metric.output in ("", last, str(position)))


def _is_numeric(tensor: Any) -> bool:
    dtype = getattr(tensor, "dtype", None)
    return compat.is_tensor(tensor) and dtype is not None and (dtype.is_floating or dtype.is_integer or dtype.is_bool)


def _array(thing: Any) -> Any:
    return array_of(thing) if compat.id_of(thing) is not None else thing


def _left_in(holder: Any) -> Any:
    """What a step left in a variable of ours; None: it has not run."""
    if holder is None:
        return None
    try:
        return array_of(compat.read_handle(holder))
    except Exception:  # the branch that writes it was not taken
        return None
