"""The language server, spoken to by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the language server is an extra: pip install 'whygrad[server]'")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

BROKEN = """import tensorflow as tf
zähler = tf.Variable(1.0)
with tf.GradientTape() as tape:
    a, b = zähler * 2.0, zähler + 1.0
tape.gradient(a, zähler)
tape.gradient(b, zähler)
"""


class Editor:
    """A client with one document open."""

    def __init__(self, file: Path) -> None:
        self.uri = file.as_uri()
        self.client: Any = LanguageClient("test", "1")
        self.published: asyncio.Queue[Any] = asyncio.Queue()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self.published.put_nowait(params))
        self.version = 0

    async def start(self) -> None:
        await self.client.start_io(sys.executable, "-m", "whygrad", "server")
        await self.client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
        self.client.initialized(types.InitializedParams())

    async def open(self, text: str) -> list[Any]:
        item = types.TextDocumentItem(uri=self.uri, language_id="python", version=0, text=text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        return await self._told()

    async def change(self, text: str) -> list[Any]:
        self.version += 1
        place = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text=text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(place, [whole]))
        return await self._told()

    async def _told(self) -> list[Any]:
        params = await asyncio.wait_for(self.published.get(), 30)
        assert params.uri == self.uri
        return list(params.diagnostics)

    async def actions(self, line: int) -> list[Any]:
        spot = types.Range(types.Position(line, 0), types.Position(line, 1))
        document = types.TextDocumentIdentifier(self.uri)
        params = types.CodeActionParams(document, spot, types.CodeActionContext([]))
        return await self.client.text_document_code_action_async(params) or []

    async def hover(self, line: int) -> Any:
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri), types.Position(line, 2))
        return await self.client.text_document_hover_async(params)

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def hold(conversation: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: a browser that other tests drive leaves a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, conversation).result()


def test_an_editor_gets_findings_fixes_and_pages(tmp_path: Path) -> None:
    async def talk() -> None:
        editor = Editor(tmp_path / "train.py")
        await editor.start()
        (found,) = await editor.open(BROKEN)
        assert (found.code, found.source, found.range.start.line) == ("WL115", "whygrad", 5)
        assert found.severity is types.DiagnosticSeverity.Error

        (action,) = await editor.actions(5)
        (edit,) = action.edit.changes[editor.uri]
        assert (action.title, action.is_preferred) == ("make the tape persistent", True)
        assert (edit.new_text, edit.range.start.line) == ("persistent=True", 2)
        assert await editor.actions(0) == []

        page = await editor.hover(5)
        assert page.contents.value.startswith("# WL115 tape-not-persistent\n\nDetects a second gradient")
        assert await editor.hover(0) is None

        (note,) = await editor.change(BROKEN.replace("Tape()", "Tape(persistent=True)"))
        assert (note.code, note.severity) == ("WL901", types.DiagnosticSeverity.Information)
        assert await editor.change("import tensorflow as tf\n") == []
        (broken,) = await editor.change("x = (\n")
        assert broken.code == "WL000"
        await editor.stop()

    hold(talk())
