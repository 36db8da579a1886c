"""The tool that counts what must not grow again, on a house built for the purpose."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "count_house.py"
SPEC = importlib.util.spec_from_file_location("count_house", TOOL)
assert SPEC is not None
assert SPEC.loader is not None
count_house = importlib.util.module_from_spec(SPEC)
sys.modules["count_house"] = count_house
SPEC.loader.exec_module(count_house)

RULE = "from whygrad.graph.event import {event}\n\n@rule('WG1')\ndef {name}(recording):\n    {event}\n"


def house(folder: Path, **modules: str) -> count_house.House:
    """Modules by their path below `whygrad`, with `__` for a slash."""
    for name, text in modules.items():
        file = folder / "whygrad" / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / "__init__.py").touch()
        file.write_text(text)
    return count_house.House(folder)


def test_a_cycle_is_found_also_where_an_import_is_for_type_checkers_only(tmp_path: Path) -> None:
    built = house(
        tmp_path,
        a="from whygrad import b\n",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from whygrad.a import A\n",
        c="from whygrad import a\n",
    )

    assert count_house.largest_cycle(built.imports()) == ["whygrad.a", "whygrad.b"]


def test_a_house_without_a_cycle_has_one_of_one_module(tmp_path: Path) -> None:
    built = house(tmp_path, a="from whygrad import b\n", b="")

    assert len(count_house.largest_cycle(built.imports())) == 1


def test_an_event_that_one_rule_consumes_is_a_verdict(tmp_path: Path) -> None:
    built = house(
        tmp_path,
        graph__event="Event = Verdict | Fact\n",
        rules__one=RULE.format(event="Verdict", name="one"),
        rules__two=RULE.format(event="Fact", name="two"),
        rules__three=RULE.format(event="Fact", name="three"),
    )

    assert count_house.verdicts(built) == ["Verdict: whygrad.rules.one"]


def test_a_question_that_two_rules_ask_is_no_verdict(tmp_path: Path) -> None:
    asking = "from whygrad.rules.question import ask\n\n@rule('WG1')\ndef check(recording):\n    ask()\n"
    built = house(
        tmp_path,
        graph__event="Event = Fact\n",
        rules__question="def ask():\n    Fact\n",
        rules__one=asking,
        rules__two=asking,
    )

    assert count_house.verdicts(built) == []


def test_private_names_of_others_are_counted_and_our_own_are_not(tmp_path: Path) -> None:
    built = house(
        tmp_path,
        backends__tensorflow__log="class Log:\n    def _own(self): ...\n\ndef f(tensor, log):\n    log._own()\n"
        "    getattr(tensor, '_id', None)\n    return tensor._numpy()\n",
        backends__tensorflow__compat__core="def f(tensor):\n    return tensor._id\n",
    )

    assert count_house.private_names(built) == [
        "whygrad.backends.tensorflow.log:6 '_id'",
        "whygrad.backends.tensorflow.log:7 ._numpy",
    ]


def test_the_check_fails_where_a_limit_is_passed(tmp_path: Path) -> None:
    modules = {f"room__module{number}": "" for number in range(21)}
    house(tmp_path / "src", **modules)

    done = subprocess.run([sys.executable, TOOL, "--check", tmp_path], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "!!     21  modules in the fullest folder" in done.stdout


@pytest.mark.tensorflow
def test_one_missing_gradient_enters_no_more_modules_than_it_must() -> None:
    tool = TOOL.with_name("life_of_a_gradient.py")
    done = subprocess.run([sys.executable, tool, "--check", "--list"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
