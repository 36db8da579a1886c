"""Joins the stages: capture -> recording -> rules -> report."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whygrad.arguments import check_callable, check_choice, check_path, check_text, words_in
from whygrad.backends import CHILDREN_OF, DISTRIBUTIONS, Watcher, WatchOptions, modules_of, replay_step, words_of
from whygrad.backends.children import Children, leave
from whygrad.backends.failure import describe_failure
from whygrad.diagnostics import Diagnostic, Selection, Severity, comment_troubles
from whygrad.errors import GradientError, NotCallableError, UsageError
from whygrad.graph import Failure, Ledger, Recording, Request, Source
from whygrad.graph.codec import dump
from whygrad.graph.questions.escape import with_escapes
from whygrad.graph.questions.untrained import untrained
from whygrad.graph.questions.zeros import is_filled_in
from whygrad.graph.recording import ABSENT, used_variables
from whygrad.graph.sources import with_sources
from whygrad.notice import warn
from whygrad.own_frames import hide_own_frames
from whygrad.report import LossReach, Report, TermReach, render_diagnostic
from whygrad.report.children import with_children
from whygrad.report.json import location
from whygrad.report.ledger import printed
from whygrad.rules import all_rules, diagnose_apart, selection_of
from whygrad.rules.term_names import TermTraining, training_of_terms
from whygrad.rules.wording import name_of, target_expression, variable_name
from whygrad.run_folder import runs_of_this_process
from whygrad.source import refresh_sources, texts_of
from whygrad.training.guard.every_optimizer import Guards

if TYPE_CHECKING:
    from whygrad.training.monitor.loop_recorder import LoopRecorder

__all__ = ["Report", "Run", "explain", "watch"]


class Run:
    """A stretch of watched code: the report may be asked for at any time, also afterwards."""

    def __init__(
        self,
        selection: Selection | None,
        on_certain: Callable[[Diagnostic], None] | None,
        name: str = "",
        folder: str | os.PathLike[str] | None = None,
        options: WatchOptions | None = None,
        guards: Guards | None = None,
        raise_on: str | None = None,
        record: bool = False,
    ) -> None:
        self._selection = selection
        self._record, self._began, self._earlier = record, time.time(), len(runs_of_this_process())
        self._name, self._folder = name, folder
        self._on_certain = on_certain
        self._shown: set[tuple[object, ...]] = set()
        self._failure: Failure | None = None
        self._error: BaseException | None = None
        self._children = Children(run_child)
        self._raise_on = None if raise_on is None else _severity(raise_on)
        if raise_on is not None:
            options = replace(options or WatchOptions(), on_news=self._stop_at_a_finding)
        self._watcher = Watcher(None if on_certain is None else self._tell, options, {CHILDREN_OF: self._children.join})
        self._guards = guards
        self._steps: LoopRecorder | None = None
        self._final: Report | None = None
        self._ledger: Ledger | None = None

    def failed(self, error: BaseException) -> None:
        """Tell the exception that ended the code; often it is the symptom of what is explained."""
        self._error = error
        backend = next(iter(self._watcher.backends.values()), None)
        self._failure = describe_failure(error, None if backend is None else backend.held_in)

    def record(self, **numbers: Any) -> None:
        """Record one step of a loop in a run that `whygrad show latest` shows; call it once a step.

        `run.record(gradients=..., variables=..., loss=..., learning_rate=optimizer)`, eagerly or inside `tf.function`.
        Further: `step`, its number, where calls are not to be counted; `applied`, the gradients after clipping;
        `track`, what to call this optimizer where the loop has several.
        """
        from whygrad.training.monitor.loop_recorder import LoopRecorder

        for backend in self._watcher.backends.values():
            with backend.paused():
                if self._steps is None:
                    self._steps = LoopRecorder(self._name, folder=self._folder)
                self._steps.record(**numbers)
            return
        raise UsageError("there is no framework to record", help="import yours before the first step")

    def recording(self) -> Recording:
        for backend in self._watcher.backends.values():
            return backend.record(self._failure)
        return with_sources(Recording(failure=self._failure))

    @property
    def ledger(self) -> Ledger:
        """Who wrote to which variable, where and at which steps; `run.ledger.of("decoder/kernel")` asks for one."""
        return printed(self._ledger if self._ledger is not None else self.recording().ledger)

    def report(self) -> Report:
        return self._final if self._final is not None else self._make_report()

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def _make_report(self) -> Report:
        return self._explain(self.recording())

    def _explain(self, recording: Recording) -> Report:
        report = replace(explain_recording(recording, self._selection), error=self._error)
        if any(backend.has_failed() for backend in self._watcher.backends.values()):
            report = replace(report, run={**report.run, "watched": False})
        return report

    def _tell(self) -> None:
        """Show what is already certain; a rule that fails here will be heard at the end."""
        if self._on_certain is None:
            return
        try:
            found = self._make_report().diagnostics
        except Exception:
            return
        for diagnostic in found:
            span = None if diagnostic.primary is None else diagnostic.primary.span
            key = (diagnostic.code, span)
            if diagnostic.certain and diagnostic.severity > Severity.NOTE and key not in self._shown:
                self._shown.add(key)
                self._on_certain(diagnostic)

    def _stop_at_a_finding(self) -> GradientError | None:
        """What is raised in the user's own call where something is certain already: the text of the diagnostic."""
        try:
            found = self._make_report()
        except Exception:
            return None
        limit = Severity.ERROR if self._raise_on is None else self._raise_on
        for diagnostic in found.diagnostics:
            if diagnostic.certain and diagnostic.severity >= limit:
                with texts_of(found.sources):
                    return GradientError(f"\n{render_diagnostic(diagnostic)}", diagnostic)
        return None

    def _start(self) -> None:
        refresh_sources()
        _runs.append(self)
        self._watcher.start()

    def _leave_hooks(self) -> None:
        self._watcher.stop()
        self._children.stop()

    def _stop(self) -> None:
        self._leave_hooks()
        _runs.remove(self)
        for line in () if self._guards is None else self._guards.take_reports():
            print(line, file=sys.stderr)
        try:
            recording = self.recording()
            self._ledger = recording.ledger
            started, recordings = self._children.started, self._children.take()
            self._final = with_children(self._explain(recording), map(self._explain, recordings), started)
        except Exception as error:
            warn(f"no report: {type(error).__name__}: {error}")
            self._final = Report(run={"watched": False}, error=self._error)
            recording = None
        steps, self._steps = self._steps, None
        status = "finished" if self._failure is None else "failed"
        if steps is not None:
            steps.close(status, self._final.diagnostics)
        if recording is not None:
            self._keep(recording, self._final, status)

    def _keep(self, recording: Recording, report: Report, status: str) -> None:
        """Keep the recording and the report for `whygrad ui`: with the run that the watched code began.

        Where it began several, what was found may be true of one of them only: the report is a run of its own then.
        """
        begun = runs_of_this_process()[self._earlier :]
        if len(begun) != 1 and not self._record:
            return
        from whygrad.store import Run as StoredRun
        from whygrad.store import attach

        try:
            documents = {"recording": dump(recording), "report": report.to_json()}
            path = begun[0] if len(begun) == 1 else self._new_run(status)
            attach(StoredRun(path), documents, report.diagnostics)
        except (UsageError, ValueError, OSError) as error:
            warn(f"the report was not kept with the run: {error}")

    def _new_run(self, status: str) -> Path:
        from whygrad.store import RunWriter

        facts = {"started": self._began}
        writer = RunWriter.start(self._folder, name=self._name, facts=facts, frameworks=DISTRIBUTIONS)
        writer.close(status, None if self._failure is None else f"{self._failure.type_name}: {self._failure.message}")
        if writer.path is None:
            raise UsageError("there is no place to write to")
        return writer.path


