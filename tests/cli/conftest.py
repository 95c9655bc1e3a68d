"""Runs the finished program as people do: the one in $DEFT_BUILD_DIR, else build/release."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 600  # stops what hangs; a sanitizer build may take minutes


def no_constant(word):
    raise ValueError(f"{word} in JSON")


def parse(text: str):
    """JSON without NaN and Infinity, which Python would accept."""
    return json.loads(text, parse_constant=no_constant)


def make_older(run) -> None:
    """Takes the texts of fixed length from an open run file, as in files of programs that did not write them."""
    for name in [name for name in run.attrs if name.endswith("_fixed")]:
        del run.attrs[name]


class Deft:
    """The program; `run` checks the exit code, `json` parses the one object on standard output."""

    def __init__(self, binary: Path, folder: Path):
        self.binary, self.folder = binary, folder

    def run(self, *arguments, code=0, **environment):
        done = subprocess.run(
            [self.binary, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert code is None or done.returncode == code, f"exit {done.returncode}, not {code}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done

    def json(self, *arguments, code=0, **environment):
        return parse(self.run(*arguments, "--json", code=code, **environment).stdout)

    def start(self, *arguments):
        return subprocess.Popen(
            [self.binary, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def deft(tmp_path) -> Deft:
    binary = Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build" / "release")).resolve() / "deft"
    assert binary.exists(), f"{binary} is missing; run ./run build or set DEFT_BUILD_DIR"
    return Deft(binary, tmp_path)


@pytest.fixture(scope="session")
def scenes() -> Path:
    return ROOT / "scenes"


@pytest.fixture(scope="session")
def problems() -> Path:
    return ROOT / "benchmarks" / "data" / "problems"


PUSHED_BALL = """
deft: 1
name: pushed_ball
bodies:
  table: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.5}
  hand: {shape: {sphere: {radius: 0.05}}, mass: 1, joint: {translation: xyz}, mu: 0.5}
robots: [{name: hand, stiffness: 500}]
step: {h: 0.1}
configurations:
  start: {hand: [-0.2, 0, 0.1], ball: {position: [0, 0, 0.1]}}
initial: start
commands: {knots: [{t: 0, hand: [-0.2, 0, 0.1]}, {t: 2, hand: [0.1, 0, 0.1]}]}
"""

FALLING_BALL = """
deft: 1
name: falling_ball
bodies:
  ball: {shape: {sphere: {radius: 0.1}}, mass: 2, joint: free, mu: 0.5}
step: {h: 0.1}
"""


@pytest.fixture
def pushed_ball(tmp_path) -> Path:
    """A hand that pushes a ball over a table: 20 steps."""
    path = tmp_path / "pushed_ball.deft.yaml"
    path.write_text(PUSHED_BALL)
    return path


@pytest.fixture
def falling_ball(tmp_path) -> Path:
    """A ball that nothing carries and no commands."""
    path = tmp_path / "falling_ball.deft.yaml"
    path.write_text(FALLING_BALL)
    return path
