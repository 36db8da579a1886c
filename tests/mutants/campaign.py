"""One program: its mutants in an order that a seed gives, the oracle first, then whygrad, then the verdict."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .code import Code
from .forks import in_fork
from .judge import Diagnostic, Peace, Verdict, beside, judge, peace, said
from .operators import OPERATORS, Change, Harm, Operator
from .oracle import look
from .penalty import with_penalty
from .seen import WELL, Seen, harm_done
from .variants import AS_IS, VARIANTS
from .watched import diagnose

SECONDS = 120.0  # for one run; the slowest program takes ten on a busy machine
PLACES = 3  # of one operator in one program, until one does harm


@dataclass(frozen=True)
class Plan:
    """What is to be tried of each program."""

    seed: int
    each: int = 4  # harmful mutants wanted
    tries: int = 12  # mutants tried
    operators: tuple[str, ...] = tuple(OPERATORS)
    variants: tuple[str, ...] = tuple(VARIANTS)
    penalty: bool = False
    healthy: bool = False  # see whether variants are left in peace, and break none
    keep: Path | None = None  # folder for what was not placed


@dataclass(frozen=True)
class Row:
    """One verdict; on a healthy variant it has neither operator nor harm."""

    program: str
    variant: str
    operator: str
    verdict: str
    said: tuple[str, ...]
    harm: str = ""
    first: int = 0
    last: int = 0
    beside: tuple[str, ...] = ()
    ended: str = WELL
    penalty: bool = False
    kept: str = ""


class Campaign:
    """The mutants of one program."""

    def __init__(self, plan: Plan, program: Path, folder: str) -> None:
        self._plan, self._program, self._folder = plan, program, folder
        self._random = random.Random(f"{plan.seed} {program.name}")
        self._text = Code(program.read_text(encoding="utf-8")).without_assertions()
        self.variant = cache(self._variant)

    def healthy_rows(self) -> Iterator[Row]:
        """Whether each variant is left in peace; the program as it is belongs to the gallery's own tests."""
        for variant in self._plan.variants:
            if variant != AS_IS and self.variant(variant) is not None:
                change = Change(VARIANTS[variant](Code(self._text)) or "")
                script = self._written(change.text)
                told = in_fork(lambda: diagnose(script), SECONDS, self._folder)  # noqa: B023
                diagnostics = told.get("diagnostics", ())
                verdict = peace(diagnostics)
                kept = self._keep("healthy", variant, change) if verdict is Peace.LOUD else ""
                yield Row(self._program.name, variant, "", verdict.value, tuple(said(diagnostics)), kept=kept)

    def rows(self) -> Iterator[Row]:
        tried = found = 0
        for operator, places in self._order():
            for variant, change in places[:PLACES]:
                if found >= self._plan.each or tried >= self._plan.tries:
                    return
                healthy = self.variant(variant)
                if healthy is None:
                    continue
                tried += 1
                harm = self._harm(operator, change, healthy)
                if harm is None:
                    continue
                row = self._judged(operator, variant, change, harm)
                yield row
                found += 1
                if self._plan.penalty and row.verdict == Verdict.PLACED:
                    yield from self._again(operator, variant, change, harm)
                break

    def _order(self) -> list[tuple[Operator, list[tuple[str, Change]]]]:
        """Operators in an order by chance, each with its places in an order by chance."""
        names = [name for name in OPERATORS if name in self._plan.operators]
        texts = {name: VARIANTS[name](Code(self._text)) for name in VARIANTS if name in self._plan.variants}
        order = []
        for name in self._random.sample(names, len(names)):
            operator = OPERATORS[name]
            places = [(kind, change) for kind, text in texts.items() if text for change in operator.changes(Code(text))]
            order.append((operator, self._random.sample(places, len(places))))
        return order

    def _variant(self, name: str) -> Seen | None:
        """What the oracle sees of a healthy variant; None: it is none."""
        text = VARIANTS[name](Code(self._text))
        seen = None if text is None else self._look(text)
        if seen is None or seen.ended != WELL:
            return None
        if (
            name != AS_IS
            and (as_is := self.variant(AS_IS))
            and harm_done(as_is, seen, (Harm.NONE, Harm.NONFINITE), lambda: seen)
        ):
            return None
        return seen

    def _harm(self, operator: Operator, change: Change, healthy: Seen) -> Harm | None:
        return harm_done(healthy, self._look(change.text), operator.harm, lambda: self._look(change.text, eagerly=True))

    def _look(self, text: str, eagerly: bool = False) -> Seen:
        script = self._written(text)
        return Seen.from_json(in_fork(lambda: look(script, eagerly).to_json(), SECONDS, self._folder))

    def _judged(self, operator: Operator, variant: str, change: Change, harm: Harm, penalty: bool = False) -> Row:
        script = self._written(change.text)
        told = in_fork(lambda: diagnose(script), SECONDS, self._folder)
        diagnostics: Sequence[Diagnostic] = told.get("diagnostics", ())
        verdict = judge(operator, change, script, diagnostics)
        return Row(
            program=self._program.name,
            variant=variant,
            operator=operator.name,
            first=change.first,
            last=change.last,
            harm=harm.value,
            verdict=verdict.value,
            said=tuple(said(diagnostics)),
            beside=tuple(said(beside(operator, diagnostics))),
            ended=told["ended"],
            penalty=penalty,
            kept=self._keep(operator.name, variant, change, penalty) if verdict is not Verdict.PLACED else "",
        )

    def _again(self, operator: Operator, variant: str, change: Change, harm: Harm) -> Iterator[Row]:
        """The same mutant with a penalty, where the healthy program bears one too."""
        text = VARIANTS[variant](Code(self._text))
        with_one, healthy = with_penalty(change), with_penalty(Change(text or ""))
        if with_one and healthy and self._look(healthy.text).ended == WELL:
            yield self._judged(operator, variant, with_one, harm, penalty=True)

    def _written(self, text: str) -> str:
        script = Path(self._folder, self._program.name)
        script.write_text(text, encoding="utf-8")
        return str(script)

    def _keep(self, operator: str, variant: str, change: Change, penalty: bool = False) -> str:
        if self._plan.keep is None:
            return ""
        self._plan.keep.mkdir(parents=True, exist_ok=True)
        name = f"{self._program.stem}__{operator}_{variant}_{change.first}{'_penalty' if penalty else ''}.py"
        file = self._plan.keep / name
        file.write_text(change.text, encoding="utf-8")
        return str(file)


def rows_of(plan: Plan, program: Path) -> Iterator[dict[str, Any]]:
    """The verdicts on one program, as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(plan, program, folder)
        yield from map(asdict, campaign.healthy_rows() if plan.healthy else campaign.rows())
