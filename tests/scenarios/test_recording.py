"""Where the numbers of benchmarks come from: what is recorded with them, and when nothing may be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import run_benchmarks

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from suites import recording  # noqa: E402
from suites.programs import Failed  # noqa: E402
from suites.recording import Request  # noqa: E402

SOURCE = {"commit": "0a1b", "changed": [], "load": 0.1}


@pytest.fixture
def baselines(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "BASELINES", tmp_path / "baselines")
    return tmp_path / "baselines"


@pytest.fixture
def clone(tmp_path):
    """A repository with a source, a page and a baseline, committed."""
    root = tmp_path / "clone"
    for name in ("src/a.cpp", "docs/page.md", "benchmarks/baselines/a.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1\n")
    git = ("git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "all")):
        subprocess.run([*git, *words], check=True, stdin=subprocess.DEVNULL)
    return root


def test_what_recording_and_drawing_write_does_not_make_a_tree_differ(clone):
    (clone / "docs/page.md").write_text("2\n")
    (clone / "benchmarks/baselines/b.json").write_text("2\n")
    assert recording.changed_files(clone) == []
    assert not recording.commit_of(clone).endswith("+")
    (clone / "src/a.cpp").write_text("2\n")
    (clone / "src/new file.cpp").write_text("2\n")
    assert recording.changed_files(clone) == ["src/a.cpp", "src/new file.cpp"]
    assert recording.commit_of(clone).endswith("+")


@pytest.mark.parametrize(
    ("source", "timed", "words"),
    [
        (SOURCE | {"changed": ["src/a.cpp"], "commit": "0a1b+"}, False, "src/a.cpp differ from the commit"),
        (SOURCE | {"commit": ""}, False, "no clone of git"),
        (SOURCE | {"load": 0.31}, True, "a load of 0.31"),
        (SOURCE | {"load": 0.31}, False, None),
        (SOURCE, True, None),
    ],
)
def test_only_a_commit_on_a_quiet_machine_is_recorded(source, timed, words):
    if words is None:
        recording.check_recordable(source, timed)
        return
    with pytest.raises(Failed, match=words):
        recording.check_recordable(source, timed)


def test_systems_that_were_not_asked_for_keep_their_record(baselines):
    recording.record("a", {"commit": "1"}, {"systems": {"x": [1], "y": [2]}, "limit": 1})
    recording.record("a", {"commit": "2"}, {"systems": {"y": [3]}, "limit": 2})
    found = recording.baseline("a")
    assert found["result"] == {"systems": {"x": [1], "y": [3]}, "limit": 2}
    assert found["sources"] == {"x": {"commit": "1"}, "y": {"commit": "2"}}
    assert recording.baseline("b") == {}
    recording.record("a", {"commit": "3"}, {"systems": {"y": [4]}, "absent": {"x": "no plan"}})
    assert recording.baseline("a")["result"]["systems"] == {"y": [4]} and set(recording.baseline("a")["sources"]) == {"y"}


def test_a_benchmark_that_is_cut_short_has_kept_what_it_found(baselines, tmp_path, monkeypatch):
    def bench(request: Request) -> dict:
        request.keep({"systems": {"x": 1}})
        raise Failed("out of luck")

    monkeypatch.setattr(run_benchmarks, "ROOT", tmp_path)
    monkeypatch.setitem(run_benchmarks.BENCHMARKS, "plants", bench)
    monkeypatch.setattr(run_benchmarks, "source_of", lambda build, command: SOURCE | {"command": command})
    with pytest.raises(Failed, match="out of luck"):
        run_benchmarks.run("plants", tmp_path, ["x"], 1, recorded=True, forced=False)
    assert recording.baseline("plants")["sources"]["x"]["command"] == "./run bench plants x"
    assert json.loads((tmp_path / "out/bench/plants.json").read_text())["result"] == {"systems": {"x": 1}}


def test_a_source_says_all_that_numbers_depend_on():
    build = ROOT / "build/release"
    source = recording.source_of(build, "./run bench plants /robots/arm.urdf --quick")
    assert source["command"] == "./run bench plants arm.urdf --quick"  # no place of this machine
    assert source["machine"]["cores"] >= 1 and source["load"] >= 0 and source["compiler"]
    assert source["rivals"]["numpy"]
    assert source["commit"] == recording.commit_of() and source["commit"].endswith("+") == bool(source["changed"])


def test_every_benchmark_that_is_not_timed_exists():
    assert set(run_benchmarks.BENCHMARKS) >= run_benchmarks.UNTIMED
