"""Statements move into `with` blocks, with their comments and with the blanks that the block has."""

from __future__ import annotations

from textwrap import dedent

from fixes.rewritten import first, rewritten
from whygrad.fixes.blocks import into_block, without_block, without_statement


def into(expression, entered, asked=None):  # type: ignore[no-untyped-def]
    """The rewrite, with its places in the order of the text."""
    return into_block(expression, entered, asked)


def after(entered, expression, asked=None):  # type: ignore[no-untyped-def]
    return into_block(expression, entered, asked)


def same(changed: str, expected: str) -> None:
    assert changed == dedent(expected).lstrip("\n")


def test_a_statement_before_a_block_moves_into_it() -> None:
    code = """
        # the model
        y = «w * 3.0»  # forward
        with «tape()» as t:
            loss = y ** 2
        g = «t.gradient(loss, w)»
    """
    expected = """
        # the model
        with tape() as t:
            y = w * 3.0  # forward
            loss = y ** 2
        g = t.gradient(loss, w)
    """
    same(first(code, into), expected)


def test_statements_after_a_block_move_into_it_with_their_comments_and_tabs() -> None:
    code = (
        "def step():\n\twith «tape()» as t:\n\t\ty = f(x)\n\t# the loss\n\tloss = «y ** 2»\n"
        "\tmore = g(\n\t\tloss,\n\t)\n\treturn «t.gradient(more, w)»\n"
    )

    assert first(code, after) == (
        "def step():\n\twith tape() as t:\n\t\ty = f(x)\n\t\t# the loss\n\t\tloss = y ** 2\n"
        "\t\tmore = g(\n\t\t\tloss,\n\t\t)\n\treturn t.gradient(more, w)\n"
    )


def test_the_inside_of_a_text_over_several_lines_is_not_indented() -> None:
    code = 'with «tape()» as t:\n    y = f(x)\nloss = «y ** 2»\nname = """\nplain\n"""\nt.gradient(loss, w)\n'

    changed = rewritten(code, lambda entered, expression: into_block(expression, entered, None))

    assert changed == [
        'with tape() as t:\n    y = f(x)\n    loss = y ** 2\nname = """\nplain\n"""\nt.gradient(loss, w)\n'
    ]


def test_what_a_loop_needs_anew_is_computed_in_the_block() -> None:
    code = """
        seen = «preprocess(picture)»
        for step in range(3):
            with «tape()» as t:
                loss = f(seen)
            g = «t.gradient(loss, picture)»
    """
    expected = """
        for step in range(3):
            with tape() as t:
                seen = preprocess(picture)
                loss = f(seen)
            g = t.gradient(loss, picture)
    """
    same(first(code, into), expected)


def test_an_expression_in_the_request_is_computed_in_the_block() -> None:
    code = """
        with «tape()» as t:
            gap = f(x)
        g = «t.gradient(«-gap», w)»
    """

    def hoisted(entered, request, expression):  # type: ignore[no-untyped-def]
        return into_block(expression, entered, request)

    expected = """
        with tape() as t:
            gap = f(x)
            target = -gap
        g = t.gradient(target, w)
    """
    same(first(code, hoisted), expected)


def test_nothing_is_offered_for_what_is_in_the_block_already() -> None:
    assert rewritten("with «tape()» as t:\n    loss = «y ** 2»\n", after) == []


def test_a_block_is_taken_away_from_around_its_statements() -> None:
    code = "with a:\n    with «t.stop_recording()»:\n        # kept\n        z = f(x)\n    loss = z\n"

    assert first(code, without_block) == "with a:\n    # kept\n    z = f(x)\n    loss = z\n"


def test_the_only_statement_of_a_block_leaves_pass_behind() -> None:
    assert first("if a:\n    «t.reset()»\nb = 1\n", without_statement) == "if a:\n    pass\nb = 1\n"
    assert first("a = 1\n«t.reset()»  # forget\nb = 1\n", without_statement) == "a = 1\nb = 1\n"
