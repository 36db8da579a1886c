from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at, codes, one
from whygrad.graph import Failure
from whygrad.graph.objects import AttributeSet, Given


def missing(attribute: str, of: str = "keras.src.optimizers.sgd.SGD") -> Failure:
    return Failure(
        type_name="AttributeError",
        message=f"object has no attribute '{attribute}'",
        where=at(6),
        attribute=attribute,
        object_type=of,
    )


def refused(argument: str) -> Failure:
    return Failure(type_name="ValueError", message=f"Argument(s) not recognized: {{'{argument}': 0.1}}", where=at(6))


def test_fires_when_a_removed_method_is_called() -> None:
    found = one(GraphBuilder().finish(failure=missing("minimize")))

    assert found.code == "WG706"
    assert found.message == "Keras 3 has no `minimize` here any more"
    assert found.help is not None
    assert "tf.GradientTape" in found.help
    assert found.primary is not None
    assert found.primary.span == at(6)


@pytest.mark.parametrize("argument", ["lr", "decay", "batch_input_shape"])
def test_fires_when_a_removed_argument_is_given(argument: str) -> None:
    found = one(GraphBuilder().finish(failure=refused(argument)))

    assert found.message == f"Keras 3 has no argument `{argument}` here any more"


def test_fires_when_a_keras_variable_is_watched() -> None:
    failure = Failure(type_name="ValueError", message="Passed in object <Variable path=w> of type ...", where=at(6))

    assert codes(GraphBuilder().finish(failure=failure)) == ["WG706"]


@pytest.mark.parametrize(
    "message",
    [
        "'SGD' object has no attribute 'minimize'",
        "'LossScaleOptimizer' object has no attribute 'minimize'",
        "module 'keras.api.backend' has no attribute 'gradients'",
        "in user code:\n\n    AttributeError: 'Adam' object has no attribute 'get_updates'",
    ],
)
def test_fires_when_only_the_text_of_the_exception_is_left(message: str) -> None:
    assert codes(GraphBuilder().finish(failure=Failure(type_name="AttributeError", message=message))) == ["WG706"]


def test_fires_when_a_call_refuses_the_argument() -> None:
    failure = Failure(type_name="TypeError", message="__init__() got an unexpected keyword argument 'lr'")

    assert codes(GraphBuilder().finish(failure=failure)) == ["WG706"]


@pytest.mark.parametrize(
    "message",
    [
        "'Solver' object has no attribute 'minimize'",
        "module 'mylib.backend' has no attribute 'gradients'",
        "'SGD' object has no attribute 'optimise'",
    ],
)
def test_silent_when_the_text_is_about_something_else(message: str) -> None:
    assert codes(GraphBuilder().finish(failure=Failure(type_name="AttributeError", message=message))) == []


def test_silent_when_the_attribute_was_never_there() -> None:
    assert codes(GraphBuilder().finish(failure=missing("minimise"))) == []


def test_silent_when_the_object_is_the_user_s_own() -> None:
    assert codes(GraphBuilder().finish(failure=missing("minimize", of="__main__.Solver"))) == []


def test_silent_when_the_argument_was_never_there() -> None:
    assert codes(GraphBuilder().finish(failure=refused("learning_rat"))) == []


def test_silent_when_the_run_succeeds() -> None:
    assert codes(GraphBuilder().finish()) == []


def raised(kind: str, called: str, message: str = "") -> Failure:
    return Failure(type_name=kind, message=message or kind, where=at(6), called=called)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (
            raised("NotImplementedError", "keras.src.models.functional.Functional.add_loss"),
            "no `add_loss` for symbolic",
        ),
        (raised("NotImplementedError", "keras.src.layers.layer.Layer.add_metric"), "no `add_metric`"),
        (raised("RuntimeError", "keras.src.legacy.backend.gradients"), "no gradients of symbolic tensors"),
        (raised("AttributeError", "keras.src.legacy.backend.set_value"), "`set_value` of Keras 2"),
    ],
)
def test_fires_when_a_function_is_there_only_to_raise(failure: Failure, said: str) -> None:
    found = one(GraphBuilder().finish(failure=failure))

    assert found.code == "WG706"
    assert said in found.message


def test_fires_when_a_tensorflow_function_is_given_a_symbolic_tensor() -> None:
    message = "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic placeholder"
    found = one(GraphBuilder().finish(failure=Failure(type_name="ValueError", message=message, where=at(6))))

    assert found.help is not None
    assert "keras.ops" in found.help


def test_fires_when_a_class_derived_from_keras_asks_for_a_removed_attribute() -> None:
    failure = replace(missing("compiled_loss", of="__main__.Net"), object_bases=("keras.src.models.model.Model",))

    assert codes(GraphBuilder().finish(failure=failure)) == ["WG706"]


@pytest.mark.parametrize(
    "failure",
    [
        raised("NotImplementedError", "my_layers.Penalty.add_loss"),
        raised("ValueError", "keras.src.legacy.backend.gradients"),
        Failure(type_name="TypeError", message="build() got an unexpected keyword argument 'weights'"),
        Failure(type_name="TypeError", message="train() got an unexpected keyword argument 'workers'"),
        replace(missing("targets", of="__main__.Net"), object_bases=("keras.src.models.model.Model",)),
        Failure(type_name="TypeError", message="'list' object is not callable", where=at(6)),
    ],
)
def test_silent_when_the_mistake_is_the_user_s_own(failure: Failure) -> None:
    assert codes(GraphBuilder().finish(failure=failure)) == []


def test_fires_when_variables_is_called_like_a_method(tmp_path: Path) -> None:
    script = Script(tmp_path, "slots = optimizer.variables()")
    failure = Failure(
        type_name="TypeError", message="'list' object is not callable", where=script["optimizer.variables()"]
    )

    assert codes(GraphBuilder().finish(failure=failure)) == ["WG706"]


def attribute_set(attribute: str, *, base: str = "keras.src.optimizers.SGD", known: bool = False) -> list[str]:
    g = GraphBuilder()
    g.event(AttributeSet(owner="SGD", attribute=attribute, given=Given.OTHER, where=at(6), base=base, known=known))
    return codes(g.finish())


def test_fires_when_an_attribute_of_an_old_name_is_set() -> None:
    assert attribute_set("lr") == ["WG706"]


def test_silent_when_the_attribute_has_a_name_that_was_never_there() -> None:
    assert attribute_set("note") == []


def test_silent_when_the_optimizer_has_such_an_attribute() -> None:
    assert attribute_set("decay", known=True) == []


def test_silent_when_the_optimizer_is_of_another_framework() -> None:
    assert attribute_set("lr", base="tf_keras.src.optimizers.SGD") == []
