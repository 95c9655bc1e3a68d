"""The counting of tests: failures, crashes, hangs and empty suites are never taken for success."""

import argparse
import os
import subprocess
import sys

import pytest
import run_tests

GTEST_JSON = """{"tests": 3, "testsuites": [{"name": "Lemke", "testsuite": [
  {"name": "Solves", "status": "RUN", "result": "COMPLETED"},
  {"name": "Fails", "status": "RUN", "result": "COMPLETED", "failures": [{"failure": "1 != 2"}]},
  {"name": "Waits", "status": "RUN", "result": "SKIPPED"}]}]}"""


@pytest.fixture
def outcome(tmp_path):
    """outcome(script) -> Count of a suite whose command is that shell script; $REPORT is the file it should write."""

    def run_script(script, count=run_tests.count_gtest):
        suite = run_tests.Suite("made up", ["bash", "-c", script], tmp_path / "report", count)
        return run_tests.run(suite, tmp_path / "log", {**os.environ, "REPORT": str(tmp_path / "report")})[0]

    return run_script


def test_report_is_counted(outcome):
    count = outcome(f"cat >$REPORT <<'E'\n{GTEST_JSON}\nE\nexit 1")
    assert (count.passed, count.failed, count.skipped, count.failures) == (1, 1, 1, ["Lemke.Fails"])


def test_crash_counts_as_failure_and_keeps_what_passed(outcome):
    count = outcome("echo '[       OK ] A.B (0 ms)'; echo '[  FAILED  ] A.C/0, where GetParam() = 3 (1 ms)'; kill -SEGV $$")
    assert (count.passed, count.failed) == (1, 2)
    assert count.failures == ["A.C/0", "suite crashed with signal 11"]


def test_error_without_a_failing_test_is_a_failure(outcome):
    assert outcome("exit 3").failures == ["suite ended with exit status 3"]


def test_empty_suite_is_a_failure(outcome):
    assert outcome("""echo '{"tests": 0, "testsuites": []}' >$REPORT""").failures == ["suite ran no test"]


def test_missing_program_is_a_failure(tmp_path):
    suite = run_tests.Suite("absent", [str(tmp_path / "absent")], tmp_path / "report", run_tests.count_gtest)
    count, _ = run_tests.run(suite, tmp_path / "log", dict(os.environ))
    assert count.failed == 1 and count.failures[0].startswith("suite did not start")


def test_hanging_suite_is_a_failure(outcome, monkeypatch):
    monkeypatch.setattr(run_tests, "SUITE_LIMIT_S", 0.2)
    assert outcome("sleep 5").failures == ["suite still running after 0.2 s"]


def test_stale_report_is_not_counted(outcome, tmp_path):
    (tmp_path / "report").write_text(GTEST_JSON)
    assert outcome("kill -ABRT $$").failures == ["suite crashed with signal 6"]


JUNIT_XML = """<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase>
<testcase name="c"><error/></testcase><testcase name="d"><skipped/></testcase></testsuite></testsuites>"""


def test_junit_is_counted(outcome):
    count = outcome(f"echo '{JUNIT_XML}' >$REPORT; exit 1", run_tests.count_junit)
    assert (count.passed, count.failed, count.skipped) == (1, 2, 1)


def test_a_skip_that_nothing_explains_is_a_failure(outcome, tmp_path):
    count = outcome(f"cat >$REPORT <<'E'\n{GTEST_JSON}\nE\nexit 1")
    count.refuse_skips(tmp_path)
    assert (count.passed, count.failed, count.skipped, count.failures[-1]) == (1, 2, 0, "Lemke.Waits skipped itself")


def test_a_skip_is_expected_only_where_its_cause_is(tmp_path):
    for cache, skipped in (("DEFT_SANITIZE:BOOL=OFF", 0), ("DEFT_SANITIZE:BOOL=ON", 1)):
        (tmp_path / "CMakeCache.txt").write_text(cache)
        count = run_tests.Count()
        count.skip("StepPlant.AWarmAdvanceAllocatesNothing")
        count.refuse_skips(tmp_path)
        assert (count.skipped, count.failed) == (skipped, 1 - skipped)


def test_every_test_file_of_the_tree_belongs_to_a_suite(root, build, tmp_path):
    names = " ".join(" ".join(s.command) for s in run_tests.find_suites(build, tmp_path))
    for module in {p.parent.name for p in (root / "tests").glob("*/*_test.cpp")}:
        assert f"tests/test_{module}" in names
    stray = [p for p in (root / "tests").rglob("test_*.py") if len(p.relative_to(root).parts) != 3]
    assert stray == [], "pytest folders are tests/NAME, one level deep"


def test_last_line_is_the_count(root, tmp_path):
    """The whole program against an empty build: the C++ suite is missing, which is counted, and the exit status says so."""
    result = subprocess.run(
        [sys.executable, root / "tools/run_tests.py", tmp_path, tmp_path / "logs", "--only", "math"], capture_output=True, text=True
    )
    assert result.stdout.splitlines()[-1] == "0 passed, 1 failed"
    assert result.returncode == 1


def test_parts_run_every_test_once(tmp_path):
    build = tmp_path / "build"
    suites = run_tests.find_suites(build, tmp_path)
    parts = [run_tests.part_of(suites, k, 3) for k in (1, 2, 3)]
    others = [suite.name for part in parts for suite in part if suite.count is not run_tests.count_gtest]
    assert sorted(others) == sorted(suite.name for suite in suites if suite.count is not run_tests.count_gtest)
    executables = [suite.name for suite in suites if suite.count is run_tests.count_gtest]
    for k, part in enumerate(parts):
        own = [suite for suite in part if suite.count is run_tests.count_gtest]
        assert [suite.name for suite in own] == executables
        assert all(suite.environment == {"GTEST_TOTAL_SHARDS": "3", "GTEST_SHARD_INDEX": str(k)} for suite in own)
    assert run_tests.part_of(suites, 1, 1) == suites


def test_a_shard_without_tests_is_no_failure_and_gets_its_environment(tmp_path):
    script = 'test "$GTEST_SHARD_INDEX" = 2 && echo "{}" > "$0"'
    report = tmp_path / "report"
    suite = run_tests.Suite("made up", ["bash", "-c", script, str(report)], report, run_tests.count_gtest)
    shard = {"GTEST_TOTAL_SHARDS": "3", "GTEST_SHARD_INDEX": "2"}
    assert not run_tests.run(run_tests.replace(suite, environment=shard), tmp_path / "log", dict(os.environ))[0].failed
    assert run_tests.run(suite, tmp_path / "log", dict(os.environ))[0].failed


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b"])
def test_parts_that_there_are_not_are_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="1/3"):
        run_tests.read_part(text)
