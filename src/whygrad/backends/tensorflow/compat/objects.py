"""Private attributes of TensorFlow's and Keras's objects, by plain names."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

tensor_id: Callable[[Any], int] = operator.attrgetter("_id")
"""The number that tells a tensor, eager or traced, from every other."""


class CallbackWithoutLogs:
    """What tf_keras asks a callback before it fetches the logs of a batch for it: none of its hooks looks at them."""

    _supports_tf_logs = True
    hears_training_batches = False

    def _implements_train_batch_hooks(self) -> bool:
        return self.hears_training_batches

    def _implements_test_batch_hooks(self) -> bool:
        return False

    _implements_predict_batch_hooks = _implements_test_batch_hooks
