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

from whygrad.training.edit.clip_weights import ClipWeights as ClipWeights
from whygrad.training.edit.difference import Change as Change
from whygrad.training.edit.difference import Difference as Difference
from whygrad.training.edit.difference import VariableChange as VariableChange
from whygrad.training.edit.difference import diff as diff
from whygrad.training.edit.exponential_average import ExponentialAverage as ExponentialAverage
from whygrad.training.edit.freeze import Freeze as Freeze
from whygrad.training.edit.freeze import Unfreeze as Unfreeze
from whygrad.training.edit.planned_edit import PlannedEdit as PlannedEdit
from whygrad.training.edit.reset import Reset as Reset
from whygrad.training.edit.schedule import Interpolate as Interpolate
from whygrad.training.edit.schedule import Schedule as Schedule
from whygrad.training.edit.snapshots import Snapshot as Snapshot
from whygrad.training.edit.snapshots import snapshot as snapshot
from whygrad.training.edit.soft_update import SoftUpdate as SoftUpdate
from whygrad.training.edit.transaction import Transaction as Transaction
from whygrad.training.edit.transaction import transaction as transaction
