from __future__ import annotations

from pathlib import Path

import pytest

from rules.diagnosis import Script
from whygrad.source.call_use import called_inside, unread_calls, used_calls

STEP = """
def step(x):
    {line}
    y = model(x)
    {use}
    return y
"""


def draws(folder: Path, line: str, use: str = "pass") -> list[str]:
    script = Script(folder, STEP.format(line=line, use=use))
    return [call.name for call in used_calls(script["model(x)"]) if "rand" in call.name]


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("x = x + np.random.normal(size=x.shape)", "pass"),
        ("toss = random.random() < 0.5", "y = -y if toss else y"),
        ("toss = float(random.random())", "low = toss < 0.5\n    if low: y = -y"),
        ("random.shuffle(order)", "pass"),
        ("x = tf.roll(x, random.randint(0, 3), 0)", "pass"),
        ("noise = -np.log(-np.log(np.random.uniform(size=3)))", "y = y + noise"),
    ],
)
def test_a_value_that_enters_the_step_is_used(tmp_path: Path, line: str, use: str) -> None:
    assert len(draws(tmp_path, line, use)) == 1


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("print(random.random())", "pass"),
        ("toss = random.random()", "print(toss)"),
        ("toss = random.random() < 0.5", "tosses.append(toss)"),
        ("toss = random.random() < 0.5", "logger.log(20, toss)"),
        ("run.log({'toss': random.random()})", "pass"),
        ("random.seed(3)", "pass"),
        ("x = tf.random.normal((2,), seed=random.randint(0, 3))", "pass"),
        ("late = lambda: random.random()", "y = late"),
    ],
)
def test_a_value_that_is_only_told_is_not_used(tmp_path: Path, line: str, use: str) -> None:
    assert [name for name in draws(tmp_path, line, use) if name != "tf.random.normal"] == []


def test_the_test_that_hangs_on_a_value_is_shown(tmp_path: Path) -> None:
    script = Script(tmp_path, STEP.format(line="toss = random.random() < 0.5", use="y = -y if toss else y"))
    [call] = [call for call in used_calls(script["model(x)"]) if call.name == "random.random"]

    assert call.decides is not None
    assert call.decides.line == script["y = -y if toss else y"].line


def test_what_a_function_calls_is_listed(tmp_path: Path) -> None:
    script = Script(tmp_path, "def toss():\n    return random.random() < 0.5")

    assert list(called_inside(str(script.path), "toss")) == ["random.random"]


VIEWS = """
def augment(x):
    return x + tf.random.normal(x.shape)

def step(x):
    with tf.GradientTape() as tape:
        {line}
        loss = net(augment(x))
    return loss
"""


@pytest.mark.parametrize(
    ("line", "names", "alone"),
    [
        ("view = augment(x)", ["view"], True),
        ("mean, view = augment(x), 0", [], True),
        ("mean, view = augment(x); mean = mean + 1", ["view"], False),
        ("_ = augment(x)", [], True),
        ("global view; view = augment(x)", [], True),
        ("view = augment(x); x = view", [], True),
        ("later = lambda: view; view = augment(x); later()", [], True),
    ],
)
def test_a_call_under_a_tape_whose_result_nothing_reads(
    tmp_path: Path, line: str, names: list[str], *, alone: bool
) -> None:
    script = Script(tmp_path, VIEWS.format(line=line))
    found = list(unread_calls(script["tf.GradientTape()"]))

    assert [call.name for call in found] == names
    assert all(call.alone is alone and call.body is not None for call in found)
