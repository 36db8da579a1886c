"""Run the rules, stamp code and severity, merge, sort."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from whygrad.diagnostics import Diagnostic, Fix, Selection, Severity, Steps, Words, in_words, is_suppressed
from whygrad.fixes.spelling import Modules, spelled
from whygrad.graph import Recording
from whygrad.graph.questions.escape import with_escapes
from whygrad.rules.rule import Finding, Rule
from whygrad.source import SourceSpan, texts_of
from whygrad.source.module import without_collecting


def diagnose(
    recording: Recording,
    rules: Iterable[Rule],
    selection: Selection | None = None,
    words: Words | None = None,
    modules: Modules | None = None,
) -> tuple[Diagnostic, ...]:
    """All diagnostics of a recording, worst first, without those a comment in the code silences.

    As `diagnose_apart` has them, which tells the silenced ones, too.
    """
    return diagnose_apart(recording, rules, selection, words, modules)[0]


def diagnose_apart(
    recording: Recording,
    rules: Iterable[Rule],
    selection: Selection | None = None,
    words: Words | None = None,
    modules: Modules | None = None,
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """The diagnostics of a recording, worst first, and those that a comment in the code silences.

    `words` are those of the recording's framework; without them, advice is given in everybody's. `modules` are those
    that the first names in the words stand for; without them no fix is offered.
    """
    wanted = selection or Selection()
    with without_collecting(), texts_of(recording.sources):
        whole = with_escapes(recording)
        found = [
            stamp(rule, finding, words or {}, modules)
            for rule in rules
            if wanted.admits(rule.code, rule.name)
            for finding in rule.check(whole)
        ]
        silent = [is_suppressed(diagnostic) for diagnostic in found]
    heard = _merged(each for each, is_silent in zip(found, silent, strict=True) if not is_silent)
    silenced = _merged(each for each, is_silent in zip(found, silent, strict=True) if is_silent)
    return tuple(sorted(heard, key=_rank)), tuple(sorted(silenced, key=_rank))


def _merged(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """What is said of one place in the same words, for several requests, is said once."""
    alike: dict[object, dict[Diagnostic, None]] = defaultdict(dict)
    for diagnostic in found:
        alike[diagnostic.code, diagnostic.message, diagnostic.primary][diagnostic] = None
    for group in alike.values():
        first = next(iter(group))
        seen = sum(each.steps.seen for each in group)
        yield replace(
            first,
            severity=max(each.severity for each in group),
            certain=any(each.certain for each in group),
            variables=tuple(dict.fromkeys(name for each in group for name in each.variables)),
            related=tuple(dict.fromkeys(label for each in group for label in each.related)),
            notes=tuple(dict.fromkeys(note for each in group for note in each.notes)),
            steps=Steps(seen, max(seen, *(each.steps.of for each in group))),
        )


def stamp(rule: Rule, finding: Finding, words: Words, modules: Modules | None = None) -> Diagnostic:
    severity = rule.severity if finding.severity is None else finding.severity
    if not finding.certain:
        severity = min(severity, Severity.WARNING)
    diagnostic = Diagnostic(
        code=rule.code,
        rule=rule.name,
        severity=severity,
        fixes=() if modules is None else _fixes(finding, words, modules),
        **finding.handed_on(),
    )
    return in_words(diagnostic, words)


def _fixes(finding: Finding, words: Words, modules: Modules) -> tuple[Fix, ...]:
    """The fixes that a finding offers; one that cannot be built must not cost the finding itself."""
    try:
        return tuple(spelled(finding.fixes(), words, modules))
    except Exception:
        return ()


def _rank(diagnostic: Diagnostic) -> tuple[int, str, int, str]:
    span = SourceSpan("", 0) if diagnostic.primary is None else diagnostic.primary.span
    return -diagnostic.severity, span.file, span.line, diagnostic.code
