"""The only place where private names of TensorFlow and Keras are known, each behind a look whether it is there."""

from __future__ import annotations

from whygrad.backends.tensorflow.compat.arithmetic import *  # noqa: F403
from whygrad.backends.tensorflow.compat.core import *  # noqa: F403
from whygrad.backends.tensorflow.compat.datasets import *  # noqa: F403
from whygrad.backends.tensorflow.compat.draws import *  # noqa: F403
from whygrad.backends.tensorflow.compat.frames import *  # noqa: F403
from whygrad.backends.tensorflow.compat.lean import *  # noqa: F403
from whygrad.backends.tensorflow.compat.objects import *  # noqa: F403
from whygrad.backends.tensorflow.compat.optimizers import *  # noqa: F403
from whygrad.backends.tensorflow.compat.renames import *  # noqa: F403
from whygrad.backends.tensorflow.compat.training import *  # noqa: F403
