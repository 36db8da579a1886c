"""ParameterServerStrategy: a chief, two workers and a server, real processes on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distribution.cluster import Cluster

pytestmark = pytest.mark.tensorflow


@pytest.mark.slow
def test_watching_does_not_disturb_and_what_is_not_supported_says_so(tmp_path: Path, tf_keras: Any) -> None:
    program = str(Path(__file__).with_name("coordinated.py"))
    with Cluster(tmp_path, {"chief": 1, "worker": 2, "ps": 1}) as cluster:
        for kind, index in (("ps", 0), ("worker", 0), ("worker", 1), ("chief", 0)):
            cluster.start(kind, index, program)
        chief = cluster.wait("chief", 0, 120)

    assert chief.status == 0, chief.err[-3000:]
    found = chief.answer
    assert found["bits kept"]
    assert found["healthy"] == []
    assert found["broken"] == [["stop-gradient", "hidden = tf.stop_gradient(hidden)"]]
    assert found["fit"] == (
        "whygrad: warning: Monitor cannot record steps that a coordinator sends to workers: "
        "this `fit` goes on without it\n"
    )
    apart = "does not work under a ParameterServerStrategy, whose workers update apart from one another"
    help_text = "help: train with MirroredStrategy or MultiWorkerMirroredStrategy"
    assert found["accumulate"] == f"accumulation {apart}\n{help_text}"
    assert found["guard"] == f"a guard {apart}\n{help_text}"
