"""Custom gradients: which function, which inputs, and which of them it gave None."""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.log.custom_calls import CustomCall
from whygrad.backends.tensorflow.log.episode import Episode, WayBack
from whygrad.backends.tensorflow.log.op_record import CUSTOM, OpRecord
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.graph.event import CustomGradient
from whygrad.observe.place import Place
from whygrad.source import SourceSpan
from whygrad.source.position import CodeOwner, file_owner


def install(hooks: Hooks, recorder: Recorder) -> None:
    running = _Running()

    def inside(original: Any) -> Any:
        def decorator(f: Any, *args: Any, **kwargs: Any) -> Any:
            hooks.safely(_enter, recorder, getattr(f, "__name__", "custom_gradient"))
            running.noted.append([])
            running.functions.append(f)
            try:
                result = original(f, *args, **kwargs)
                hooks.safely(_returned, running.noted[-1], result)
                return result
            except TypeError as error:
                hooks.safely(_note_forgotten, recorder, f, error)
                raise
            finally:
                running.noted.pop()
                running.functions.pop()
                hooks.safely(_leave, recorder)

        return decorator

    def recording(original: Any) -> Any:
        def record_operation(
            op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, *args: Any, **kwargs: Any
        ) -> Any:
            if recorder.episode is not None and not recorder.paused:
                hooks.safely(_note_way_back, recorder.episode, output_tensors, input_tensors, backward_function)
            if recorder.custom and not recorder.paused and not hooks.broken:
                given = (op_type, output_tensors, input_tensors, backward_function)
                observed = hooks.safely(_note, hooks, recorder, running, *given)
                backward_function = observed or backward_function
            return original(op_type, output_tensors, input_tensors, backward_function, *args, **kwargs)

        return record_operation

    for name in ("_eager_mode_decorator", "_graph_mode_decorator"):
        hooks.replace(compat.custom_gradient, name, inside)
    hooks.replace(compat.record, "record_operation", recording)


class _Running(threading.local):
    """For each call that goes on in this thread, its function, and who wants to hear how many results it has."""

    def __init__(self) -> None:
        self.noted: list[list[Callable[[int], None]]] = []
        self.functions: list[Any] = []


def _returned(noted: list[Callable[[int], None]], result: Any) -> None:
    for hear in noted[-1:]:
        hear(len(compat.flatten(result)))


def _enter(recorder: Recorder, name: str) -> None:
    recorder.custom = (*recorder.custom, name)


def _leave(recorder: Recorder) -> None:
    recorder.custom = recorder.custom[:-1]


def _note_way_back(episode: Episode, outputs: Any, inputs: Any, backward: Any) -> None:
    """A replay must ask this function for the gradient: a custom gradient's, or a compiled function's."""
    if outputs and hasattr(outputs[0], "numpy"):
        ids = tuple(compat.tensor_id(tensor) for tensor in outputs)
        episode.closures[ids[0]] = WayBack(backward, ids, tuple(compat.tensor_id(tensor) for tensor in inputs))


def _note(
    hooks: Hooks, recorder: Recorder, running: _Running, op_type: Any, outputs: Any, inputs: Any, backward: Any
) -> Any:
    """Log the whole function as one op; what ran inside it feeds the outputs without a gradient."""
    graph = getattr(outputs[0], "graph", None) if outputs and not hasattr(outputs[0], "numpy") else None
    hidden: list[int] = []
    if graph is None:
        for tensor in outputs:
            producer = recorder.producers.get(compat.tensor_id(tensor))
            hidden.extend(producer.inputs[:1] if producer is not None else ())
    ids = [compat.tensor_id(tensor) for tensor in inputs]
    record = recorder.add_virtual(CUSTOM, (*ids, *hidden), outputs, _place(recorder, running), graph)
    record.custom = str(op_type)
    record.blocked = frozenset(range(len(ids), len(ids) + len(hidden)))
    results = 0

    def returned(number: int) -> None:
        """In a traced function the results come first among the inputs; they get no gradient."""
        nonlocal results
        if graph is not None:
            results = number
            record.blocked = frozenset(range(number))

    for noted in running.noted[-1:]:
        noted.append(returned)

    def observed(*gradients: Any) -> Any:
        made = hidden if graph is None else ids[:results]
        hooks.safely(recorder.wake)
        call = hooks.safely(_meet, recorder, record, backward, tuple(made), graph)
        hooks.safely(_enter, recorder, str(op_type))
        listening = hooks.safely(_listen_in, recorder, backward)
        try:
            answer = backward(*gradients)
        finally:
            if listening is not None:
                listening()
            hooks.safely(_leave, recorder)
            if call is not None:
                recorder.spy = None
        if isinstance(answer, (list, tuple)):
            if call is not None:
                hooks.safely(_keep, recorder, call, inputs[results:], gradients, answer[results:])
            withheld = {i for i, g in enumerate(answer) if g is None}
            record.blocked = (record.blocked or frozenset()) | withheld
            if withheld:
                hooks.safely(_note_withheld, recorder, str(op_type), backward, withheld)
        return answer

    return observed


