"""What every command shares: help, version, usage errors, errors in files."""

import pytest

COMMANDS = ["info", "check", "sim", "plan", "optimize", "track", "replay", "linearize", "solve", "view", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_version_of_every_command(deft, command):
    assert "--json" in deft.run(command, "--help").stdout
    assert deft.run(command, "--version").stdout == deft.run("--version").stdout


def test_help_names_every_command(deft):
    text = deft.run("--help").stdout
    assert all(command in text for command in COMMANDS)


@pytest.mark.parametrize(
    "arguments, hint",
    [
        ([], "deft --help"),
        (["smi"], "did you mean 'sim'?"),
        (["batch", "x.yaml"], "'batch' is not available yet"),
        (["sim"], "deft sim --help"),
        (["sim", "x.yaml", "--no-such-option"], "deft sim --help"),
        (["sim", "x.yaml", "--steps", "-1"], "--steps"),
        (["sim", "x.yaml", "--steps", "3", "--duration", "1"], "deft sim --help"),
        (["sim", "x.yaml", "--controller", "mpc"], "--controller: mpc not in {mixed-integer}"),
        (["sim", "x.yaml", "--dump-if", "sometimes"], "--dump-if"),
        (["solve", "x.json", "--solver", "simplex"], "unknown solver 'simplex'; valid: active-set, auto, bnb, ipm, lemke, newton"),
        (["solve", "x.json", "--tolerance", "2"], "--tolerance"),
        (["solve", "x.json", "--repeat", "0"], "--repeat"),
        (["info"], "info needs a SCENE"),
    ],
)
def test_usage_errors_end_with_2_and_a_hint(deft, arguments, hint):
    done = deft.run(*arguments, code=2)
    assert done.stdout == ""
    assert "error: " in done.stderr and hint in done.stderr


@pytest.mark.parametrize("command", ["info", "sim", "linearize", "solve", "view", "check"])
def test_a_missing_file_ends_with_2_and_its_name(deft, command):
    done = deft.run(command, "no_such_file", code=2)
    assert "no_such_file" in done.stdout + done.stderr


@pytest.mark.parametrize("command", ["info", "sim", "linearize"])
def test_errors_of_a_scene_have_file_line_and_column(deft, pushed_ball, command):
    text = pushed_ball.read_text().replace("gravity", "grvity") + "grvity: [0, 0, -9.81]\n"
    pushed_ball.write_text(text)
    line = len(text.splitlines())
    done = deft.run(command, pushed_ball, code=2)
    assert f"{pushed_ball}:{line}:1: error: " in done.stderr and "did you mean 'gravity'?" in done.stderr


def test_nothing_but_results_on_standard_output(deft, pushed_ball):
    """Not a terminal: no colour, no progress, nothing on standard error when all is well."""
    done = deft.run("sim", pushed_ball, "--out", "run", "--steps", 2)
    assert done.stderr == ""
    assert "\033" not in done.stdout and "\r" not in done.stdout


def test_verbosity_adds_lines_and_no_results(deft, pushed_ball):
    once, more = (deft.run("sim", pushed_ball, "--out", "run", "--force", "--steps", 2, *words) for words in ([], ["--verbose"]))
    assert "info:" not in more.stdout and len(more.stdout.splitlines()) == len(once.stdout.splitlines())
    assert "info: Completed after 2 steps" in more.stderr and "Completed" not in once.stderr
    assert deft.run("sim", pushed_ball, "--out", "run", "--force", "--steps", 2, "-v").stderr == more.stderr


def test_an_error_stands_last_and_warnings_of_a_kind_are_one_line_before_it(deft, tmp_path):
    (tmp_path / "hand.xml").write_text(
        '<mujoco model="hand"><worldbody><body name="a"><joint name="j" frictionloss="1"/><geom size="0.1"/>'
        '<body name="b" pos="1 0 0"><joint name="k" frictionloss="1"/><geom size="0.1"/></body></body></worldbody></mujoco>'
    )
    wrong = ("sim", "hand.xml", "--set", "plan.nodez=1")
    lines = deft.run(*wrong, code=2).stderr.splitlines()
    assert "error:" in lines[-1] and "nodez" in lines[-1]
    (first,) = [line for line in lines if "frictionloss" in line]
    assert "2 " in first and "-v lists them" in first
    listed = deft.run(*wrong, "-v", code=2).stderr.splitlines()
    assert len([line for line in listed if "frictionloss" in line]) == 2 and "nodez" in listed[-1]
    (alone,) = deft.run(*wrong, "--quiet", code=2).stderr.splitlines()
    assert "nodez" in alone