@contextlib.contextmanager
def watch(
    *,
    selection: Selection | str | Iterable[str] | None = None,
    select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    on_certain: Callable[[Diagnostic], None] | None = None,
    name: str = "",
    folder: str | os.PathLike[str] | None = None,
    find_nan: bool = False,
    guard: str | None = None,
    keep: str | None = None,
    terms: bool = False,
    raise_on: str | None = None,
    on_step: Callable[[float | None], None] | None = None,
    record: bool = False,
) -> Iterator[Run]:
    """Watch a stretch of code. Nothing it computes changes; afterwards `run.report()` says what was found.

    `select` and `ignore`: only these rules, and not these, by code, name or family, as in `select="WG1"` or
    `ignore=["WG104", "dead-units"]`; `selection` says both as one object, or is another word for `select`.
    `run.record(...)` keeps the numbers of a step in a run called `name`, in `folder` (`.whygrad`).
    `find_nan`: keep what every compiled step needs to be replayed, which costs memory and time, so that the first
    value that is not finite is found for certain. `guard`: hold back updates that are not finite, as `whygrad.guard`
    does with this mode; this one does change what is computed. `keep`: a folder in which a step that goes bad is kept
    for `whygrad replay`. `terms`: measure how much each term of a loss gives to each layer, by one more backward pass a
    term; the values of the program stay as they are. `raise_on`: stop at the first certain finding that is an
    "error", or at least a "warning", by a `GradientError` at the line that asked for the gradient. `record`: keep the
    report, and the graphs it speaks of, as a run for `whygrad ui`, also where no step is recorded. `on_certain` is
    called with each certain finding as soon as it is known; `on_step` at each gradient that is asked for and each call
    of a compiled function, with the loss where it can be seen.
    """
    chosen = _chosen(selection, select, ignore)
    for key, function in {"on_certain": on_certain, "on_step": on_step}.items():
        if function is not None:
            check_callable(key, function, help=f"`{key}=print`, for example")
    check_text("name", name)
    check_path("folder", folder)
    check_path("keep", keep)
    guards = None if guard is None else Guards(guard)
    on_optimizer = None if guards is None else guards.install
    options = WatchOptions(find_nan=find_nan, keep=keep, terms=terms, on_step=on_step, on_optimizer=on_optimizer)
    run = Run(chosen, on_certain, name, folder, options, guards, raise_on, record)
    run._start()
    try:
        yield run
    except GradientError as error:
        hide_own_frames(error)
        raise
    except BaseException as error:
        run.failed(error)
        raise
    finally:
        run._stop()


