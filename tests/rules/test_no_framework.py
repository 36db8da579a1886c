"""Rules and the graph speak no framework: no op by its name, no text of an exception, no function of TensorFlow."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import whygrad
from whygrad.backends import FRAMEWORKS, words_of
from whygrad.diagnostics import Word, worded

TOOL = Path(__file__).parents[2] / "tools" / "framework_words.py"
SPEC = importlib.util.spec_from_file_location("framework_words", TOOL)
assert SPEC is not None
assert SPEC.loader is not None
framework_words = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(framework_words)

NOT_YET: tuple[str, ...] = ()  # modules that still do; each goes from this list when it is fixed


def test_no_module_of_rules_or_graph_speaks_of_a_framework() -> None:
    found = framework_words.violations(Path(whygrad.__file__).parent)

    assert [each for each in found if not each.startswith(NOT_YET)] == []
    assert [module for module in NOT_YET if not any(each.startswith(module) for each in found)] == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("if op.name == 'Relu': pass", "op name 'Relu'"),
        ("help = 'use `tf.stop_gradient(x)`'", "framework in 'use `tf.stop_gradient(x)`'"),
        ("help = f'{x} leaves TensorFlow here'", "framework in ' leaves TensorFlow here'"),
        ("help = 'use `keras.ops`'", "framework in 'use `keras.ops`'"),
        ("if 'No gradients provided' in text: pass", "text of an exception 'No gradients provided'"),
        ("if 'shapes' in failure.message: pass", "reads the text of an exception: failure.message"),
    ],
)
def test_the_test_above_can_fail(tmp_path: Path, line: str, fault: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "some_rule.py").write_text(f'"""`tf.function` in a docstring is fine."""\n{line}\n')

    assert framework_words.violations(tmp_path) == [f"rules/some_rule.py:2: {fault}"]


def test_rules_about_keras_may_name_it(tmp_path: Path) -> None:
    (tmp_path / "rules" / "keras").mkdir(parents=True)
    (tmp_path / "rules" / "keras" / "some_rule.py").write_text("help = 'use `keras.ops`'\n")

    assert framework_words.violations(tmp_path) == []


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_backend_has_a_word_for_everything_that_advice_names(framework: str) -> None:
    assert words_of(framework).keys() == set(Word)


def test_every_word_is_used_by_some_rule_or_rewrite() -> None:
    package = Path(whygrad.__file__).parent
    text = "\n".join(path.read_text() for room in ("rules", "fixes") for path in (package / room).rglob("*.py"))

    assert [word.name for word in Word if not re.search(rf"Word\.{word.name}\b", text)] == []


def test_the_words_are_read_without_the_framework() -> None:
    program = "import sys, whygrad.backends as b; b.words_of('tensorflow'); sys.exit('tensorflow' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_advice_is_given_in_the_words_of_the_framework() -> None:
    advice = f"use `{Word.STOP_GRADIENT}(x)`"

    assert worded(advice, words_of("tensorflow")) == "use `tf.stop_gradient(x)`"
    assert worded(advice, words_of("")) == "use `stop_gradient(x)`"


def test_what_the_user_wrote_stays_as_it_is() -> None:
    assert worded("`f'{STOP_GRADIENT}'` and `⟦NO_SUCH_WORD⟧`", words_of("tensorflow")) == (
        "`f'{STOP_GRADIENT}'` and `⟦NO_SUCH_WORD⟧`"
    )
