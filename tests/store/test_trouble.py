"""Full disk, folder that cannot be written, damaged file: a sentence, nothing lost, and the training goes on."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from store.samples import rows, track
from whygrad.graph.series import CHANNELS
from whygrad.store import Run, RunUnreadableError, RunWriter, list_runs, run_file

TRACK = track()


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with the same packages."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )


FULL_DISK = """
    import resource, sys, time
    from store.samples import rows, track
    from whygrad.store import RunWriter

    TRACK = track(40)
    writer = RunWriter.start(sys.argv[1])
    number = writer.add_track(TRACK)
    writer.append(number, rows(TRACK, range(50)))
    assert writer.flush()
    room = 400_000 if sys.argv[2] == "full" else 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))  # as if the disk had no more room
    for step in range(50, 2000, 10):
        before = time.perf_counter()
        writer.append(number, rows(TRACK, range(step, step + 10)))
    assert not writer.flush(2)
    if sys.argv[3] == "freed":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert writer.flush(30)
    print("training goes on")
    writer.close()
    print(writer.path)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_full_disk_is_told_once_and_what_was_written_before_can_be_read(tmp_path: Path) -> None:
    done = run_python(FULL_DISK, tmp_path, "full", "stays")

    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("whygrad: warning: cannot write to")
    assert lines[0].endswith("trying again, the training goes on")
    assert "could not be written" in lines[1]
    said, path = done.stdout.splitlines()
    assert said == "training goes on"
    run = Run(Path(path))
    assert run.check() == []
    steps = run.series("layer_3/kernel").steps.tolist()
    assert steps[:50] == list(range(50))
    assert f"the last {2000 - len(steps)} steps could not be written" in lines[1]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_disk_that_gets_room_again_gets_everything(tmp_path: Path) -> None:
    done = run_python(FULL_DISK, tmp_path, "full", "freed")

    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1
    run = Run(Path(done.stdout.splitlines()[1]))
    assert run.series("layer_3/kernel").steps.tolist() == list(range(2000))
    assert run.facts()["status"] == "finished"
    assert run.check() == []


def test_folder_that_cannot_be_made_is_told_and_the_run_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    in_the_way, spare = tmp_path / "file", tmp_path / "spare"
    in_the_way.write_text("not a folder")
    monkeypatch.setattr(run_file, "spare_folder", lambda: spare)

    writer = RunWriter.start(in_the_way / ".whygrad")
    writer.append(writer.add_track(TRACK), rows(TRACK, range(5)))
    writer.close()

    told = capfd.readouterr().err
    assert told.startswith(f"whygrad: warning: cannot record into `{in_the_way}/.whygrad` (")
    assert told.endswith(f"this run is recorded as `{writer.path}`\n")
    assert Run(spare / f"{writer.id}.sqlite").last_step() == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_told_and_the_run_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    monkeypatch.setattr(run_file, "spare_folder", lambda: tmp_path / "spare")

    writer = RunWriter.start(closed)
    writer.close()

    assert f"cannot record into `{closed}`" in capfd.readouterr().err
    assert writer.path is not None


def test_nowhere_to_write_drops_rows_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setattr(run_file, "spare_folder", lambda: in_the_way)

    writer = RunWriter.start(in_the_way)
    writer.append(writer.add_track(TRACK), rows(TRACK, range(5)))
    writer.set_fact("a", 1)
    assert not writer.flush()
    writer.close()

    assert writer.path is None
    assert capfd.readouterr().err.endswith("nor anywhere else; the training goes on unrecorded\n")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    writer = RunWriter.start(tmp_path_factory.mktemp("sound"))
    number = writer.add_track(TRACK)
    for start in range(0, 12_000, 4096):
        writer.append(number, rows(TRACK, range(start, min(start + 4096, 12_000))))
        writer.flush()
    writer.close()
    assert writer.path is not None
    return writer.path.read_bytes()