def _chosen(selection: Any, select: Any, ignore: Any) -> Selection | None:
    """Which rules are wanted; a word that means none of them is refused."""
    advice = 'write `select="WG1"` or `ignore=["WG104", "dead-units"]`; `whygrad rules` lists the codes and names'
    if selection is None or isinstance(selection, Selection):
        words = words_in("select", select, help=advice)
    else:
        words = (*words_in("selection", selection, help=advice), *words_in("select", select, help=advice))
        selection = None
    without = words_in("ignore", ignore, help=advice)
    if selection is not None and (words or without):
        raise UsageError("`selection` cannot be combined with `select` or `ignore`", help="pass one or the other")
    return selection_of(words, without) if words or without else selection


def _severity(text: str) -> Severity:
    check_choice("raise_on", text, ("error", "warning"))
    return Severity.parse(text)


def explain(step: Callable[..., Any], *args: Any, terms: bool = False, **kwargs: Any) -> Report:
    """Run a training step once under capture and say which gradients are missing, and why.

    An exception of the step is part of the explanation: it is `report.error`, and `report.reraise()` raises it.
    `terms`: the report shows, too, how much each term of the loss gives to each layer.
    """
    check_step(step)
    return explained(step, *args, terms=terms, **kwargs)[0]


def check_step(step: object) -> None:
    """A `NotCallableError` where `explain` was given what a step returned."""
    if not callable(step):
        raise NotCallableError(
            f"`explain` takes a function and calls it, but was given a `{type(step).__name__}`",
            help="write `wg.explain(step, x, y)`, not `wg.explain(step(x, y))`",
        )


def explained(step: Callable[..., Any], *args: Any, terms: bool = False, **kwargs: Any) -> tuple[Report, Recording]:
    """What `explain` gives, with the recording that it was made of."""
    run = Run(None, None, options=WatchOptions(terms=terms))
    run._start()
    recording = Recording()
    try:
        step(*args, **kwargs)
    except Exception as error:
        run.failed(error)
    finally:
        with contextlib.suppress(Exception):  # which is said when the run stops
            recording = run.recording()
        run._stop()
    return run.report(), recording


