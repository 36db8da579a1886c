"""Terms of a loss that depend on a source and do not train it, while other terms do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Final

from whygrad.graph import Request, Source, TensorId, VariableId
from whygrad.graph.questions.query import Cut, Reason
from whygrad.graph.questions.terms import Term, Terms, terms_of
from whygrad.graph.recording import ABSENT
from whygrad.rules.term_names import listed_terms

# Cuts that are nothing odd where another term fits the source to data: targets, samples, values of an earlier pass.
_MEANT: Final = (Reason.STOPPED, Reason.SAMPLED, Reason.OUTSIDE, Reason.WRITTEN, Reason.STATE, Reason.CUSTOM)
# Of these, what nobody writes on purpose where a term of its own then trains nothing at all.
_SLIPS: Final = (Reason.SAMPLED, Reason.OUTSIDE, Reason.WRITTEN)


@dataclass(frozen=True, slots=True)
class LostTerm:
    """A term, or all that are no penalties, whose gradient does not come to some sources."""

    terms: tuple[Term, ...]
    sources: tuple[Source, ...]
    training: tuple[Term, ...]  # what gives these sources a gradient
    said: str  # the term `a` does not
    trained_by: str  # only `b` does

    @property
    def targets(self) -> tuple[TensorId, ...]:
        return tuple(term.tensor for term in self.terms)

    @property
    def is_only_penalised(self) -> bool:
        return all(term.is_penalty for term in self.training)

    @property
    def is_fitted(self) -> bool:
        """Whether another term holds these sources against data."""
        return any(term.is_fit for term in self.training)

    def is_told(
        self, request: Request, cut: Cut, shown: Cut, *, others: Set[VariableId], beside: Set[VariableId], is_used: bool
    ) -> bool:
        """Whether a cut of the term is a mistake rather than what was meant.

        `shown`: the one to mend, of those on this way. `others`: what other requests ask for; `beside`: what those do
        that differentiate this very term, too. `is_used`: something moves by this request.
        """
        terms, term = terms_of(request), self.terms[0]
        if any(terms.stands_in_for(other, cut.op, term) for other in self.training):
            return False
        if self.is_only_penalised:
            return terms.has_data or cut.reason not in _MEANT
        if cut.reason is Reason.ZERO and cut.op.derivative_of is not None:
            return False  # a bias does not move the slope of what comes after it
        if cut.reason not in _MEANT or not self.is_fitted:
            if terms.goes_through_a_layer(cut.op, term, picking=not self.is_fitted):
                return True
        elif not is_used or shown.reason not in _SLIPS or _is_of_earlier_pass(request, shown):
            return False
        if cut.reason in _MEANT and terms.is_meant_as_number(term, self.training):
            return False
        return not terms.trains_any(term, others if cut.reason in _MEANT else beside)


def lost_terms(request: Request, sources: Iterable[Source]) -> Iterator[LostTerm]:
    terms = terms_of(request)
    there = [s for s in sources if s.outcome not in ABSENT]
    if not there or not terms.all:
        return
    others = tuple(term for term in terms.all if not term.is_penalty)
    penalised = tuple(s for s in there if terms.is_only_penalised(s))
    cut_off = tuple(s for s in penalised if any(terms.depends(term, s) for term in others))
    if cut_off:
        yield _lost(terms, tuple(t for t in others if any(terms.depends(t, s) for s in cut_off)), cut_off)
    idle = (term for term in terms.all if term.is_penalty and terms.has_data and not terms.trains_any(term))
    for term in (*others, *idle):
        lost = tuple(s for s in there if s not in penalised and terms.depends(term, s) and not terms.trains(term, s))
        lost = tuple(s for s in lost if terms.training(s))
        if lost:
            yield _lost(terms, (term,), lost)


def _lost(terms: Terms, lost: tuple[Term, ...], sources: tuple[Source, ...]) -> LostTerm:
    training = tuple(dict.fromkeys(term for source in sources for term in terms.training(source)))
    mine, others = terms.shown(lost, sources), terms.shown(training, sources)
    shared = mine.keys() & others.keys() | {None}
    by, does = listed_terms(others, shared), "does" if len(others) == 1 else "do"
    name = listed_terms(mine, shared)
    named = f"the term{'s' * (len(mine) > 1)} {name}" if name.startswith("`") else name
    do_not = f"{named} {'do' if len(mine) > 1 else 'does'} not"
    return LostTerm(lost, sources, training, do_not, f"only {by} {does}")


def _is_of_earlier_pass(request: Request, cut: Cut) -> bool:
    """Whether a value was written before this pass: an average, a memory."""
    return cut.reason is Reason.WRITTEN and request.tape not in cut.op.tapes