def damage_of(path: Path) -> str:
    """What is said of a damaged file; whatever can still be read of it is what was written."""
    run = Run(path)
    try:
        found = [run.series(info.name) for _, info in run.variables()]
        run.facts()
    except RunUnreadableError as error:
        return error.message
    for v, series in enumerate(found):
        expected = rows(TRACK, series.steps).values[:, v]
        for c, channel in enumerate(CHANNELS):
            assert series.channels[channel].tobytes() == expected[:, c].tobytes()
    return " ".join(run.damage)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_truncated_file_gives_what_is_left_and_a_sentence(tmp_path: Path, sound: bytes, share: float) -> None:
    path = tmp_path / "brave-fox-11.sqlite"
    path.write_bytes(sound[: int(len(sound) * share)])
    before = path.read_bytes()

    said = damage_of(path)

    assert f"`{path}` is" in said
    assert path.read_bytes() == before
    (header,) = list_runs(tmp_path)
    assert header.id == "brave-fox-11"


@pytest.mark.parametrize("seed", range(12))
def test_damaged_file_gives_what_is_left_and_a_sentence(tmp_path: Path, sound: bytes, seed: int) -> None:
    generator = random.Random(seed)
    damaged = bytearray(sound)
    for _ in range(20):
        start = generator.randrange(len(damaged) - 200)
        damaged[start : start + 200] = generator.randbytes(200)
    path = tmp_path / "brave-fox-11.sqlite"
    path.write_bytes(damaged)

    said = damage_of(path)

    assert f"`{path}` is" in said
    assert path.read_bytes() == bytes(damaged)
    assert len(list_runs(tmp_path)) == 1


def test_a_sound_file_has_no_damage(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "brave-fox-11.sqlite"
    path.write_bytes(sound)

    assert damage_of(path) == ""


def test_one_damaged_file_does_not_hide_the_others(tmp_path: Path) -> None:
    good = RunWriter.start(tmp_path)
    good.close()
    (tmp_path / "bad-file-10.sqlite").write_bytes(b"this is no database" * 100)
    (tmp_path / "empty-file-10.sqlite").write_bytes(b"")

    headers = {header.id: header for header in list_runs(tmp_path)}

    assert headers[good.id].status == "finished"
    assert headers["bad-file-10"].status == "unreadable"
    assert "is damaged: file is not a database" in headers["bad-file-10"].problem
    assert "is empty" in headers["empty-file-10"].problem


def test_killed_run_in_a_folder_that_cannot_be_written_is_read_from_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RunWriter.start(tmp_path)
    writer.append(writer.add_track(TRACK), rows(TRACK, range(5)))
    writer.flush()
    copy = tmp_path / "copied"
    copy.mkdir()
    for name in (writer.path.name, f"{writer.path.name}-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    writer.close()
    real = run_file._read_only

    def refuse(path: Path, stack: object) -> sqlite3.Connection:
        if path.parent == copy:
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return real(path, stack)

    monkeypatch.setattr(run_file, "_read_only", refuse)

    assert Run(copy / writer.path.name).series("layer_0/kernel").steps.tolist() == list(range(5))


def test_a_forked_child_leaves_the_run_alone(tmp_path: Path) -> None:
    code = """
        import os, sys
        from store.samples import rows, track
        from whygrad.store import RunWriter

        writer = RunWriter.start(sys.argv[1])
        number = writer.add_track(track())
        writer.append(number, rows(track(), range(5)))
        child = os.fork()
        if child == 0:
            writer.append(number, rows(track(), range(100, 105)))
            sys.exit(0)
        os.waitpid(child, 0)
        writer.append(number, rows(track(), range(5, 8)))
        writer.close()
        print(writer.path)
    """
    done = run_python(code, tmp_path)

    assert done.returncode == 0, done.stderr
    assert Run(Path(done.stdout.strip())).series("layer_0/kernel").steps.tolist() == list(range(8))


def test_a_program_that_ends_without_closing_leaves_a_whole_file(tmp_path: Path) -> None:
    code = """
        import sys
        from store.samples import rows, track
        from whygrad.store import RunWriter

        writer = RunWriter.start(sys.argv[1])
        writer.append(writer.add_track(track()), rows(track(), range(5)))
        raise SystemExit(3)
    """
    done = run_python(code, tmp_path)

    (header,) = list_runs(tmp_path)
    assert done.returncode == 3
    assert (header.status, header.last_step) == ("interrupted", 4)
    assert [path.name for path in tmp_path.iterdir()] == [f"{header.id}.sqlite"]
