"""The user's files with edits on top: kept in memory, shown as a diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from whygrad.diagnostics import Fix
from whygrad.errors import UsageError
from whygrad.source import is_on_disk, shown_file
from whygrad.source.editing import FileText, edited, read_source


@dataclass(frozen=True, slots=True)
class Changes:
    """Files as they were read, and their texts after all edits so far."""

    before: Mapping[str, FileText] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def with_fix(self, fix: Fix, recorded: Mapping[str, str]) -> Changes:
        """One more fix on top, made for the texts that a run has recorded; a `UsageError` says why it cannot be."""
        before, texts = dict(self.before), dict(self.texts)
        for file in dict.fromkeys(edit.span.file for edit in fix.edits):
            if file not in before:
                before[file] = _read(file)
                texts[file] = before[file].text
            if not replace(before[file], text=texts[file]).matches(recorded.get(file, "")):
                raise UsageError(f"`{shown_file(file)}` has changed since it ran")
            own = [(edit.span, edit.text) for edit in fix.edits if edit.span.file == file]
            try:
                texts[file] = edited(texts[file], own)
                compile(texts[file], file, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as error:
                raise UsageError(f"the changed text cannot be made: {error}") from error
        return Changes(before, texts)

    def diff(self, since: Changes | None = None) -> str:
        """A unified diff of all files, as `patch` reads it."""
        earlier = {} if since is None else since.texts
        known = {file: earlier.get(file, self.before[file].text) for file in sorted(self.texts)}
        return "".join(line for file, before in known.items() for line in self._diff_of(file, before))

    def _diff_of(self, file: str, before: str) -> Iterator[str]:
        name = shown_file(file)
        found = difflib.unified_diff(_lines(before), _lines(self.texts[file]), f"a/{name}", f"b/{name}")
        for line in found:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _read(file: str) -> FileText:
    if not is_on_disk(file):
        raise UsageError(f"`{shown_file(file)}` is not a file")
    try:
        return read_source(file)
    except (OSError, SyntaxError, UnicodeError) as error:
        raise UsageError(f"cannot read `{shown_file(file)}`: {error}") from error
