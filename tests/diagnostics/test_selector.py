from __future__ import annotations

import pytest

from whygrad.diagnostics import Selection, parse_selection
from whygrad.errors import UsageError

KNOWN = [("WG101", "stop-gradient"), ("WG102", "int-variable"), ("WG201", "unbuilt-model"), ("WL101", "static-twin")]


def _admitted(select: list[str], ignore: list[str]) -> list[str]:
    selection = parse_selection(select, ignore, KNOWN)
    return [code for code, name in KNOWN if selection.admits(code, name)]


@pytest.mark.parametrize(
    ("select", "ignore", "admitted"),
    [
        ([], [], ["WG101", "WG102", "WG201", "WL101"]),
        (["WG1"], [], ["WG101", "WG102"]),
        (["WG"], [], ["WG101", "WG102", "WG201"]),
        (["WG101"], [], ["WG101"]),
        (["wg101"], [], ["WG101"]),
        (["stop-gradient"], [], ["WG101"]),
        (["Stop-Gradient"], [], ["WG101"]),
        (["stop-gradient,WG2"], [], ["WG101", "WG201"]),
        (["stop-gradient", "WG2 WL"], [], ["WG101", "WG201", "WL101"]),
        ([], ["WG1"], ["WG201", "WL101"]),
        (["WG1"], ["int-variable"], ["WG101"]),
        (["int-variable"], ["WG1"], []),
        ([""], [" , "], ["WG101", "WG102", "WG201", "WL101"]),
    ],
)
def test_families_codes_and_names_are_understood(select: list[str], ignore: list[str], admitted: list[str]) -> None:
    assert _admitted(select, ignore) == admitted


@pytest.mark.parametrize("word", ["W", "WG9", "WG1011", "stop", "gradient", "1", "WG1*"])
def test_an_unknown_word_is_wrong_usage_in_either_list(word: str) -> None:
    for select, ignore in (([word], []), ([], [word])):
        with pytest.raises(UsageError, match="unknown rule") as caught:
            parse_selection(select, ignore, KNOWN)
        assert f"`{word}`" in caught.value.message


@pytest.mark.parametrize(("word", "meant"), [("stop-gradent", "stop-gradient"), ("wg1O1", "WG101")])
def test_a_slip_is_answered_with_what_was_meant(word: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_selection([word], [], KNOWN)

    assert caught.value.help == f"did you mean `{meant}`? `whygrad rules` lists the codes and names"


def test_without_a_near_name_the_list_is_pointed_to() -> None:
    with pytest.raises(UsageError) as caught:
        parse_selection(["zzz"], [], KNOWN)

    assert caught.value.help == "`whygrad rules` lists the codes and names"


def test_an_empty_selection_admits_all() -> None:
    assert Selection().admits("WG999", "anything")
