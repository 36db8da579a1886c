from __future__ import annotations

from dataclasses import replace

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import OpKind, Recording
from whygrad.graph.event import GradientChange
from whygrad.graph.failure import Failure

REFUSED = Failure(
    type_name="TypeError",
    message="unsupported operand type(s) for +: 'IndexedSlices' and 'IndexedSlices'",
    where=at(9),
)


def trained(*sparse: str, failure: Failure | None = REFUSED) -> Recording:
    """Two tables of words and a dense layer; the gradients of these came back sparse."""
    g = GraphBuilder()
    made = [g.variable(name) for name in ("words/embeddings", "tags/embeddings", "out/kernel")]
    recording = g.finish(loss=g.op(OpKind.SMOOTH, made), where=at(7), failure=failure)
    [request] = recording.requests
    pairs = zip(made, request.sources, strict=True)
    sources = tuple(replace(source, sparse=variable.name in sparse) for variable, source in pairs)
    return replace(recording, requests=(replace(request, sources=sources),))


def test_fires_where_the_run_ended_and_names_the_variable_whose_gradient_is_sparse() -> None:
    found = one(trained("words/embeddings"))

    assert (found.code, found.variables) == ("WG508", ("words/embeddings",))
    assert found.message == (
        "the sparse gradient (`tf.IndexedSlices`) of `words/embeddings` is used like a dense tensor"
    )
    assert found.primary is not None
    assert found.primary.span == at(9)


def test_names_all_that_are_sparse_when_it_may_be_any_of_them() -> None:
    found = one(trained("words/embeddings", "tags/embeddings"))

    assert found.variables == ("words/embeddings", "tags/embeddings")
    assert found.message.startswith("one of the sparse gradients (`tf.IndexedSlices`) of `words/embeddings` and `tags")


def test_fires_without_a_name_when_no_request_with_a_sparse_gradient_was_seen() -> None:
    found = one(trained())

    assert found.variables == ()
    assert found.message == "a sparse gradient (`tf.IndexedSlices`) is used like a dense tensor"


def test_silent_when_nothing_raised() -> None:
    assert codes(trained("words/embeddings", failure=None)) == []


def test_silent_when_something_else_raised() -> None:
    assert codes(trained("words/embeddings", failure=replace(REFUSED, message="unsupported operand type(s)"))) == []


def test_fires_where_values_of_different_rows_are_added_up_by_their_position() -> None:
    g = GraphBuilder()
    words = g.variable("words/embeddings")
    g.event(GradientChange(asked=at(7), summed=at(9), added_by_position=(words.id,)))
    found = one(g.finish())

    assert (found.code, found.variables, found.certain) == ("WG508", ("words/embeddings",), True)
    assert found.primary is not None
    assert found.primary.span == at(9)
