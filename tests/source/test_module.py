"""The parsed file: the node at a span, in characters, and as the text is now."""

from __future__ import annotations

import ast
import linecache
from pathlib import Path

from whygrad.source import SourceSpan, refresh_sources, source_text, texts_of
from whygrad.source.forgotten_binding import forgotten_bindings
from whygrad.source.module import located, module_of
from whygrad.source.slicing import exits
from whygrad.source.state import global_reads


def at(file: str, line: int, text: str, piece: str) -> SourceSpan:
    return SourceSpan(file, line, text.index(piece), line, text.index(piece) + len(piece))


def test_columns_of_nodes_count_characters(tmp_path: Path) -> None:
    file, line = str(tmp_path / "p.py"), "größe_ä = 1; y = float(größe_ä); z = np.exp(y)"
    Path(file).write_text(f"import numpy as np\n{line}\n")
    found = located(at(file, 2, line, "np.exp(y)"))

    assert found is not None
    assert ast.unparse(found[1]) == "np.exp(y)"
    ways_out = [(way.how, source_text(way.span)) for way in exits(at(file, 2, line, "np.exp(y)"))]
    assert ways_out == [("np.exp()", "np.exp(y)"), ("float()", "float(größe_ä)")]


def test_the_use_of_a_name_is_shown_behind_letters_of_several_bytes(tmp_path: Path) -> None:
    file, line = str(tmp_path / "p.py"), "    'ü漢'; return x * beta"
    Path(file).write_text(f"def f(x):\n{line}\n")
    read = global_reads(at(file, 2, line, "x * beta"), "beta")

    assert read is not None
    assert source_text(read) == "beta"


def test_the_innermost_statement_is_found_where_only_the_line_is_known(tmp_path: Path) -> None:
    file = str(tmp_path / "p.py")
    Path(file).write_text("with tape:\n    loss = f(x)\n")
    found = located(SourceSpan(file, 2))

    assert found is not None
    assert ast.unparse(found[1]) == "loss = f(x)"


def test_an_edited_file_is_parsed_anew(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text("def before(v):\n    v = v * 2\n")
    first = forgotten_bindings(str(file))
    file.write_text("def afterwards(v):\n    return v\n")
    refresh_sources()

    assert (len(first), len(forgotten_bindings(str(file)))) == (1, 0)


def test_a_cell_that_is_run_again_with_another_text_is_parsed_anew() -> None:
    cell = "<ipython-input-4-parsed-anew>"
    for text in ("a = 1\n", "b = 2\n"):
        linecache.cache[cell] = (len(text), None, [text], cell)
        module = module_of(cell)
        assert module is not None
        assert ast.unparse(module.tree) == text.strip()


def test_recorded_texts_are_asked_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text("a = 1\n")
    with texts_of({str(file): "b = 22", "elsewhere.py": "c = 3"}):
        assert [source_text(SourceSpan(name, 1)) for name in (str(file), "elsewhere.py")] == ["b = 22", "c = 3"]
        module = module_of(str(file))
        assert module is not None
        assert ast.unparse(module.tree) == "b = 22"
    assert source_text(SourceSpan(str(file), 1)) == "a = 1"
    assert source_text(SourceSpan("elsewhere.py", 1)) is None


def test_null_bytes_are_no_program(tmp_path: Path) -> None:
    with texts_of({"p.py": "a = 1\0"}):
        assert module_of("p.py") is None
