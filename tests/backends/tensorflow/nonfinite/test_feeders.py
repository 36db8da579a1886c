"""What is recorded of the ops before a failing one: near ones, large ones, and never too many."""

from __future__ import annotations

from typing import Any

import pytest

from whygrad.graph import Action, OpKind

pytestmark = pytest.mark.tensorflow


class Replay:
    """Values by hand; each op adds 1 to what it takes."""

    def __init__(self, tf: Any) -> None:
        from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Site, Trace, Value

        self.tf, self.trace = tf, Trace()
        self.node, self.site, self.value = Node, Site(None), Value

    def leaf(self, number: float, handle: int | None = None) -> Any:
        value = self.value(self.tf.constant([number]))
        value.handle = handle
        return value

    def op(self, op_type: str, *inputs: Any, result: float = 1.0) -> Any:
        node = self.node(op_type, inputs, self.site)
        return self.trace.add(node, [self.tf.constant([result])]).outputs[0]

    def feeders(self, value: Any) -> Any:
        from whygrad.backends.tensorflow.nonfinite.feeders import feeders_of

        return feeders_of(lambda place, layers: place, value.maker)


@pytest.fixture
def replay(tf: Any) -> Replay:
    return Replay(tf)


def test_each_feeder_says_what_it_is_and_what_took_it(replay: Replay) -> None:
    x = replay.leaf(3.0)
    root = replay.op("Sqrt", replay.op("Sum", replay.op("Square", x, result=9.0), result=9.0), result=3.0)
    found = replay.feeders(root)

    assert [(each.action, each.into, each.high) for each in found] == [
        (Action.SUM, None, 9.0),
        (Action.SQUARE, 0, 9.0),
        (None, 1, 3.0),
    ]
    assert found[-1].kind is OpKind.CONSTANT


def test_product_of_a_value_with_itself_is_a_square(replay: Replay) -> None:
    x, y = replay.leaf(1.0), replay.leaf(2.0)
    reads = replay.leaf(1.0, handle=7), replay.leaf(1.0, handle=7)
    products = [replay.op("Mul", x, x), replay.op("Mul", x, y), replay.op("Mul", *reads)]
    conjugate = replay.op("Mul", x, replay.op("Conj", x))

    actions = [replay.feeders(replay.op("Sum", each))[0].action for each in (*products, conjugate)]

    assert actions == [Action.SQUARE, Action.MULTIPLY, Action.SQUARE, Action.SQUARE]


def test_far_from_the_op_the_largest_results_are_followed_first(replay: Replay) -> None:
    from whygrad.backends.tensorflow.nonfinite.feeders import MOST

    large = small = replay.leaf(1.0)
    for _ in range(MOST):
        large, small = replay.op("Exp", large, result=1e30), replay.op("Neg", small, result=1e-3)
    found = replay.feeders(replay.op("AddV2", small, large))

    assert len(found) == MOST
    kinds = [each.kind for each in found]
    assert kinds.count(OpKind.EXP) > 2 * kinds.count(OpKind.ELEMENTWISE)


def test_a_value_that_is_used_twice_comes_once(replay: Replay) -> None:
    x = replay.leaf(1.0)

    assert len(replay.feeders(replay.op("AddV2", x, x))) == 1
