"""One diagnostic as text. The expected texts were printed and read, not typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from report.samples import CUT, HELP, TRAIN, diagnostic, in_memory, lines, span, write
from whygrad.diagnostics import Label, Severity, Steps
from whygrad.report import render_diagnostic
from whygrad.source import SourceSpan


def test_a_diagnostic_shows_the_expression_and_what_to_do() -> None:
    cast = span(write("train.py", TRAIN), 6, "tf.cast(w * 3.0, tf.int32)")

    assert render_diagnostic(diagnostic(cast, help=HELP)) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:6:14
          |
        6 |     bucket = tf.cast(w * 3.0, tf.int32)
          |              ^^^^^^^^^^^^^^^^^^^^^^^^^^ float32 -> int32: the gradient stops here
          |
          = help: keep this value in floating point, or move the cast out of the loss
          = more: whygrad explain WG101
    """)


def test_places_in_one_file_share_a_snippet_and_other_files_follow() -> None:
    train = write("train.py", TRAIN)
    model = write("model.py", "def call(x):\n    return tf.stop_gradient(x)\n")
    full = diagnostic(
        span(train, 6, "tf.cast(w * 3.0, tf.int32)"),
        message="no gradient reaches 11 variables of `encoder`",
        variables=tuple(f"encoder/dense_{number}/kernel" for number in range(11)),
        related=(
            Label(span(train, 6, "w * 3.0"), "`w` is read here"),
            Label(span(train, 3, "w"), "`w` is made here"),
            Label(span(train, 12, "tape.gradient(loss, [w])"), "the gradient is asked for here"),
            Label(span(model, 2, "tf.stop_gradient(x)"), "a second cut"),
        ),
        notes=("an integer has no derivative",),
        help=HELP,
        steps=Steps(200, 200),
    )

    assert render_diagnostic(full) == lines("""
        error[WG101]: no gradient reaches 11 variables of `encoder`
          --> train.py:6:14
           |
         3 | w = tf.Variable(2.0)
           | - `w` is made here
         4 | with tf.GradientTape() as tape:
         5 |     scaled = w * 3.0
         6 |     bucket = tf.cast(w * 3.0, tf.int32)
           |              ^^^^^^^^-------^^^^^^^^^^^ float32 -> int32: the gradient stops here
           |                      |
           |                      `w` is read here
        ...
        12 | grads = tape.gradient(loss, [w])
           |         ------------------------ the gradient is asked for here
           |
          ::: model.py:2:12
           |
         2 |     return tf.stop_gradient(x)
           |            ------------------- a second cut
           |
           = note: an integer has no derivative
           = note: variables: `encoder/dense_0/kernel`, `encoder/dense_1/kernel`, `encoder/dense_2/kernel`,
                   `encoder/dense_3/kernel`, `encoder/dense_4/kernel`, `encoder/dense_5/kernel`,
                   `encoder/dense_6/kernel`, `encoder/dense_7/kernel` and 3 more
           = note: in 200 of 200 steps
           = help: keep this value in floating point, or move the cast out of the loss
           = more: whygrad explain WG101
    """)


def test_without_source_the_place_and_its_label_are_left() -> None:
    gone = SourceSpan("gone/train.py", 6, 13, 6, 39)
    also_gone = Label(SourceSpan("gone/model.py", 2), "a second cut")

    assert render_diagnostic(diagnostic(gone, help=HELP, related=(also_gone,))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> gone/train.py:6:14: float32 -> int32: the gradient stops here
         ::: gone/model.py:2: a second cut
          = help: keep this value in floating point, or move the cast out of the loss
          = more: whygrad explain WG101
    """)


def test_a_line_past_the_end_of_the_file_counts_as_without_source() -> None:
    short = write("train.py", "x = 1\n")

    assert render_diagnostic(diagnostic(SourceSpan(short, 9, 0, 9, 4))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:9:1: float32 -> int32: the gradient stops here
          = more: whygrad explain WG101
    """)


def test_without_a_place_the_message_stands_alone() -> None:
    assert render_diagnostic(diagnostic(help=HELP)) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
          = help: keep this value in floating point, or move the cast out of the loss
          = more: whygrad explain WG101
    """)


def test_tabs_are_four_cells() -> None:
    file = write("train.py", "if x:\n\ty = tf.cast(w,\ttf.int32)\n")

    assert render_diagnostic(diagnostic(span(file, 2, "tf.cast(w,\ttf.int32)"))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:2:6
          |
        2 |     y = tf.cast(w,    tf.int32)
          |         ^^^^^^^^^^^^^^^^^^^^^^^ float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101
    """)


