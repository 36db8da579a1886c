"""Every public function, called with what it cannot use, answers with a sentence of whygrad's own.

The public names are found, not listed: a new one is covered by these tests, and needs at most a line in `GOOD`.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad as wg
import whygrad.testing
from whygrad.errors import WhygradError

pytestmark = pytest.mark.tensorflow


class Thing:
    """What no function wants."""


BAD: Mapping[str, Any] = {
    "None": None,
    "an object": Thing(),
    "a class": Thing,
    "a word": "nonsense",
    "a negative number": -3,
    "a fraction": 2.5,
    "NaN": float("nan"),
    "an empty list": [],
    "a list of None": [None],
    "a list of objects": [Thing(), Thing()],
    "a list of numbers": [1, 2, 3],
    "a dict": {"a": Thing()},
}

# Classes whose objects come out of functions; nobody makes one by hand.
RESULTS = frozenset(
    {"Report", "Summary", "Change", "Difference", "VariableChange", "Snapshot", "Transaction", "Comparison", "Draw"}
    | {"Quantized", "PlannedEdit"}  # the last is the base of the other edits
)
# Methods that Keras or whygrad itself calls, not a user.
HOOKS = ("on_", "set_")
OWN = frozenset({"begin", "created", "restore", "spoiled", "finish", "failed"})


def public_names() -> Iterator[tuple[str, Any]]:
    for module in (wg, wg.edit, wg.sampling, whygrad.testing):
        for name in dir(module):
            value = getattr(module, name)
            is_error = isinstance(value, type) and issubclass(value, BaseException)
            if not name.startswith("_") and callable(value) and not isinstance(value, ModuleType) and not is_error:
                yield f"{module.__name__.rpartition('.')[2]}.{name}", value


def methods_of(thing: Any) -> dict[str, Callable[..., Any]]:
    """The methods that whygrad gave to what a function returned; those of an optimizer are Keras's own."""
    found = {}
    for base in reversed(type(thing).__mro__) if not hasattr(thing, "apply_gradients") else ():
        for name, value in vars(base).items() if base.__module__.startswith("whygrad.") else ():
            is_public = not name.startswith("_") or name in ("__getitem__", "__call__")
            if is_public and inspect.isfunction(value) and not name.startswith(HOOKS) and name not in OWN:
                found[name] = getattr(thing, name)
    return found


class World:
    """A small model, and one right value for each parameter that has no default."""

    def __init__(self, tf: Any, keras: Any) -> None:
        self.model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
        self.model.compile(keras.optimizers.SGD(0.01), "mse")
        self.other = keras.models.clone_model(self.model)
        self.variables = self.model.trainable_variables
        x, y = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
        vector = tf.constant([0.5, 1.5, 2.5])

        def loss(*_: Any) -> Any:
            return tf.reduce_mean((self.model(x) - y) ** 2)

        def step(*_: Any) -> Any:
            with tf.GradientTape() as tape:
                value = loss()
            tape.gradient(value, self.variables)
            return value

        def stopped() -> None:
            with tf.GradientTape() as tape:
                value = tf.reduce_sum(tf.stop_gradient(self.variables[0] * 2.0))
            tape.gradient(value, self.variables[0])

        self.stopped = stopped
        self.good: dict[str, Any] = {
            "optimizer": lambda: keras.optimizers.Adam(),
            "steps": 2,
            "f": lambda value: tf.reduce_sum(value**2),
            "inputs": tf.constant([[1.0, 2.0]]),
            "step": step,
            "gradients": lambda: [tf.ones_like(v) for v in self.variables],
            "variables": self.variables,
            "batch": (x, y),
            "model": self.model,
            "variable": tf.Variable(1.0, name="beta"),
            "start": 0.0,
            "end": 1.0,
            "over": 10,
            "function": tf.round,
            "target": self.other,
            "source": self.model,
            "owners": (self.model,),
            "at": 3,
            "before": self.model,
            "after": self.model,
            "estimators": None,
            "loss": tf.reduce_sum,
            "parameters": vector,
            "codebook": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
            "rule": "stop-gradient",
            "k": 1,
            "name": "norm",
            "by": "norm",
            "tensors": (vector,),
            "args": (),
            "count": 1,
            "cost": vector,
            **dict.fromkeys(("logits", "mean", "scale", "x", "log_prob", "tensor"), vector),
            **dict.fromkeys(("concentration", "concentration1", "concentration0"), vector),
            # One function alone, where its parameter means something else, or its default takes long.
            "Schedule.function": lambda: lambda step: step,
            "ClipWeights.limit": 1.0,
            "Reset.when": 5,
            "reparameterized_normal.scale": vector,
            "rebar.loss": lambda: lambda sample: tf.reduce_sum(sample, -1),
            "suggest_learning_rate.step": self.model,
            "suggest_learning_rate.data": (x, y),
            "suggest_learning_rate.tries": 8,
            "compare.samples": 4,
            "compare.estimators": ["score_function"],
            "compare.reference_samples": 8,
            "SoftUpdate.rate": 0.5,
        }

    def value(self, function: str, parameter: inspect.Parameter) -> Any:
        """A right value; `inspect.Parameter.empty` where the default is one."""
        for key in (f"{function}.{parameter.name}", parameter.name):
            if key in self.good and (key == f"{function}.{parameter.name}" or _is_required(parameter)):
                value = self.good[key]
                is_maker = getattr(value, "__name__", "") == "<lambda>" and not inspect.signature(value).parameters
                return value() if is_maker else value
        assert not _is_required(parameter), f"`{function}` wants `{parameter.name}`: put a right value into `GOOD`"
        return inspect.Parameter.empty

    def call(self, name: str, function: Callable[..., Any], bad: str = "", value: Any = None) -> Any:
        """Call with right values, but for one parameter."""
        short = name.rpartition(".")[2]
        args: list[Any] = []
        options: dict[str, Any] = {}
        for each in inspect.signature(function).parameters.values():
            chosen = value if each.name == bad else self.value(short, each)
            if chosen is inspect.Parameter.empty:
                continue
            if each.kind is each.VAR_POSITIONAL:
                args += [value] if each.name == bad else chosen
            elif each.kind is each.POSITIONAL_ONLY or (each.kind is each.POSITIONAL_OR_KEYWORD and not options):
                args.append(chosen)
            elif each.kind is not each.VAR_KEYWORD:
                options[each.name] = chosen
        result = function(*args, **options)
        if short not in ("watch", "transaction", "assert_diagnoses"):
            str(result)
            return result
        with result as entered:
            if short == "assert_diagnoses":
                self.stopped()
        return entered

    def unspoken(self, name: str, function: Callable[..., Any]) -> Iterator[str]:
        """The calls that ended in an error that is not ours."""
        for parameter in without_options(function):
            for kind, value in BAD.items():
                try:
                    self.call(name, function, parameter, value)
                except WhygradError as error:
                    if len(error.message.split()) < 3:
                        yield f"{name}({parameter}={kind}) says only: {error}"
                except Exception as error:
                    yield f"{name}({parameter}={kind}): {type(error).__name__}: {error}"