def _place(recorder: Recorder, running: _Running) -> Place:
    """Where it was called; the function itself where a tape called it, as a part of another custom gradient."""
    code = _users_code(running.functions[-1], depth=3) if recorder.asking and running.functions else None
    return recorder.places.at(sys._getframe(3)) if code is None else SourceSpan(code.co_filename, code.co_firstlineno)


def _listen_in(recorder: Recorder, backward: Any) -> Callable[[], None] | None:
    """Where the user's gradient asks a tape of its own, that is listened to as any other; returns what ends it."""
    code = _users_code(backward, depth=3)
    if code is None or "GradientTape" not in code.co_names or recorder.listening_in or not recorder.paused:
        return None
    before = recorder.paused, recorder.asking, recorder.custom
    recorder.paused, recorder.asking, recorder.custom = 0, 0, ()
    recorder.listening_in = True

    def end() -> None:
        recorder.paused, recorder.asking, recorder.custom = before
        recorder.listening_in = False

    return end


def _meet(recorder: Recorder, record: OpRecord, backward: Any, made: tuple[int, ...], graph: Any) -> CustomCall | None:
    """A call of the user's own function whose formula is to be checked after the run; None: it is not needed."""
    code = _users_code(backward, depth=3)
    if code is None or file_owner(code.co_filename) is not CodeOwner.USER or recorder.spy is not None or not made:
        return None
    call = CustomCall(str(record.custom), _span(code), made, graph, _ignores_arguments(code))
    if not recorder.custom_calls.wants(call) or (graph is None and not recorder.paused):
        return None
    recorder.spy = call.note_op if graph is None else None
    return call


def _keep(recorder: Recorder, call: CustomCall, inputs: Any, gradients: Any, answers: Any) -> None:
    call.arguments = tuple(compat.tensor_id(tensor) for tensor in inputs)
    call.upstream, call.answers = tuple(gradients[: len(call.results)]), tuple(answers)
    if call.graph is None:
        call.values.update(zip(call.arguments, inputs, strict=True))
    if call.graph is not None or call.trace_back(recorder.producers, recorder.episode):
        recorder.custom_calls.add(call)


def _note_withheld(recorder: Recorder, name: str, backward: Any, withheld: Iterable[int]) -> None:
    event = CustomGradient(function=name, where=_span(_users_code(backward, depth=3)), withheld=tuple(sorted(withheld)))
    if event not in recorder.events:
        recorder.events.append(event)


def _span(code: CodeType | None) -> SourceSpan | None:
    if code is None:
        return None
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return SourceSpan(code.co_filename, code.co_firstlineno, end_line=last)


def _ignores_arguments(code: CodeType) -> bool:
    """Whether a function has arguments and reads none of them."""
    flags = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in flags)
    names = set(code.co_varnames[:count])
    read = {each.argval for each in dis.get_instructions(code) if each.opname.startswith("LOAD_")}
    return bool(names) and names.isdisjoint(read) and names.isdisjoint(code.co_cellvars)


def _users_code(function: Any, depth: int) -> CodeType | None:
    """The code of the gradient function that the user wrote, inside the ones that TensorFlow put around it."""
    code = getattr(function, "__code__", None)
    if code is None or file_owner(code.co_filename) is CodeOwner.USER:
        return code
    for cell in (getattr(function, "__closure__", None) or ()) if depth else ():
        inside = cell.cell_contents
        found = _users_code(inside, depth - 1) if callable(inside) else None
        if found is not None and file_owner(found.co_filename) is CodeOwner.USER:
            return found
    return None


def _note_forgotten(recorder: Recorder, function: Any, error: TypeError) -> None:
    """TensorFlow raises where the gradient takes no `variables`; the frame that raised still knows them."""
    trace = error.__traceback__
    while trace is not None:
        held = trace.tb_frame.f_locals
        gradient = held.get("grad_fn")
        code = getattr(gradient, "__code__", None)
        if trace.tb_frame.f_code.co_name.endswith("_mode_decorator") and code is not None:
            names = [entry.name for v in held.get("variables", ()) if (entry := recorder.variables.of(v)) is not None]
            name = getattr(function, "__name__", "custom_gradient")
            recorder.events.append(
                CustomGradient(function=name, where=_span(code), variables=tuple(names), takes_variables=False)
            )
            return
        trace = trace.tb_next
