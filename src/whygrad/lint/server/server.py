"""What is told when a document is opened, changed, asked about or closed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from whygrad.diagnostics import Diagnostic
from whygrad.lint.files.checking import check_bytes
from whygrad.lint.server.translation import action_of, covers, diagnostic_of

Admit = Callable[[Path, Diagnostic], bool]
_NAME: Final = "whygrad"


class Server:
    """One editor's documents, and what was found in each."""

    def __init__(self, admit: Admit, version: str) -> None:
        self._admit = admit
        self._found: dict[str, tuple[list[Diagnostic], list[str]]] = {}
        self.server: Any = LanguageServer(_NAME, version)
        options = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        for name in (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_SAVE):
            self.server.feature(name)(lambda params: self._changed(params))
        self.server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(lambda params: self._closed(params))
        self.server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(lambda params: self._actions(params))
        self.server.feature(types.TEXT_DOCUMENT_HOVER)(lambda params: self._hover(params))

    def _changed(self, params: Any) -> None:
        """Check a document as it is in the editor, saved or not."""
        uri = params.text_document.uri
        document = self.server.workspace.get_text_document(uri)
        path, text = Path(document.path), document.source
        checked = check_bytes(str(path), text.encode("utf-8", "replace"))
        here = [each for each in checked.diagnostics if each.primary and each.primary.span.file == str(path)]
        found = [each for each in here if self._admit(path, each)]
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._found[uri] = found, lines
        self._publish(uri, [diagnostic_of(each, uri, lines) for each in found], document.version)

    def _closed(self, params: Any) -> None:
        uri = params.text_document.uri
        self._found.pop(uri, None)
        self._publish(uri, [], None)

    def _publish(self, uri: str, diagnostics: list[Any], version: int | None) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        self.server.text_document_publish_diagnostics(params)

    def _actions(self, params: Any) -> list[Any]:
        uri = params.text_document.uri
        found, lines = self._found.get(uri, ([], []))
        first, last = params.range.start.line, params.range.end.line
        return [
            action_of(each, fix, uri, lines)
            for each in found
            for fix in each.fixes
            if each.primary is not None and any(covers(each.primary.span, line) for line in range(first, last + 1))
        ]

    def _hover(self, params: Any) -> Any:
        """The pages of the rules that are broken on the line."""
        found, _ = self._found.get(params.text_document.uri, ([], []))
        here = [each for each in found if each.primary and covers(each.primary.span, params.position.line)]
        if not here:
            return None
        from whygrad.lint.pages import static_pages

        pages = {rule.code: f"# {rule.code} {rule.name}\n\n{rule.page}" for rule in static_pages()}
        text = "\n\n---\n\n".join(pages.get(code, code) for code in dict.fromkeys(each.code for each in here))
        return types.Hover(contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=text))