def without_options(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is not each.VAR_KEYWORD]


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD


@pytest.fixture(scope="module")
def world(tf: Any, keras: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("calls"))
        yield World(tf, keras)


PUBLIC = {name: value for name, value in public_names() if name.rpartition(".")[2] not in RESULTS}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PUBLIC)
def test_a_wrong_argument_is_answered_by_a_sentence(name: str, world: World) -> None:
    made = world.call(name, PUBLIC[name])
    unspoken = list(world.unspoken(name, PUBLIC[name]))
    for method, bound in methods_of(made).items():
        unspoken += world.unspoken(f"{name}().{method}", bound)
    assert not unspoken, "\n".join(unspoken)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PUBLIC)
def test_what_nothing_can_use_is_never_taken(name: str, world: World) -> None:
    for parameter in inspect.signature(PUBLIC[name]).parameters.values():
        is_passed_on = parameter.kind is parameter.VAR_POSITIONAL and parameter.name != "owners"
        if parameter.annotation == "bool" or is_passed_on or parameter.kind is parameter.VAR_KEYWORD:
            continue
        with pytest.raises(WhygradError):
            world.call(name, PUBLIC[name], parameter.name, Thing())


def test_the_test_above_can_fail(world: World) -> None:
    def careless(steps: int) -> int:
        return steps + 1

    assert len(list(world.unspoken("careless", careless))) > 5


@pytest.mark.parametrize("option", ["gradients", "variables", "applied", "learning_rate", "track", "step", "loss"])
def test_a_wrong_number_for_a_recorded_step_is_answered_by_a_sentence(option: str, world: World) -> None:
    with wg.watch() as run:
        for value in (Thing(), "nonsense", Thing, [Thing()]):
            right = {"gradients": world.good["gradients"](), "variables": world.variables}
            with contextlib.suppress(WhygradError):
                run.record(**{**right, option: value})


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"selection": "WG1"}, ["stop-gradient"]),
        ({"selection": ["WG2", "WG3"]}, []),
        ({"select": "stop-gradient"}, ["stop-gradient"]),
        ({"ignore": "WG103"}, []),
        ({"select": "WG1", "ignore": "WG103, WG104"}, []),
    ],
)
def test_rules_are_chosen_by_words(options: dict[str, Any], found: list[str], world: World) -> None:
    with wg.watch(**options) as run:
        world.stopped()

    assert [each.rule for each in run.report().diagnostics] == found


def test_a_word_that_chooses_no_rule_is_refused(world: World) -> None:
    with pytest.raises(WhygradError, match="unknown rule `stop-gradiant`\nhelp: did you mean `stop-gradient`"):
        wg.watch(select="stop-gradiant").__enter__()