def test_wide_characters_are_two_cells() -> None:
    file = write("train.py", '損失 = 名前["幅"] * tf.cast(重み, tf.int32) + 1\n')

    assert render_diagnostic(diagnostic(span(file, 1, "tf.cast(重み, tf.int32)"))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:1:16
          |
        1 | 損失 = 名前["幅"] * tf.cast(重み, tf.int32) + 1
          |                     ^^^^^^^^^^^^^^^^^^^^^^^ float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101
    """)


def test_emoji_and_accents_do_not_shift_the_underline() -> None:
    file = write("train.py", 'log("👍 e\u0301te\u0301"); y = tf.cast(w, tf.int32)\n')

    assert render_diagnostic(diagnostic(span(file, 1, "tf.cast(w, tf.int32)"))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:1:21
          |
        1 | log("👍 été"); y = tf.cast(w, tf.int32)
          |                    ^^^^^^^^^^^^^^^^^^^^ float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101
    """)


def test_a_long_line_is_cut_on_both_sides_of_the_span() -> None:
    many = " + ".join(f"layer_{number}(x)" for number in range(40))
    file = write("train.py", f"total = {many}\n")

    assert render_diagnostic(diagnostic(span(file, 1, "layer_20(x)")), width=72) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:1:279
          |
        1 | … layer_18(x) + layer_19(x) + layer_20(x) + layer_21(x) + layer_22(…
          |                               ^^^^^^^^^^^
          |                               |
          |                               float32 -> int32: the gradient stops
          |                               here
          |
          = more: whygrad explain WG101
    """)


def test_a_span_wider_than_the_terminal_shows_its_beginning() -> None:
    many = " + ".join(f"layer_{number}(x)" for number in range(40))
    file = write("train.py", f"total = {many}\n")

    assert render_diagnostic(diagnostic(span(file, 1, many)), width=72) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:1:9
          |
        1 | total = layer_0(x) + layer_1(x) + layer_2(x) + layer_3(x) + layer_4…
          |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |         |
          |         float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101
    """)


def test_a_span_of_several_lines_is_underlined_on_each() -> None:
    file = write("train.py", "y = tf.cast(\n    w,\n\n    tf.int32,\n) + 1\n")

    assert render_diagnostic(diagnostic(SourceSpan(file, 1, 4, 5, 1))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:1:5
          |
        1 | y = tf.cast(
          |     ^^^^^^^^
        2 |     w,
          |     ^^
        3 |
        4 |     tf.int32,
          |     ^^^^^^^^^
        5 | ) + 1
          | ^ float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101
    """)


def test_the_middle_of_a_span_of_many_lines_is_left_out() -> None:
    body = "".join(f"    layer_{number},\n" for number in range(8))
    file = write("train.py", f"y = tf.stack([\n{body}])\n")

    assert render_diagnostic(diagnostic(SourceSpan(file, 1, 4, 10, 2))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
          --> train.py:1:5
           |
         1 | y = tf.stack([
           |     ^^^^^^^^^^
         2 |     layer_0,
           |     ^^^^^^^^
         3 |     layer_1,
           |     ^^^^^^^^
        ...
         8 |     layer_6,
           |     ^^^^^^^^
         9 |     layer_7,
           |     ^^^^^^^^
        10 | ])
           | ^^ float32 -> int32: the gradient stops here
           |
           = more: whygrad explain WG101
    """)


def test_where_only_the_line_is_known_all_of_it_is_underlined() -> None:
    file = write("train.py", TRAIN)

    assert render_diagnostic(diagnostic(SourceSpan(file, 6))) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:6
          |
        6 |     bucket = tf.cast(w * 3.0, tf.int32)
          |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ float32 -> int32: the gradient stops here
          |
          = more: whygrad explain WG101
    """)


def test_a_label_that_does_not_fit_beside_the_underline_hangs_below_it() -> None:
    file = write("train.py", TRAIN)
    label = "float32 -> int32, and an integer has no derivative, so that nothing before this line learns"

    shown = render_diagnostic(diagnostic(span(file, 6, "tf.cast(w * 3.0, tf.int32)"), label), width=72)

    assert shown == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:6:14
          |
        6 |     bucket = tf.cast(w * 3.0, tf.int32)
          |              ^^^^^^^^^^^^^^^^^^^^^^^^^^
          |              |
          |              float32 -> int32, and an integer has no derivative, so
          |              that nothing before this line learns
          |
          = more: whygrad explain WG101
    """)


def test_two_labels_of_one_line_do_not_run_into_each_other() -> None:
    file = write("train.py", "loss = first(w) + second(w) + third(w)\n")
    marked = diagnostic(
        span(file, 1, "second(w)"),
        "the primary one",
        related=(Label(span(file, 1, "first(w)"), "on the left"), Label(span(file, 1, "third(w)"), "on the right")),
    )

    assert render_diagnostic(marked) == lines("""
        error[WG101]: no gradient reaches `w`: its path to the loss is cut by a cast
         --> train.py:1:19
          |
        1 | loss = first(w) + second(w) + third(w)
          |        --------   ^^^^^^^^^   -------- on the right
          |        |          |
          |        |          the primary one
          |        on the left
          |
          = more: whygrad explain WG101
    """)


