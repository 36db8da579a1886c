"""Planned changes to variables: one line each, right in `fit`, in loops, inside `tf.function` and under distribution.

| what | for |
| --- | --- |
| `ExponentialAverage` | smoothed weights, swapped in for evaluation and back |
| `SoftUpdate` | target networks |
| `ClipWeights` | bounds on weights |
| `Reset` | restarts, weights and moments together |
| `Freeze`, `Unfreeze` | layers that train until, or from, a step |
| `Interpolate`, `Schedule` | any variable as a function of the step |
| `transaction` | all or nothing: an exception or a NaN puts every variable back |
| `snapshot`, `diff` | what changed between two moments or checkpoints |
"""

from whygrad.backends.tensorflow.edit.clip_weights import ClipWeights
from whygrad.backends.tensorflow.edit.difference import Change, Difference, VariableChange, diff
from whygrad.backends.tensorflow.edit.exponential_average import ExponentialAverage
from whygrad.backends.tensorflow.edit.freeze import Freeze, Unfreeze
from whygrad.backends.tensorflow.edit.planned_edit import PlannedEdit
from whygrad.backends.tensorflow.edit.reset import Reset
from whygrad.backends.tensorflow.edit.schedule import Interpolate, Schedule
from whygrad.backends.tensorflow.edit.snapshot import Snapshot, snapshot
from whygrad.backends.tensorflow.edit.soft_update import SoftUpdate
from whygrad.backends.tensorflow.edit.transaction import Transaction, transaction

__all__ = [
    "Change",
    "ClipWeights",
    "Difference",
    "ExponentialAverage",
    "Freeze",
    "Interpolate",
    "PlannedEdit",
    "Reset",
    "Schedule",
    "Snapshot",
    "SoftUpdate",
    "Transaction",
    "Unfreeze",
    "VariableChange",
    "diff",
    "snapshot",
    "transaction",
]
