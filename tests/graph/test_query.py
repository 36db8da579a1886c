"""Reachability and cuts, held against the writing out of all paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.paths import is_open, paths, reads
from graph.strategies import programs
from graph_builder import GraphBuilder
from whygrad.graph import Flow, Op, OpKind, Recording, Request, Source, TensorId
from whygrad.graph.questions.query import CutGroup, Index, Reason, cut_groups, is_connected, later_cuts
from whygrad.graph.recording import used_variables
from whygrad.source import SourceSpan

PROGRAMS = programs()


def only_request(recording: Recording) -> Request:
    return recording.requests[0]


def starts_of(request: Request, source: Source, *, recorded: bool = False) -> set[TensorId]:
    found = reads(request.graph, source.variable)
    return {tensor for op in found if not recorded or request.tape in op.tapes for tensor in op.outputs}


def open_paths(
    request: Request, starts: Iterable[TensorId], *, zeros: bool = True
) -> Iterator[tuple[TensorId, TensorId]]:
    """(from, to) for each path that a gradient comes back along."""
    for start in starts:
        for path in paths(request.graph, [start]):
            if all(is_open(request.graph, edge, request.tape, zeros=zeros) for edge in path):
                yield start, path[-1].end if path else start


def has_open_path(request: Request, source: Source) -> bool:
    starts = starts_of(request, source, recorded=True)
    return any(end in request.targets for _, end in open_paths(request, starts))


def dead_sources(request: Request) -> list[Source]:
    """What is really missing: connected, and no path open."""
    index = Index(request.graph)
    behind = index.behind(request.targets)
    return [s for s in request.sources if is_connected(index, behind, s) and not has_open_path(request, s)]


@given(PROGRAMS)
def test_ahead_is_where_paths_lead(recording: Recording) -> None:
    request = only_request(recording)
    for tensor in request.graph.tensors:
        written_out = {tensor} | {path[-1].end for path in paths(request.graph, [tensor]) if path}

        assert Index(request.graph).ahead([tensor]) == written_out


@given(PROGRAMS)
def test_behind_is_where_paths_come_from(recording: Recording) -> None:
    graph = only_request(recording).graph
    for target in only_request(recording).targets:
        written_out = {
            tensor
            for tensor in graph.tensors
            if any((path[-1].end if path else tensor) == target for path in paths(graph, [tensor]))
        }

        assert Index(graph).behind([target]) == written_out


@given(PROGRAMS, st.booleans())
def test_open_ahead_is_where_open_paths_lead(recording: Recording, zeros: bool) -> None:
    request = only_request(recording)
    for tensor in request.graph.tensors:
        written_out = {end for _, end in open_paths(request, [tensor], zeros=zeros)}

        assert Index(request.graph).open_ahead([tensor], request.tape, zeros=zeros) == written_out


@given(PROGRAMS, st.booleans())
def test_open_behind_is_open_ahead_seen_from_the_other_end(recording: Recording, zeros: bool) -> None:
    request = only_request(recording)
    index = Index(request.graph)

    for end in request.graph.tensors:
        behind = index.open_behind([end], request.tape, zeros=zeros)
        for start in request.graph.tensors:
            assert (start in behind) == (end in index.open_ahead([start], request.tape, zeros=zeros))


@given(PROGRAMS)
def test_connected_means_that_some_path_leads_there(recording: Recording) -> None:
    request = only_request(recording)
    index = Index(request.graph)
    for source in request.sources:
        some = any(
            (path[-1].end if path else start) in request.targets
            for start in starts_of(request, source)
            for path in paths(request.graph, [start])
        )

        assert is_connected(index, index.behind(request.targets), source) == some


@given(PROGRAMS)
def test_builder_and_paths_agree_on_what_is_missing(recording: Recording) -> None:
    request = only_request(recording)

    for source in request.sources:
        assert (source.outcome == "present") == has_open_path(request, source)


def got_to(request: Request, source: Source) -> set[TensorId]:
    """The tensors at which a gradient would come back to a source."""
    return {end for _, end in open_paths(request, starts_of(request, source, recorded=True))}


def causes(request: Request, source: Source) -> set[Op]:
    """On each path to the target, the op where the gradient is lost, unless the path meets the gradient again."""
    got = got_to(request, source)
    found = set()
    for path in paths(request.graph, got):
        if path and path[-1].end in request.targets and not any(edge.end in got for edge in path):
            found.add(path[0].op)
    for op in reads(request.graph, source.variable):
        for path in paths(request.graph, op.outputs if request.tape not in op.tapes else ()):
            ends = {*op.outputs, *(edge.end for edge in path)}
            if not ends & got and ends & set(request.targets):
                found.add(op)
    return found


@given(PROGRAMS)
def test_cuts_of_a_source_are_the_causes_found_by_writing_out_its_paths(recording: Recording) -> None:
    request = only_request(recording)
    for source in dead_sources(request):
        groups = cut_groups(Index(request.graph), request, [source])

        ops = causes(request, source)
        assert {group.cut.op.where or group.cut.op.id for group in groups} == {op.where or op.id for op in ops}
        assert all(group.cut.op in ops for group in groups)
        assert all(group.sources == (source,) for group in groups)
        assert groups, "what is missing has a cause"


@given(PROGRAMS)
def test_nothing_is_told_of_a_source_with_an_open_path(recording: Recording) -> None:
    request = only_request(recording)
    alive = [source for source in request.sources if has_open_path(request, source)]

    assert cut_groups(Index(request.graph), request, alive) == []


@given(PROGRAMS)
def test_cuts_of_many_sources_are_the_cuts_of_each(recording: Recording) -> None:
    request = only_request(recording)
    dead = dead_sources(request)
    index = Index(request.graph)

    together = {
        (group.cut.reason, group.cut.op.where or group.cut.op.id, source.variable)
        for group in cut_groups(index, request, dead)
        for source in group.sources
    }
    apart = {
        (group.cut.reason, group.cut.op.where or group.cut.op.id, source.variable)
        for each in dead
        for group in cut_groups(index, request, [each])
        for source in group.sources
    }
    assert together == apart


SOFT = (OpKind.SMOOTH, OpKind.CAST, OpKind.SIGN)


def mended(request: Request, group: CutGroup, *, further: bool = False) -> Request:
    """The same program with one place made differentiable and recorded.

    `further`: also what only integers closed is open then, and what ran outside moves under the tape with the place.
    """
    before, after = request.graph.tensors, dict(request.graph.tensors)
    moved = {request.tape} if further and group.cut.reason is Reason.OUTSIDE else set()

    def mend(op: Op) -> Op:
        op = replace(op, tapes=op.tapes | moved)
        kind, flows, tapes = op.kind, list(op.flows), op.tapes
        whole = [position for position, tensor in enumerate(op.inputs) if not before[tensor].is_floating]
        if op.id == group.cut.op.id or (op.where is not None and op.where == group.cut.op.where):
            kind = op.kind if op.kind is OpKind.READ else OpKind.SMOOTH
            flows, tapes = [Flow.CARRIED] * len(flows), op.tapes | {request.tape}
        elif further and whole and op.kind in SOFT:
            flows = [Flow.CARRIED if i in whole and flow is Flow.BLOCKED else flow for i, flow in enumerate(flows)]
        else:
            return op
        after.update({tensor: replace(after[tensor], dtype="float32") for tensor in op.outputs})
        return replace(op, kind=kind, flows=tuple(flows), tapes=tapes)

    ops = tuple(map(mend, request.graph.ops))
    return replace(request, graph=replace(request.graph, ops=ops, tensors=after))


@given(programs(writes=False))
def test_mending_one_reported_place_after_another_brings_the_gradient_back(recording: Recording) -> None:
    request = only_request(recording)
    for source in dead_sources(request):
        program = request
        for _ in request.graph.ops:
            if not has_open_path(program, source):
                program = mended(program, cut_groups(Index(program.graph), program, [source])[0])

        assert has_open_path(program, source)


@given(programs(writes=False))
def test_mending_a_cut_suffices_if_nothing_cuts_again_after_it(recording: Recording) -> None:
    request = only_request(recording)
    index = Index(request.graph)
    for source in dead_sources(request):
        for group in cut_groups(index, request, [source]):
            if not later_cuts(index, request, group.cut):
                assert has_open_path(mended(request, group, further=True), source)


def where(line: int) -> SourceSpan:
    return SourceSpan("train.py", line)


def cuts_of(recording: Recording) -> list[tuple[Reason, list[str]]]:
    request = only_request(recording)
    missing = [source for source in request.sources if source.outcome == "missing"]
    return [
        (group.cut.reason, [recording.variables[s.variable].name for s in group.sources if s.variable is not None])
        for group in cut_groups(Index(request.graph), request, missing)
    ]


def test_a_cut_is_told_although_another_source_gets_past_the_same_op() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    joined = g.op(OpKind.MOVE, (a, b), flows=(Flow.CARRIED, Flow.BLOCKED))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (joined,)),))

    assert cuts_of(g.finish(loss=loss)) == [(Reason.BLOCKED, ["b"]), (Reason.STOPPED, ["a"])]


def test_a_cut_that_an_open_way_leads_around_is_no_cause() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    joined = g.op(OpKind.SMOOTH, (w, g.op(OpKind.ROUND, (w,))))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (joined,)),))

    assert cuts_of(g.finish(loss=loss)) == [(Reason.STOPPED, ["w"])]


def test_two_causes_of_one_missing_gradient_are_both_told() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (w,)), g.op(OpKind.ROUND, (w,))))

    assert cuts_of(g.finish(loss=loss)) == [(Reason.STOPPED, ["w"]), (Reason.BLOCKED, ["w"])]


def test_ops_of_one_line_are_one_cut() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    stopped = [g.op(OpKind.STOP, (variable,), where=where(3)) for variable in (a, b)]

    assert cuts_of(g.finish(loss=g.op(OpKind.SMOOTH, stopped))) == [(Reason.STOPPED, ["a", "b"])]


def test_a_loop_is_cut_where_its_body_is() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    state = g.op(OpKind.MOVE, (w,))
    body = g.op(OpKind.STOP, (g.op(OpKind.SMOOTH, (state,)),), where=where(5))
    g.op(OpKind.MOVE, (body,), into=state)

    assert cuts_of(g.finish(loss=g.op(OpKind.REDUCE, (body,)))) == [(Reason.STOPPED, ["w"])]


def test_a_loop_whose_first_round_carries_is_not_cut() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    state = g.op(OpKind.MOVE, (w,))
    g.op(OpKind.MOVE, (g.op(OpKind.STOP, (state,)),), into=state)

    assert cuts_of(g.finish(loss=g.op(OpKind.REDUCE, (state,)))) == []


def test_positions_beside_values_are_cut_although_the_op_carries() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    _values, positions = g.multi(OpKind.MOVE, (w,), ("float32", "int64"))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.CAST, (positions,), dtype="float32"),))

    assert cuts_of(g.finish(loss=loss)) == [(Reason.BLOCKED, ["w"])]


def test_a_shape_is_no_path() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    size = g.op(OpKind.CAST, (g.op(OpKind.SHAPE, (w,)),), dtype="float32")
    request = only_request(g.finish(loss=g.op(OpKind.SMOOTH, (size,))))
    index = Index(request.graph)

    assert not is_connected(index, index.behind(request.targets), request.sources[0])


def test_a_write_leads_to_later_reads_only() -> None:
    g = GraphBuilder()
    w, copy = g.variable("w"), g.variable("copy", trainable=False)
    before = g.read(copy)
    g.write(copy, w)
    after = g.read(copy)
    request = g.request(g.op(OpKind.SMOOTH, (before, after)))
    index = Index(request.graph)

    assert before.id not in index.ahead(index.starts(request.sources[0]))
    assert after.id in index.ahead(index.starts(request.sources[0]))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (OpKind.STOP, Reason.STOPPED),
        (OpKind.SAMPLE, Reason.SAMPLED),
        (OpKind.FOREIGN, Reason.FOREIGN),
        (OpKind.STATE, Reason.STATE),
        (OpKind.INDEX, Reason.BLOCKED),
        (OpKind.ROUND, Reason.BLOCKED),
        (OpKind.COMPARE, Reason.BLOCKED),
    ],
)
def test_what_an_op_is_says_why_it_cuts(kind: OpKind, reason: Reason) -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert cuts_of(g.finish(loss=g.op(OpKind.SMOOTH, (g.op(kind, (w,)),)))) == [(reason, ["w"])]


def test_what_ran_outside_the_tape_cuts_there() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    inside = g.op(OpKind.SMOOTH, (b,))
    with g.outside():
        before, between = g.op(OpKind.SMOOTH, (a,)), g.op(OpKind.SMOOTH, (inside,))
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (before, between)))

    assert cuts_of(recording) == [(Reason.OUTSIDE, ["a"]), (Reason.OUTSIDE, ["b"])]


def test_later_cuts_name_no_place_that_can_be_passed_by() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    first = g.op(OpKind.STOP, (w,), where=where(1))
    joined = g.op(OpKind.SMOOTH, (first, g.op(OpKind.ROUND, (first,), where=where(2))))
    loss = g.op(OpKind.SMOOTH, (g.op(OpKind.STOP, (joined,), where=where(3)),))
    request = only_request(g.finish(loss=loss))
    index = Index(request.graph)

    [group] = cut_groups(index, request, request.sources)
    assert [cut.op.where for cut in later_cuts(index, request, group.cut)] == [where(3)]


def test_a_compiled_request_counts_the_steps_that_ran_and_not_its_traces() -> None:
    g = GraphBuilder()
    w = g.variable("w")
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (w,)), seen=2)
    [request] = recording.requests

    assert request.times == 2
    assert replace(request, compiled=True).times == 1
    assert replace(request, compiled=True, ran=12).times == 12


def test_slots_and_metrics_are_not_variables_of_the_program() -> None:
    g = GraphBuilder()
    w, frozen = g.variable("w"), g.variable("frozen", trainable=False)
    written, _ = g.variable("ema", writes=3), g.variable("adam/m", trainable=False)
    ours = g.variable("whygrad/steps", trainable=False)
    recording = g.finish(loss=g.op(OpKind.SMOOTH, (w, frozen, ours)), sources=[w])

    assert used_variables(recording) == {w.id, frozen.id, written.id}
