"""How rules and reports speak of the terms of a loss, and which variables each of them trains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from whygrad.graph import Request, Source
from whygrad.graph.questions.terms import Term, terms_of
from whygrad.rules.wording import text_of
from whygrad.source import SourceSpan

Groups = Mapping[SourceSpan | None, Sequence[Term]]  # terms by the expression that is shown for them

_NATURE: Final = {True: "the penalty on weights", False: "the fit to the data"}


@dataclass(frozen=True, slots=True)
class TermTraining:
    """A term in words, and of the sources that were asked for those that it trains and those that it should."""

    name: str
    where: SourceSpan | None
    trained: tuple[Source, ...]
    lost: tuple[Source, ...]  # its value depends on these, and no gradient of it comes to them
    is_penalty: bool
    squares: tuple[float, ...]  # of the gradient that it gives to each source, a mean over steps; empty: not measured


def listed_terms(groups: Groups, shared: Set[SourceSpan | None]) -> str:
    """Terms in the user's words; by what they are, where one call makes them all."""
    texts = list(dict.fromkeys(_name(span, group, shared) for span, group in groups.items()))
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return f"{', '.join(texts[:2])}{more}"


def _name(span: SourceSpan | None, group: Sequence[Term], shared: Set[SourceSpan | None]) -> str:
    several = group[0].is_penalty and len({term.whole for term in group}) > 1
    return _NATURE[group[0].is_penalty] if several or span in shared else text_of(span)


def training_of_terms(request: Request) -> Iterator[TermTraining]:
    """The terms of a request, those that penalise weights as one; none where the loss is not a sum."""
    terms = terms_of(request)
    groups = terms.groups(request.sources)
    rows = () if request.of_terms is None else request.of_terms.squares
    spans = [span for span, _ in groups]
    shared = {span for span in spans if spans.count(span) > 1} | {None}
    for number, (where, group) in enumerate(groups if len(groups) > 1 else ()):
        trained = tuple(s for s in request.sources if any(terms.trains(term, s) for term in group))
        depending = (s for s in request.sources if any(terms.depends(term, s) for term in group))
        yield TermTraining(
            name=_name(where, group, shared),
            where=where,
            trained=trained,
            lost=tuple(s for s in depending if s not in trained),
            is_penalty=group[0].is_penalty,
            squares=rows[number] if len(rows) == len(groups) else (),
        )
