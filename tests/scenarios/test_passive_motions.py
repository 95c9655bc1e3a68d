"""Scenes of scenes/plants against their closed forms, in deft's second-order models: the check that `./run bench plants` makes on other simulators too."""

import subprocess
import sys

import pytest

MODELS = ("convex-second-order", "stewart-trinkle")


@pytest.fixture(scope="module")
def plants(root):
    sys.path.insert(0, str(root / "benchmarks"))
    from suites import plants

    return plants


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["free_fall", "sliding_block", "pendulum"])
def test_motion_is_the_closed_form_to_the_order_of_the_step(name, model, plants, root, deft, tmp_path):
    errors = []
    for h in (0.002, 0.001):
        subprocess.run([deft, "sim", root / f"scenes/plants/{name}.deft.yaml", "--duration", repr(plants.DURATION_S[name]), "--model", model, "--h", repr(h),
                        "--out", tmp_path / str(h), "--quiet"], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        errors.append(plants.measure(name, tmp_path / str(h))[2])
    assert errors[1] < 0.005  # steps of first order: g h t/2 of the fall is 0.4 % of the way
    assert errors[1] == pytest.approx(errors[0] / 2, rel=0.1)
