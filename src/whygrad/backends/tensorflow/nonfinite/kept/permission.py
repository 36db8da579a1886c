"""Which ops of a kept step are run: those that the keeper would have marked to be run again, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whygrad.backends.kept_steps import KeptStep
from whygrad.backends.step_form import check_form
from whygrad.backends.tensorflow.nonfinite.kept.attributes import AttributeKindError, decoded
from whygrad.backends.tensorflow.nonfinite.pure_ops import has_pure_gradient, is_pure
from whygrad.errors import UsageError

_HELP = "a step that `whygrad run` has kept has no such op: do not trust this folder"


def check_program(step: KeptStep) -> list[tuple[Any, ...]]:
    """The attributes of each op; a UsageError names the first one that is not run. Nothing has run by then."""
    check_form(step.facts)
    nodes = step.facts["nodes"]
    for number, node in enumerate(nodes):
        if not _may_run(node, nodes):
            raise UsageError(
                f"op {number} of the step, {node['type'][:100]!r}, is not run: it may have an effect", help=_HELP
            )
    for place in step.values:
        if str(place) not in step.facts["dtypes"]:
            raise UsageError(f"value {place} of the step has no type")
    try:
        return [decoded(node["type"], node["attrs"]) if node["attrs"] else () for node in nodes]
    except (AttributeKindError, TypeError, ValueError) as error:
        raise UsageError(f"an op of the step has attributes that it cannot have: {error}") from None


def _may_run(node: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> bool:
    how, attributes = node["rerun"], node["attrs"]
    if how == "op":
        return is_pure(node["type"]) and bool(attributes) and not node["incoming"]
    if attributes:
        return False
    if how == "gradient":
        forward = node.get("forward")
        return type(forward) is int and nodes[forward]["type"] == node["type"] and has_pure_gradient(node["type"])
    return how is None or node["type"] == "AddN"