def run_child(process: Any, folder: str) -> None:
    """Run a child process under a capture of its own, which leaves its recording in a folder when it ends by itself.

    One that is killed leaves none. To say something before SIGTERM ends it would need a handler in Python, and a worker
    that waits for a lock just then would never get to it: the pool that ends its workers would wait for ever.
    """
    for outer in _runs:  # of the parent, if it was forked
        outer._leave_hooks()
    run = Run(None, None)

    run._start()
    try:
        type(process).run(process)
    except BaseException as error:
        run.failed(error)
        raise
    finally:
        run._leave_hooks()
        with contextlib.suppress(Exception):
            leave(run.recording(), folder)


_runs: list[Run] = []  # that watch now


def explain_recording(recording: Recording, selection: Selection | None = None) -> Report:
    """What the rules say of a recording, made here or elsewhere: no file of the user's is read for it."""
    with texts_of(recording.sources):
        gradients = tuple(_reach(recording, request) for request in with_escapes(recording).requests)
    framework = recording.framework
    words, modules = words_of(framework), modules_of(framework)
    found, silenced = diagnose_apart(recording, all_rules(), selection, words, modules)
    return Report(
        diagnostics=found,
        gradients=gradients,
        run={**_facts(recording), **_silence(recording, silenced, selection)},
        sources=recording.sources,
        recording=recording,
    )


def replay(path: str) -> Recording:
    """What a step that was kept in this folder says when it is run again."""
    from whygrad.backends.kept_steps import load

    return replay_step(load(Path(path)))


def diagnosed(recording: Recording, selection: Selection | None = None) -> tuple[Diagnostic, ...]:
    """What all rules say of a recording, in the words of its framework."""
    return explain_recording(recording, selection).diagnostics


def _reach(recording: Recording, request: Request) -> LossReach:
    names: dict[bool, list[str]] = {True: [], False: []}
    for source in request.sources:
        if source.tensor is not None or source.variable in recording.variables:
            got = source.outcome not in ABSENT and (request.graph.truncated or not is_filled_in(request, source))
            variable = None if source.variable is None else recording.variables[source.variable]
            names[got].append(name_of(recording, request, source) if variable is None else variable.name)
    return LossReach(
        loss=target_expression(request) or "loss",
        where=request.where,
        reached=tuple(names[True]),
        missing=tuple(names[False]),
        seen=request.times,
        terms=tuple(_term(recording, request, term) for term in training_of_terms(request)),
    )


def _term(recording: Recording, request: Request, term: TermTraining) -> TermReach:
    def named(sources: tuple[Source, ...]) -> tuple[str, ...]:
        known = (recording.variables.get(s.variable) for s in sources if s.variable is not None)
        return tuple(variable.name for variable in known if variable is not None)

    return TermReach(
        term=term.name,
        where=term.where,
        reached=named(term.trained),
        missing=named(term.lost),
        is_penalty=term.is_penalty,
        norms={
            recording.variables[source.variable].name: math.sqrt(square)
            for source, square in zip(request.sources, term.squares, strict=False)
            if source.variable is not None and source.variable in recording.variables
        },
        steps=0 if request.of_terms is None else request.of_terms.steps,
    )


def _silence(recording: Recording, silenced: Sequence[Diagnostic], selection: Selection | None) -> dict[str, object]:
    """How much was silenced by comments, and which comments do nothing, where every rule was asked to the end."""
    known = [(rule.code, rule.name) for rule in all_rules()]
    every = selection is None or selection == Selection()
    troubles = list(comment_troubles(recording.sources, silenced, known, unused=every and recording.failure is None))
    counted: dict[str, object] = {"silenced": len(silenced)} if silenced else {}
    return {**counted, "comments": troubles} if troubles else counted


def _facts(recording: Recording) -> dict[str, object]:
    failure = recording.failure
    idle = untrained(recording) if recording.updates else ()
    return {
        "requests": sum(request.times for request in recording.requests if not request.unasked),
        "updates": sum(update.times for update in recording.updates),
        "variables": len(used_variables(recording)),
        **({"untrained": sorted(set(map(variable_name, idle)))} if idle else {}),
        **({} if failure is None else {"error": _error_facts(failure)}),
    }


def _error_facts(failure: Failure) -> dict[str, object]:
    where = None if failure.where is None else location(failure.where)
    return {"type": failure.type_name, "message": failure.message, "location": where}