def test_a_cell_of_an_older_notebook_is_named_by_its_number() -> None:
    cell = SourceSpan("<ipython-input-3-0123abcd>", 2, 0, 2, 4)

    assert render_diagnostic(diagnostic(cell)).splitlines()[1] == f" --> cell [3]:2:1: {CUT}"


def test_a_cell_that_nobody_knows_is_still_called_a_cell() -> None:
    cell = SourceSpan("/somewhere/ipykernel_123/4567.py", 2, 0, 2, 4)

    assert render_diagnostic(diagnostic(cell)).splitlines()[1] == f" --> notebook cell:2:1: {CUT}"


def test_a_file_elsewhere_is_named_in_full(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("elsewhere") / "train.py"
    file.write_text(TRAIN)

    assert render_diagnostic(diagnostic(SourceSpan(str(file), 6, 13))).splitlines()[1] == f" --> {file}:6:14"


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("`w` is cut", "warning[WG101] (likely): `w` is cut"),
        ("`w` is likely cut", "warning[WG101]: `w` is likely cut"),
        ("an unlikely cut", "warning[WG101] (likely): an unlikely cut"),
    ],
)
def test_what_is_inferred_says_likely_once(message: str, title: str) -> None:
    inferred = diagnostic(severity=Severity.WARNING, certain=False, message=message)

    assert render_diagnostic(inferred).splitlines()[0] == title


def test_variables_that_the_message_names_are_not_listed_again() -> None:
    named = diagnostic(message="no gradient reaches `w` and `b`", variables=("w", "b"))
    counted = diagnostic(message="no gradient reaches 2 variables", variables=("w", "b"))

    assert "variables:" not in render_diagnostic(named)
    assert "= note: variables: `w`, `b`\n" in render_diagnostic(counted)


def test_one_step_of_one_is_not_worth_a_note() -> None:
    assert "steps" not in render_diagnostic(diagnostic(steps=Steps(1, 1)))
    assert "= note: in 1 of 7 steps\n" in render_diagnostic(diagnostic(steps=Steps(1, 7)))


@pytest.mark.parametrize("end", [None, 13, 5])
def test_where_only_the_start_is_known_one_cell_is_underlined(end: int | None) -> None:
    file = write("train.py", TRAIN)

    shown = render_diagnostic(diagnostic(SourceSpan(file, 6, 13, 6, end), "from here")).splitlines()

    assert shown[4] == "  |              ^ from here"


@pytest.mark.parametrize("codes", [range(0x20), range(0x7F, 0xA0), range(0x202A, 0x202F), range(0x2066, 0x206A)])
def test_no_control_character_reaches_the_terminal(codes: range) -> None:
    controls = "".join(map(chr, codes)).replace("\n", "")
    found = diagnostic(SourceSpan(in_memory(f"x = '{controls}'\n"), 1), controls, message=controls, notes=(controls,))

    assert not set(controls) & set(render_diagnostic(found))


def test_nothing_in_source_or_message_is_obeyed_by_the_terminal() -> None:
    file = in_memory("x = '\x1b[31m\u202e\x07'; y = tf.cast(w)\n")
    hostile = diagnostic(span(file, 1, "tf.cast(w)"), "a\x1b[2Jb", message="a\x1b]0;b\rc\nd", notes=("a\x08b",))

    shown = render_diagnostic(hostile)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert shown.splitlines()[3].startswith("1 | x = '␛[31m�␇'; y")


def test_colour_adds_nothing_but_colour() -> None:
    train = write("train.py", TRAIN)
    related = (Label(span(train, 6, "w * 3.0"), "`w` is read here"), Label(SourceSpan("gone.py", 3), "gone"))
    full = diagnostic(span(train, 6, "tf.cast(w * 3.0, tf.int32)"), related=related, notes=("a\nb",), help=HELP)

    colored = render_diagnostic(full, color=True)

    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render_diagnostic(full)
    assert colored.startswith("\x1b[1;31merror[WG101]\x1b[0m")


def test_colour_does_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = render_diagnostic(diagnostic(), color=True)
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "20"}.items():
        monkeypatch.setenv(name, value)

    assert render_diagnostic(diagnostic(), color=True) == before


def test_a_deleted_working_directory_is_survived(project: Path) -> None:
    file = write("train.py", TRAIN)
    project.joinpath("train.py").unlink()
    project.rmdir()

    assert f"--> {file}:6:14" in render_diagnostic(diagnostic(SourceSpan(file, 6, 13)))
