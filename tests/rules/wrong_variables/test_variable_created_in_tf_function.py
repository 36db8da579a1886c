from __future__ import annotations

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one
from whygrad.graph import Failure
from whygrad.graph.objects import Call, ObjectCalled


@pytest.mark.parametrize(
    "message",
    [
        "tf.function only supports singleton tf.Variables created on the first call.",
        "tf.function-decorated function tried to create variables on non-first call.",
    ],
)
def test_fires_when_tracing_again_makes_a_variable(message: str) -> None:
    failure = Failure(type_name="ValueError", message=f"in user code:\n\n{message}", where=at(6))
    found = one(GraphBuilder().finish(failure=failure))

    assert found.code == "WG204"
    assert found.message == "a variable is created inside a traced function after its first call"
    assert found.primary is not None
    assert found.primary.span == at(6)


def test_names_the_variables_of_the_layer_that_is_called_there() -> None:
    g = GraphBuilder()
    kernel = g.variable("kernel")
    g.event(ObjectCalled(name="dense", variables=(kernel.id,), calls=(Call(where=at(6)),)))
    failure = Failure(type_name="ValueError", message="tf.function only supports singleton tf.Variables", where=at(6))

    assert one(g.finish(failure=failure)).variables == ("kernel",)


def test_fires_without_a_place_when_none_is_known() -> None:
    failure = Failure(type_name="ValueError", message="tf.function only supports singleton tf.Variables")

    assert one(GraphBuilder().finish(failure=failure)).primary is None


def test_silent_when_the_run_failed_for_another_reason() -> None:
    failure = Failure(type_name="ValueError", message="Shapes (2,) and (3,) are incompatible", where=at(6))

    assert codes(GraphBuilder().finish(failure=failure)) == []


def test_silent_when_nothing_failed() -> None:
    g = GraphBuilder()
    g.variable("w", created=at(6))

    assert codes(g.finish()) == []


def test_fires_when_a_variable_is_made_of_a_traced_value() -> None:
    message = "Argument `initial_value` (Tensor(...)) could not be lifted out of a `tf.function`."
    found = one(GraphBuilder().finish(failure=Failure(type_name="ValueError", message=message, where=at(6))))

    assert (found.code, found.message) == (
        "WG204",
        "a variable is made of a value that is computed while a function is traced",
    )
