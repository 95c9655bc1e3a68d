"""Runs of step.model: equivalent-contact-point tell what bodies share in contact; other runs have no such columns."""

import h5py
import numpy as np


def test_a_run_stores_kinds_slips_and_ellipsoids_and_so_does_its_page(deft, scenes, tmp_path):
    scene = scenes / "patch_contact" / "cube_tumbles.deft.yaml"
    deft.json("sim", scene, "--steps", 100, "--out", "run")
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        assert list(run.attrs["contact_kinds"]) == ["unknown", "point", "line", "surface"]
        contacts = {
            name: run["contacts"][name][:] for name in ("kind", "state", "normal_W", "tangent_W", "slip", "ellipsoid", "point_W", "force_W")
        }
        n = run["contacts/offset"][-1]
    assert all(len(values) == n for values in contacts.values())
    loaded = contacts["state"] > 0
    assert loaded.sum() > 50 and set(contacts["kind"][loaded]) == {1, 2}  # from its corner to an edge
    assert np.allclose(np.linalg.norm(contacts["tangent_W"], axis=1), 1) and (contacts["ellipsoid"] == 1).all()
    assert np.allclose(np.einsum("ij,ij->i", contacts["tangent_W"], contacts["normal_W"]), 0, atol=1e-12)
    # Friction opposes the slip; the ellipsoid is a ball, so that it is along it.
    slides = contacts["state"] == 2
    other = np.cross(contacts["normal_W"], contacts["tangent_W"])
    slip = contacts["slip"][:, :1] * contacts["tangent_W"] + contacts["slip"][:, 1:2] * other
    assert (np.einsum("ij,ij->i", slip, contacts["force_W"])[slides] < 0).all()

    deft.run("view", "run", "--no-open")
    assert '"contact_kind"' in (tmp_path / "run" / "run.html").read_text()


def test_runs_of_other_models_have_none(deft, pushed_ball, tmp_path):
    deft.json("sim", pushed_ball, "--out", "run")
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        assert "contact_kinds" not in run.attrs and not {"kind", "slip", "tangent_W", "ellipsoid"} & set(run["contacts"])
