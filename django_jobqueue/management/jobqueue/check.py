"""`jobqueue jobs check`: whether what is stored fits the code."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django_jobqueue import registry
from django_jobqueue.exceptions import Refused
from django_jobqueue.management.jobqueue.options import add_common_options
from django_jobqueue.management.jobqueue.terminal import Terminal, printable
from django_jobqueue.watch.stored_arguments import Fit, stored_arguments


def add_parser(verbs: Any) -> None:
    """Add `jobs check`."""
    parser = verbs.add_parser(
        "check", help="try the arguments that are stored on the code here; ends with 1 if any fail"
    )
    add_common_options(parser, check_jobs)


def check_jobs(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Show a row for each task and version; say whether all fit."""
    try:
        known = registry.discover()
    except ImportError as error:
        raise Refused("not_importable", str(error)) from error
    fits = stored_arguments(using, known)
    is_well = not any(fit.unfit for fit in fits)
    terminal.answer({"fits": is_well, "tasks": [asdict(fit) for fit in fits]}, _lines(terminal, fits, is_well=is_well))
    return is_well


def _lines(terminal: Terminal, fits: list[Fit], *, is_well: bool) -> list[str]:
    rows = [[fit.task, fit.version, fit.jobs, fit.unfit] for fit in fits]
    table = terminal.table(["task", "version", "jobs", "unfit"], rows) if rows else []
    problems = [line for fit in fits for line in _problems(fit)]
    jobs, unfit = sum(fit.jobs for fit in fits), sum(fit.unfit for fit in fits)
    verdict = f"{jobs} jobs alive or in open dead letters, all fit" if is_well else f"{unfit} of {jobs} jobs do not fit"
    return [*table, *problems, (terminal.style.SUCCESS if is_well else terminal.style.ERROR)(verdict)]


def _problems(fit: Fit) -> list[str]:
    """Write each problem in a line, whole: it is what a person came for."""
    task = f"{fit.task} v{fit.version}"
    lines = []
    for problem in fit.problems:
        ids = ", ".join(map(str, problem.examples)) + (", …" if problem.jobs > len(problem.examples) else "")
        lines.append(f"{task}, {_jobs(problem.jobs)} ({ids}): {problem.problem}")
    if fit.other_problems:
        lines.append(f"{task}, {_jobs(fit.other_problems)}: problems of other kinds")
    return [printable(line) for line in lines]


def _jobs(number: int) -> str:
    return f"{number} job" if number == 1 else f"{number} jobs"
