"""A kept step may be somebody else's: what is not known to be harmless is refused by name, and nothing of it runs."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from whygrad.backends import kept_steps
from whygrad.errors import UsageError
from whygrad.graph.nonfinite import Nonfinite, Stage
from whygrad.watch import replay, watch

pytestmark = pytest.mark.tensorflow

Facts = dict[str, Any]

DANGEROUS = [
    "WriteFile", "ReadFile", "MatchingFiles", "PyFunc", "PyFuncStateless", "EagerPyFunc", "PrintV2", "Print", "Abort",
    "SaveV2", "Save", "RestoreV2", "MergeV2Checkpoints", "ImmutableConst", "DebugIdentity", "DebugNumericSummary",
    "DecodeProtoV2", "EncodeProto", "PartitionedCall", "StatefulPartitionedCall", "StatelessIf", "StatelessWhile",
    "If", "SymbolicGradient", "RemoteCall", "MapDefun", "VarHandleOp", "ReadVariableOp", "AssignVariableOp",
    "TextLineDataset", "FixedLengthRecordDataset", "DatasetToTFRecord", "GenerateVocabRemapping",
    "LoadAndRemapMatrix", "MlirPassthroughOp", "XlaCallModule", "XlaCustomCall", "XlaHostCompute",
    "InitializeTableFromTextFileV2", "RandomUniform", "Assert", "WriteScalarSummary", "WriteAudioSummary",
    "CreateSummaryFileWriter", "CloseSummaryWriter", "Timestamp", "CopyHost", "Const", "ParseTensor", "_Send",
    "_Recv", "NoSuchOp", "__inference_step_17", "", "a\nb",
]  # fmt: skip


@pytest.fixture(scope="module")
def kept(tf: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One step of each kind, as the keeper writes them."""

    def step(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            total = tf.zeros([4])
            for row in tf.range(3):
                total += tf.tile(tf.reduce_sum(x, keepdims=True)[0] * tf.cast(row, tf.float32), [4])
            loss = tf.reduce_sum(tf.sqrt(tf.reshape(x @ w, [-1])) * tf.fill([8], 2.0)) + tf.reduce_sum(total)
        return tape.gradient(loss, [w])

    found = {}
    for name, run in {"eager": step, "compiled": tf.function(step)}.items():
        folder = tmp_path_factory.mktemp(name)
        with watch(keep=str(folder)):
            run(tf.constant([[1.0, -2.0], [3.0, 0.5]]), tf.Variable(tf.eye(2, 4)))
        found[name] = kept_steps.find("latest", None, folder)
    return found


@pytest.fixture
def change(kept: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """A copy of a step with its facts changed."""

    def change(edit: Callable[[Facts], object], kind: str = "eager") -> Path:
        folder = tmp_path / f"step-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(kept[kind], folder)
        facts = json.loads((folder / "step.json").read_text())
        edit(facts)
        (folder / "step.json").write_text(json.dumps(facts))
        return folder

    return change


@pytest.fixture
def ops_run(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The types of all ops that run, whoever runs them."""
    import tensorflow as tf

    from whygrad.backends.tensorflow import compat

    seen: list[str] = []
    real = compat.run_op

    def run_op(op_type: str, *rest: Any) -> Any:
        seen.append(op_type)
        return real(op_type, *rest)

    def listen(op_type: Any, *_: Any, **__: Any) -> None:
        if tf.executing_eagerly():
            seen.append(op_type.decode() if isinstance(op_type, bytes) else op_type)

    monkeypatch.setattr(compat, "run_op", run_op)
    compat.add_op_callback(listen)
    yield seen
    compat.remove_op_callback(listen)


def first_op(facts: Facts) -> Facts:
    return next(node for node in facts["nodes"] if node["rerun"] == "op")


def test_a_planted_op_that_writes_a_file_is_refused_by_name_and_writes_nothing(
    kept: dict[str, Path], tmp_path: Path, ops_run: list[str]
) -> None:
    import tensorflow as tf

    from whygrad.backends.tensorflow import compat

    target = tmp_path / "written"
    step = kept_steps.load(kept["eager"])
    facts = json.loads(json.dumps(step.facts))
    values = dict(step.values)
    for place, text in ((9_000, str(target)), (9_001, "owned")):
        values[place] = compat.bytes_of_tensor(tf.constant(text))
        facts["dtypes"][str(place)] = "string"
    planted = {"type": "WriteFile", "inputs": [9_000, 9_001], "outputs": [], "rerun": "op", "attrs": ["x", 1]}
    facts["nodes"].append({**first_op(facts), **planted})
    folder = kept_steps.save(kept_steps.KeptStep(facts, values, step.sources), tmp_path / "run", 1)
    ops_run.clear()

    with pytest.raises(UsageError, match="'WriteFile', is not run: it may have an effect"):
        replay(str(folder))

    assert ops_run == []
    assert not target.exists()


@pytest.mark.parametrize("how", ["op", "gradient", "sum"])
def test_ops_with_an_effect_are_refused_by_name(how: str, kept: dict[str, Path], ops_run: list[str]) -> None:
    from whygrad.backends.tensorflow.nonfinite.kept.rerun import replay as replay_step

    step = kept_steps.load(kept["eager"])
    for op_type in DANGEROUS:
        nodes = [*step.facts["nodes"]]
        attrs = ["T", {"dtype": "float32"}] if how == "op" else []
        nodes[0] = {**nodes[0], "type": op_type}
        nodes[-1] = {**nodes[-1], "type": op_type, "rerun": how, "attrs": attrs, "forward": 0}

        with pytest.raises(UsageError, match="is not run: it may have an effect") as raised:
            replay_step(replace(step, facts={**step.facts, "nodes": nodes}))

        assert repr(op_type) in raised.value.message
    assert ops_run == []


def test_an_op_that_was_only_described_is_not_run_in_a_wider_type_either(
    kept: dict[str, Path], tmp_path: Path, ops_run: list[str]
) -> None:
    import tensorflow as tf

    from whygrad.backends.tensorflow import compat

    step = kept_steps.load(kept["eager"])
    facts = json.loads(json.dumps(step.facts))
    half = {9_000: tf.constant([1.0], tf.float16), 9_001: tf.constant([float("inf")], tf.float16)}
    facts["dtypes"].update({str(place): "float16" for place in half})
    described = {"type": "RandomShuffle", "inputs": [9_000], "outputs": [9_001], "rerun": None, "attrs": []}
    facts["nodes"] = [{**first_op(facts), **described}]
    facts["ends"] = [9_001]
    values = {place: compat.bytes_of_tensor(tensor) for place, tensor in half.items()}
    folder = kept_steps.save(kept_steps.KeptStep(facts, values, {}), tmp_path / "run", 1)

    replay(str(folder))

    assert "RandomShuffle" not in ops_run


GIANT = [
    ("Fill", ["T", {"dtype": "float32"}, "index_type", {"dtype": "int64"}], [[2**40], 1.0]),
    ("Tile", ["T", {"dtype": "float32"}, "Tmultiples", {"dtype": "int64"}], [[1.0], [2**40]]),
    ("BroadcastTo", ["T", {"dtype": "float32"}, "Tidx", {"dtype": "int64"}], [[1.0], [2**20, 2**20]]),
    ("Range", ["Tidx", {"dtype": "int64"}], [0, 2**40, 1]),
    ("LinSpace", ["T", {"dtype": "float32"}, "Tidx", {"dtype": "int64"}], [0.0, 1.0, 2**40]),
    ("OneHot", ["T", {"dtype": "float32"}, "axis", -1, "TI", {"dtype": "int64"}], [[1] * 100, 2**31 - 1, 1.0, 0.0]),
    ("Pad", ["T", {"dtype": "float32"}, "Tpaddings", {"dtype": "int64"}], [[1.0], [[0, 2**40]]]),
    (
        "StatelessRandomUniform",
        ["dtype", {"dtype": "float32"}, "T", {"dtype": "int64"}, "Tseed", {"dtype": "int64"}],
        [[2**40], [1, 2]],
    ),
    ("DenseBincount", ["Tidx", {"dtype": "int64"}, "T", {"dtype": "float32"}], [[1], 2**40, [1.0]]),
    ("TensorListReserve", ["element_dtype", {"dtype": "float32"}, "shape_type", {"dtype": "int64"}], [[1], 2**31 - 1]),
    ("TensorListReserve", ["element_dtype", {"dtype": "float32"}, "shape_type", {"dtype": "int64"}], [[2**40], 1]),
]


@pytest.mark.parametrize(("op_type", "attrs", "values"), GIANT, ids=lambda part: part if isinstance(part, str) else "")
def test_what_would_not_fit_into_memory_is_refused_before_it_is_made(
    op_type: str, attrs: list[Any], values: list[Any], kept: dict[str, Path], tmp_path: Path, ops_run: list[str]
) -> None:
    import tensorflow as tf

    from whygrad.backends.tensorflow import compat

    step = kept_steps.load(kept["eager"])
    facts = json.loads(json.dumps(step.facts))
    small = op_type in ("OneHot", "TensorListReserve")  # these take an int32
    tensors = {}
    for place, value in enumerate(values, 9_000):
        tensor = tf.constant(value)
        if tensor.dtype.is_integer:
            tensor = tf.constant(value, tf.int32 if small and tensor.shape.rank == 0 else tf.int64)
        tensors[place] = tensor
    facts["dtypes"] = {str(place): tensor.dtype.name for place, tensor in tensors.items()}
    planted = {"type": op_type, "inputs": [*tensors], "outputs": [9_999], "attrs": attrs, "rerun": "op"}
    facts["nodes"] = [{**first_op(facts), **planted}]
    contents = {place: compat.bytes_of_tensor(tensor) for place, tensor in tensors.items()}
    folder = kept_steps.save(kept_steps.KeptStep(facts, contents, {}), tmp_path / "run", 1)
    ops_run.clear()

    with pytest.raises(UsageError, match=f"`{op_type}` of the step would make"):
        replay(str(folder))

    assert op_type not in ops_run


def test_a_value_cannot_claim_to_be_larger_than_it_is(kept: dict[str, Path], tmp_path: Path) -> None:
    from tensorflow.core.framework import tensor_pb2, types_pb2

    giant = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[1.0])
    giant.tensor_shape.dim.add(size=2**40)
    step = kept_steps.load(kept["eager"])
    values = {place: giant.SerializeToString() for place in step.values}
    folder = kept_steps.save(kept_steps.KeptStep(step.facts, values, {}), tmp_path / "run", 1)

    with pytest.raises(UsageError, match=r"a value is (smaller than its shape|not of the type)"):
        replay(str(folder))


def test_files_that_are_named_but_were_not_kept_are_not_read(change: Callable[..., Path], tmp_path: Path) -> None:
    from whygrad.source import source_lines

    secret = tmp_path / "secret.txt"
    secret.write_text("a secret\n" * 5)

    def edit(facts: Facts) -> None:
        for node in facts["nodes"]:
            node["place"] = [str(secret), 2, 0, 2, 8]

    recording = replay(str(change(edit)))

    assert recording.events[0].where.file == str(secret)
    assert source_lines(str(secret)) == ()


@pytest.mark.parametrize("place", [["x.py", 1, 0, 10**8, 0], ["x.py", 5, 0, 2, 0], ["x.py", "1", 0, 2, 0], ["x.py", 1]])
def test_places_that_cannot_be_are_refused(place: Any, change: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="op 0 of the step is damaged: its `place` is missing or malformed"):
        replay(str(change(lambda facts: facts["nodes"][0].update(place=place))))


NUMBERS = [-1, 0, 1, 7, 2**31, 2**62, 2**63, 2**200, 1e308, float("nan"), float("inf"), None, True, "x", [], {}, [[]]]


def mutate(facts: Any, generator: random.Random) -> None:
    """Replace, drop or swap something at a random place."""
    at = facts
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = generator.choice(keys)
        if isinstance(at[key], dict | list) and at[key] and generator.random() < 0.9:
            at = at[key]
            continue
        kind = generator.randrange(4)
        if kind == 0:
            del at[key]
        elif kind == 1 and isinstance(at, dict) and isinstance(at.get("type"), str):
            at["type"] = generator.choice([*DANGEROUS, "Reshape", "Fill", "Tile", "GatherV2", "ScatterNd", "Conv2D"])
        elif kind == 2:
            nested: Any = 1
            for _ in range(generator.choice([3, 100])):
                nested = [nested]
            at[key] = nested
        else:
            at[key] = generator.choice(NUMBERS)
        return


def damage(folder: Path, generator: random.Random) -> None:
    """Flip bytes of one of the files, or cut it."""
    file = generator.choice(sorted(folder.iterdir()))
    content = bytearray(file.read_bytes())
    if generator.random() < 0.3:
        content = content[: generator.randrange(len(content) + 1)]
    for _ in range(generator.randrange(1, 8)):
        if content:
            content[generator.randrange(len(content))] = generator.randrange(256)
    file.write_bytes(content)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["eager", "compiled"])
def test_a_changed_step_gives_a_sentence_and_runs_no_op_outside_of_the_list(
    kind: str, seed: int, change: Callable[..., Path], ops_run: list[str], tmp_path: Path
) -> None:
    from whygrad.backends.tensorflow.nonfinite.pure_ops import is_pure

    generator = random.Random(f"{kind} {seed}")
    for _ in range(40):
        folder = change(lambda facts: [mutate(facts, generator) for _ in range(generator.randrange(1, 4))], kind)
        if generator.random() < 0.3:
            damage(folder, generator)
        before = set(tmp_path.rglob("*"))
        with contextlib.suppress(UsageError):  # anything else is a crash
            replay(str(folder))
        assert set(tmp_path.rglob("*")) == before
        shutil.rmtree(folder)
    ours = {"ParseTensor", "Const"}
    assert {op_type for op_type in ops_run if not is_pure(op_type)} <= ours


@pytest.mark.parametrize("file", ["step.json", "sources.json", "values.json"])
@pytest.mark.parametrize("text", ["[" * 100_000, "7", "[]", "{", '{"version": 1' + "0" * 5000 + "}", "\x00", '"'])
def test_what_is_no_table_is_refused(file: str, text: str, change: Callable[..., Path]) -> None:
    folder = change(lambda facts: None)
    (folder / file).write_text(text)

    with pytest.raises(UsageError, match=r"is not a kept step|was kept by another version"):
        replay(str(folder))


@pytest.mark.parametrize(
    "index", [{"0": [0, 2**60]}, {"0": [-5, 3]}, {"0": [0, 1], "1": [0, 1]}, {"x": [0, 1]}, {"0": 3}]
)
def test_stretches_that_do_not_lie_in_the_file_are_refused(index: Any, change: Callable[..., Path]) -> None:
    folder = change(lambda facts: None)
    (folder / "values.json").write_text(json.dumps(index))

    with pytest.raises(UsageError, match="is not a kept step"):
        replay(str(folder))


def test_the_step_itself_says_what_it_said(kept: dict[str, Path]) -> None:
    events = [replay(str(path)).events[0] for path in kept.values()]

    assert [isinstance(each, Nonfinite) and each.stage for each in events] == [Stage.BORN] * 2
