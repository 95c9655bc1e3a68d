"""Problem files of kind `ecp`: one step with line and surface contact. Answers are held against closed forms and against the laws, written down here once more."""

import gzip
import itertools
import json

import h5py
import numpy as np
import pytest

G = 9.8


def rotation(q):
    w, x, y, z = np.array(q) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_product(a, b):
    return np.concatenate([[a[0] * b[0] - np.dot(a[1:], b[1:])], a[0] * np.array(b[1:]) + b[0] * np.array(a[1:]) + np.cross(a[1:], b[1:])])


def inertia(body):
    """Of boxes, or as given in three or six numbers."""
    if "inertia" not in body:
        x, y, z = np.square(body["shape"]["box"]["size"])
        return body["mass"] / 12 * np.diag([y + z, x + z, x + y])
    I = body["inertia"]
    xy, xz, yz = I[3:] if len(I) == 6 else (0, 0, 0)
    return np.array([[I[0], xy, xz], [xy, I[1], yz], [xz, yz, I[2]]])


def check(problem, result, tolerance=1e-9):
    """Balances of impulse with gravity, gyroscopic term and p_app, the motion itself, points on boxes and planes, no penetration of planes by corners, friction."""
    assert result["status"] == "Solved"
    solution, h = result["solution"], problem["h"]
    g = np.array(problem["gravity"])
    pushes = [np.zeros(6) for _ in problem["bodies"]]
    for pair, contact in zip(problem["pairs"], solution["pairs"]):
        point, n = np.array(contact["point"]), np.array(contact["normal"])
        t, o = np.array(contact["tangents"])
        assert np.allclose(np.cross(n, t), o, atol=1e-12) and np.isclose(n @ n, 1) and abs(n @ t) < 1e-12
        p_n, p_t, p_o, p_r = contact["wrench"]
        force = p_n * n + p_t * t + p_o * o
        assert np.allclose(contact["impulse_W"], force, atol=1e-15) and np.allclose(contact["angular_impulse_W"], p_r * n, atol=1e-15)
        V, spin = np.zeros(3), 0
        for body, side in ((pair["a"], 1), (pair["b"], -1)):
            nu, centre = np.array(solution["nu"][body]), np.array(solution["q"][body][4:])
            pushes[body] += side * np.concatenate([np.cross(point - centre, force) + p_r * n, force])
            V += side * (nu[3:] + np.cross(nu[:3], point - centre))
            spin += side * nu[:3] @ n
            box = problem["bodies"][body]["shape"].get("box")
            if box and p_n > 0:
                inside = rotation(solution["q"][body][:4]).T @ (point - centre)
                assert np.all(np.abs(inside) <= np.array(box["size"]) / 2 + tolerance)
        slip = np.array([t @ V, o @ V, spin])
        assert np.allclose(contact["slip"], slip, atol=tolerance)
        assert p_n >= 0 and contact["gap"] >= -tolerance and p_n * contact["gap"] <= tolerance
        e = np.array(pair.get("ellipsoid", [1, 1, 1]))
        used, sliding = np.array([p_t, p_o, p_r]) / e, e * slip
        assert np.linalg.norm(used) <= pair["mu"] * p_n + tolerance
        if np.linalg.norm(sliding) > 1e-6 and p_n > 1e-6:
            assert np.allclose(used, -pair["mu"] * p_n * sliding / np.linalg.norm(sliding), atol=1e-7)
            assert contact["state"] == "slip"
        assert (contact["kind"] == "none") == (p_n == 0) and (contact["state"] == "open") == (p_n == 0)
    planes = [
        (np.array(b["shape"]["half_space"]["normal"]), b["shape"]["half_space"].get("offset", 0))
        for b in problem["bodies"]
        if "half_space" in b["shape"] and "q" not in b
    ]
    for body, push, nu, q in zip(problem["bodies"], pushes, solution["nu"], solution["q"]):
        if body.get("mass") is None:
            continue
        nu0, q0, nu, m = np.array(body["nu"]), np.array(body["q"]), np.array(nu), body["mass"]
        R = rotation(q0[:4])
        I, w = R @ inertia(body) @ R.T, nu0[:3]
        applied = np.array(body.get("p_app", np.zeros(6)))
        assert np.allclose(I @ (nu[:3] - w) + h * np.cross(w, I @ w), applied[:3] + push[:3], atol=tolerance)
        assert np.allclose(m * (nu[3:] - nu0[3:]), applied[3:] + m * g * h + push[3:], atol=tolerance)
        turned = quaternion_product(np.concatenate([[1], h / 2 * nu[:3]]), q0[:4])
        assert np.allclose(q[:4], turned / np.linalg.norm(turned), atol=tolerance) and np.allclose(
            q[4:], q0[4:] + h * nu[3:], atol=tolerance
        )
        if "box" in body["shape"]:
            corners = [
                np.array(q[4:]) + rotation(q[:4]) @ (np.array(s) * body["shape"]["box"]["size"]) / 2
                for s in itertools.product((-1, 1), repeat=3)
            ]
            assert all(n @ c - offset >= -1e-8 for c in corners for n, offset in planes)


def plane():
    return {"shape": {"half_space": {"normal": [0, 0, 1], "offset": 0}}}


def box(size, mass, q, nu=(0, 0, 0, 0, 0, 0), **more):
    return {"shape": {"box": {"size": list(size)}}, "mass": mass, "q": list(q), "nu": list(nu)} | more


def step(bodies, pairs, h=0.01, **more):
    return {"format": "deft-problem", "version": 1, "kind": "ecp", "bodies": bodies, "pairs": pairs, "h": h, "gravity": [0, 0, -G]} | more


def cube_slides():
    return step([plane(), box([1, 1, 1], 2, [1, 0, 0, 0, 0, 0, 0.5], [0, 0, 0, 0.8, 0.6, 0])], [{"a": 1, "b": 0, "mu": 0.12}])


@pytest.fixture
def solve(deft, tmp_path):
    def run(problem, *arguments, code=0):
        (tmp_path / "p.json").write_text(json.dumps(problem))
        return deft.json("solve", "p.json", *arguments, code=code)

    return run


def test_a_cube_slides_on_a_plane(solve):
    problem = cube_slides()
    result = solve(problem)
    check(problem, result)
    assert (
        list(result)[:6] == ["name", "kind", "status", "message", "time_s", "iterations"]
        and result["kind"] == "ecp"
        and result["solver"] == "newton"
    )
    assert max(result["residuals"]["scaled"].values()) <= 1e-9 and max(result["residuals"]["absolute"].values()) <= 1e-9
    (contact,) = result["solution"]["pairs"]
    v = np.array([0.8, 0.6]) * (1 - 0.12 * G * 0.01)
    assert np.allclose(result["solution"]["nu"][1], [0, 0, 0, *v, 0], atol=1e-12) and result["solution"]["nu"][0] == [0] * 6
    assert (contact["kind"], contact["state"]) == ("surface", "slip")
    # Friction at half a metre below the centre is balanced by the point's offset: μ/2 ahead of it.
    assert np.allclose(contact["point"], [*(0.01 * v + 0.06 * np.array([0.8, 0.6])), 0], atol=1e-12)
    assert np.allclose(contact["wrench"], [2 * G * 0.01, -0.12 * 0.8 * 2 * G * 0.01, -0.12 * 0.6 * 2 * G * 0.01, 0], atol=1e-12)


def test_exchanged_bodies_exchange_the_wrench(solve):
    problem = cube_slides()
    problem["pairs"][0] |= {"ellipsoid": [1, 0.5, 0.1]}
    problem["bodies"][1]["nu"][2] = 0.7
    one = solve(problem)
    check(problem, one)
    problem["pairs"][0] |= {"a": 0, "b": 1}
    other = solve(problem)
    check(problem, other)
    assert np.allclose(one["solution"]["nu"], other["solution"]["nu"], atol=1e-12)
    x, y = one["solution"]["pairs"][0], other["solution"]["pairs"][0]
    assert np.allclose(x["impulse_W"], -np.array(y["impulse_W"]), atol=1e-13) and np.allclose(x["normal"], -np.array(y["normal"]))
    assert abs(x["wrench"][3]) > 1e-4 and x["kind"] == y["kind"] == "surface"


def test_a_box_slides_on_a_box(solve):
    """The lower one is held by the ground: 0.5 · 3 m g is more than 0.2 m g."""
    problem = step(
        [box([1, 1, 0.5], 1, [1, 0, 0, 0, 0.1, 0, 0.75], [0, 0, 0, 1, 0, 0]), box([2, 2, 0.5], 2, [1, 0, 0, 0, 0, 0, 0.25]), plane()],
        [{"a": 0, "b": 1, "mu": 0.2}, {"a": 1, "b": 2, "mu": 0.5}, {"a": 0, "b": 2, "mu": 0.3}],
        h=0.005,
    )
    result = solve(problem)
    check(problem, result)
    top, ground, none = result["solution"]["pairs"]
    assert np.allclose(result["solution"]["nu"][:2], [[0, 0, 0, 1 - 0.2 * G * 0.005, 0, 0], [0.0] * 6], atol=1e-10)
    assert np.isclose(top["wrench"][0], G * 0.005) and np.isclose(ground["wrench"][0], 3 * G * 0.005)
    assert (top["kind"], top["state"], ground["kind"], ground["state"]) == ("surface", "slip", "surface", "stick")
    assert (
        (none["kind"], none["state"], none["wrench"]) == ("none", "open", [0] * 4)
        and np.isclose(none["gap"], 0.5)
        and np.isclose(none["point"][2], 0.25)
    )


def corner_cube():
    """A cube stands on a corner and tips over it, which does not move at the start."""
    angle = np.arctan(np.sqrt(2))
    s = np.sin(angle / 2) / np.sqrt(2)
    return step(
        [
            plane(),
            box(
                [1, 1, 1],
                1,
                [np.cos(angle / 2), s, -s, 0, 0, 0, np.sqrt(3) / 2],
                [np.sqrt(0.5), -np.sqrt(0.5), 0, -np.sqrt(6) / 4, -np.sqrt(6) / 4, 0],
            ),
        ],
        [{"a": 1, "b": 0, "mu": 0.2}],
    )


def test_a_cube_tips_over_its_corner(solve):
    problem = corner_cube()
    result = solve(problem)
    check(problem, result)
    (contact,) = result["solution"]["pairs"]
    assert contact["kind"] == "point" and np.abs(contact["point"]).max() < 1e-2 and 0.5 < contact["wrench"][0] / (G * 0.01) <= 1


@pytest.mark.parametrize("mu", [0, 0.05, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_thrown_boxes_obey_the_laws(solve, mu, seed):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4)
    q /= np.linalg.norm(q)
    size = rng.uniform(0.3, 1, 3)
    height = 0.5 * np.abs(rotation(q)[2]) @ size
    problem = step(
        [
            plane(),
            box(
                size,
                3,
                [*q, 0, 0, height + 1e-3],
                [*rng.normal(size=3), *rng.normal(size=2), -2],
                p_app=list(0.05 * rng.normal(size=6)),
                inertia=[0.3, 0.35, 0.4, 0.01, -0.02, 0.03],
            ),
        ],
        [{"a": 1, "b": 0, "mu": mu, "ellipsoid": [1, 0.6, 0.2]}],
        h=0.004,
    )
    result = solve(problem)
    check(problem, result)
    assert result["solution"]["pairs"][0]["wrench"][0] > 0


def test_the_same_body_in_other_words(solve):
    """A box as a polytope, a prism and a list of shapes, the inertia as six numbers, rows and a matrix, on a plane whose place is its pose."""
    problem = cube_slides()
    reference = solve(problem)["solution"]
    corners = [list(np.array(s) / 2.0) for s in itertools.product((-1, 1), repeat=3)]
    I = 2 / 6
    for change in (
        {"shape": {"polytope": {"vertices": corners + [[0, 0, 0.2]]}}, "inertia": [I, I, I]},
        {"shape": {"prism": {"vertices": [[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [0.5, -0.5]], "height": 1}}},
        {"shape": [{"box": {"size": [1, 1, 1]}, "pose": [1, 0, 0, 0, 0, 0, 0]}], "inertia": [I, I, I, 0, 0, 0]},
        {
            "shape": {"box": {"size": [1, 1, 1]}, "box_colour": 1},
            "inertia": {"rows": 3, "cols": 3, "triplets": [[0, 0, I], [1, 1, I], [2, 2, I]]},
        },
        {"inertia": [[I, 0, 0], [0, I, 0], [0, 0, I]], "q": [1 + 5e-7, 0, 0, 0, 0, 0, 0.5]},
    ):
        other = problem | {
            "bodies": [
                {
                    "shape": {"half_space": {"normal": [2, 0, 0], "offset": 6}},
                    "mass": None,
                    "q": [np.sqrt(0.5), 0, -np.sqrt(0.5), 0, 0, 0, -3],
                },
                problem["bodies"][1] | change,
            ],
            "warm": {"z": [1]},
        }
        solution = solve(other)["solution"]
        assert np.allclose(solution["nu"][1], reference["nu"][1], atol=1e-10), change
        assert np.allclose(solution["pairs"][0]["point"], reference["pairs"][0]["point"], atol=1e-9)


def test_two_shapes_of_one_body(solve):
    """A dumbbell: two balls on one body, each with a contact of its own."""
    balls = [{"sphere": {"radius": 0.1}, "pose": [1, 0, 0, 0, x, 0, 0]} for x in (-0.3, 0.3)]
    body = {"shape": balls, "mass": 1, "q": [1, 0, 0, 0, 0, 0, 0.1], "nu": [0] * 6, "p_app": [0, 0, 0, 0, 0, -0.1]}
    problem = step([plane(), body], [{"a": 1, "shape_a": k, "b": 0, "mu": 0.5} for k in (0, 1)])
    solution = solve(problem)["solution"]
    assert np.allclose(solution["nu"], 0, atol=1e-10)
    for x, contact in zip((-0.3, 0.3), solution["pairs"]):
        assert (
            np.allclose(contact["point"], [x, 0, 0], atol=1e-9)
            and np.isclose(contact["wrench"][0], 0.5 * (G * 0.01 + 0.1))
            and contact["kind"] == "point"
        )


def test_free_flight_and_nothing(solve):
    problem = step([box([1, 2, 3], 2, [1, 0, 0, 0, 0, 0, 9], [1, 2, 3, 4, 5, 6], p_app=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])], [])
    check(problem, solve(problem))
    assert solve(step([], []))["solution"] == {"nu": [], "q": [], "pairs": []}


def at(*path):
    def change(problem, value):
        for key in path[:-1]:
            problem = problem[key]
        if value is KeyError:
            del problem[path[-1]]
        else:
            problem[path[-1]] = value

    return change


BODY = ("bodies", 1)
FLAT = {"polytope": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 2, 0]]}}
NOT_CONVEX = {"prism": {"vertices": [[0, 0], [2, 0], [2, 2], [1, 0.5]], "height": 1}}


@pytest.mark.parametrize(
    "field, change, value",
    [
        ("h", at("h"), 0),
        ("h", at("h"), KeyError),
        ("h", at("h"), "inf"),
        ("gravity", at("gravity"), 9.8),
        ("gravity", at("gravity"), [0, -9.8]),
        ("gravity[2]", at("gravity"), [0, 0, "x"]),
        ("bodies", at("bodies"), KeyError),
        ("bodies", at("bodies"), {}),
        ("bodies[1]", at("bodies", 1), 3),
        ("pairs", at("pairs"), KeyError),
        ("ellipsoid_axis", at("ellipsoid_axis"), [0, 0, 0]),
        ("bodies[1].mass", at(*BODY, "mass"), -1),
        ("bodies[1].mass", at(*BODY, "mass"), 0),
        ("bodies[1].mass", at(*BODY, "mass"), "inf"),
        ("bodies[1].inertia", at(*BODY, "inertia"), [1, 1]),
        ("bodies[1].inertia", at(*BODY, "inertia"), [1, 1, -1]),
        ("bodies[1].inertia", at(*BODY, "inertia"), [1, 1, 3]),
        ("bodies[1].inertia", at(*BODY, "inertia"), [1, 1, 1, 2, 0, 0]),
        ("bodies[1].inertia", at(*BODY, "inertia"), [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]),
        ("bodies[1].inertia.cols", at(*BODY, "inertia"), {"rows": 3, "cols": 2, "data": [1] * 6}),
        ("bodies[1].inertia.rows", at(*BODY, "inertia"), {"rows": 2, "cols": 3, "data": [1] * 6}),
        ("bodies[1].inertia", at(*BODY, "shape"), {"polytope": {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}),
        ("bodies[1].q", at(*BODY, "q"), [1, 0, 0, 0]),
        ("bodies[1].q", at(*BODY, "q"), [1, 1e-2, 0, 0, 0, 0, 1]),
        ("bodies[1].q", at(*BODY, "q"), KeyError),
        ("bodies[1].q", at(*BODY, "q"), [0] * 7),
        ("bodies[1].nu", at(*BODY, "nu"), [1, 2, 3]),
        ("bodies[1].nu", at(*BODY, "nu"), KeyError),
        ("bodies[1].p_app", at(*BODY, "p_app"), [0] * 5),
        ("bodies[1].shape", at(*BODY, "shape"), KeyError),
        ("bodies[1].shape", at(*BODY, "shape"), {}),
        ("bodies[1].shape", at(*BODY, "shape"), "box"),
        ("bodies[1].shape", at(*BODY, "shape"), {"capsule": {"radius": 1, "length": 1}}),
        ("bodies[1].shape", at(*BODY, "shape"), {"mesh": {"file": "a.obj"}}),
        ("bodies[1].shape", at(*BODY, "shape"), {"half_space": {"normal": [0, 0, 1], "offset": 0}}),
        ("bodies[1].shape", at(*BODY, "shape"), {"box": {"size": [1, 1, 1]}, "sphere": {"radius": 1}}),
        ("bodies[1].shape.box.size", at(*BODY, "shape"), {"box": {}}),
        ("bodies[1].shape.box.size[1]", at(*BODY, "shape"), {"box": {"size": [1, 0, 1]}}),
        ("bodies[1].shape.sphere.radius", at(*BODY, "shape"), {"sphere": {"radius": -1}}),
        ("bodies[1].shape.prism.vertices", at(*BODY, "shape"), {"prism": {"vertices": [[0, 0], [1, 0]], "height": 1}}),
        ("bodies[1].shape[1]", at(*BODY, "shape"), [{"sphere": {"radius": 1}}, {"ball": {"radius": 1}}]),
        ("bodies[1].shape", at(*BODY, "shape"), {"sphere": {"radius": 1}, "pose": [1, 0, 0, 0, 1, 0, 0]}),
        ("bodies[0].shape.half_space.normal", at("bodies", 0, "shape"), {"half_space": {"normal": [0, 0, 0]}}),
        ("bodies[0].nu", at("bodies", 0, "nu"), [0, 0, 0, 1, 0, 0]),
        ("bodies[0].p_app", at("bodies", 0, "p_app"), [0, 0, 0, 1, 0, 0]),
        ("bodies[1].shape.polytope.vertices", at(*BODY, "shape"), {"polytope": {"vertices": [[0, 0, 0]]}}),
        ("pairs[0].a", at("pairs", 0, "a"), 2),
        ("pairs[0].b", at("pairs", 0, "b"), -1),
        ("pairs[0].b", at("pairs", 0, "b"), 1),
        ("pairs[0].a", at("pairs", 0, "a"), KeyError),
        ("pairs[0].mu", at("pairs", 0, "mu"), -0.1),
        ("pairs[0].mu", at("pairs", 0, "mu"), KeyError),
        ("pairs[0].ellipsoid[2]", at("pairs", 0, "ellipsoid"), [1, 1, 0]),
        ("pairs[0].ellipsoid", at("pairs", 0, "ellipsoid"), [1, 1]),
        ("pairs[0].shape_a", at("pairs", 0, "shape_a"), 1),
        ("pairs[0]", at(*BODY, "mass"), None),
        ("pairs[0].a", at(*BODY, "shape"), []),
    ],
)
def test_a_malformed_file_names_its_field(deft, tmp_path, field, change, value):
    problem = cube_slides()
    if value == [] or "pose" in str(value):
        problem["bodies"][1]["inertia"] = [1, 1, 1]
    if "pose" in str(value):
        del problem["bodies"][1]["inertia"]
    if value is None:
        problem["bodies"][1]["nu"] = [0] * 6
    change(problem, value)
    (tmp_path / "p.json").write_text(json.dumps(problem))
    done = deft.run("solve", "p.json", "--json", code=2)
    assert done.stdout == "" and f"p.json: field '{field}': error: " in done.stderr, done.stderr
    if "capsule" in str(value):
        assert "box, cylinder, sphere, ellipsoid, half_space, prism, polytope" in done.stderr


@pytest.mark.parametrize("shape", [FLAT, NOT_CONVEX])
def test_a_shape_that_cannot_be_built_is_named(deft, tmp_path, shape):
    problem = cube_slides()
    problem["bodies"][1] |= {"shape": shape, "inertia": [1, 1, 1]}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    done = deft.run("solve", "p.json", "--json", code=2)
    assert done.stdout == "" and "p.json: field 'bodies[1].shape': error: " in done.stderr


def test_a_pair_comes_once(deft, tmp_path):
    problem = cube_slides()
    problem["pairs"].append({"a": 0, "b": 1, "mu": 0.2})
    (tmp_path / "p.json").write_text(json.dumps(problem))
    assert "p.json: field 'pairs[1]': error: bodies 0 and 1 are in an earlier pair" in deft.run("solve", "p.json", code=2).stderr


def test_options(deft, tmp_path, solve):
    problem = cube_slides()
    assert solve(problem, "--solver", "newton", "--tolerance", 1e-12, "--repeat", 3)["status"] == "Solved"
    assert "--solver lemke is not for kind 'ecp'; valid: auto, newton" in deft.run("solve", "p.json", "--solver", "lemke", code=2).stderr
    text = deft.run("solve", "p.json").stdout
    assert "surface slip" in text and "stationarity" in text and "2 bodies, 1 pairs" in text


SCENES = ["cube_slides", "cube_tumbles", "cylinder_manipulation", "cylinder_rolls", "eulers_disk", "stack_tips"]


@pytest.mark.parametrize("name", SCENES)
def test_dumped_steps_are_solved_again(deft, scenes, tmp_path, name):
    deft.run("sim", scenes / "patch_contact" / f"{name}.deft.yaml", "--steps", 60, "--out", "run", "--dump-problems", "dump")
    files = sorted((tmp_path / "dump").iterdir())
    results = deft.json("solve", *files)["results"]
    assert len(results) == 60
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        q, v = run["q"][:], run["v"][:]
        offset, force, point = run["contacts/offset"][:], run["contacts/force_W"][:], run["contacts/point_W"][:]
    for k, (file, result) in enumerate(zip(files, results)):
        problem = json.loads(gzip.decompress(file.read_bytes()))
        assert result["status"] == "Solved" and result["name"] == problem["name"] and problem["kind"] == "ecp"
        moving = sum(body["mass"] is not None for body in problem["bodies"])
        solution = result["solution"]
        assert np.abs(np.concatenate(solution["nu"][:moving]) - v[k + 1]).max() <= 1e-12
        assert np.abs(np.concatenate(solution["q"][:moving]) - q[k + 1]).max() <= 1e-12
        if moving == 1 and len(solution["pairs"]) == 1 and solution["pairs"][0]["kind"] != "none":
            (row,) = range(offset[k + 1], offset[k + 2]) if len(offset) > len(results) + 1 else range(offset[k], offset[k + 1])
            assert np.allclose(solution["pairs"][0]["impulse_W"], problem["h"] * force[row], atol=1e-10)
            assert np.allclose(solution["pairs"][0]["point"], point[row], atol=1e-9)


def test_dumps_of_bodies_beside_their_centre(deft, tmp_path):
    """Origins beside the centre of mass, a prism, and a fixed box that it lands on."""
    (tmp_path / "scene.deft.yaml").write_text("""
deft: 1
name: beside
bodies:
  block: {shape: {box: {size: [0.4, 0.2, 0.2]}}, mass: 2, com: [0.05, 0.02, -0.01], inertia: [0.05, 0.06, 0.07], joint: free, mu: 0.4}
  wedge: {shape: {prism: {vertices: [[0, 0], [0.3, 0], [0, 0.2]], height: 0.2}}, mass: 1, joint: free, mu: 0.3}
  step: {shape: {box: {size: [2, 1, 0.1]}}, joint: fixed, pose: {translation: [2, 0, 0.05]}, mu: 0.3}
  ground: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.3}
gravity: [0, 0, -9.8]
friction: {ellipsoid: [1, 0.8, 0.05], ellipsoid_axis: [1, 1, 0]}
step: {model: equivalent-contact-point, h: 0.01}
configurations:
  start:
    block: {position: [0, 0, 0.1], velocity: [0, 0, 1, 1, 0.2, 0]}
    wedge: {position: [2, 0, 0.2005], velocity: [0, 0, 0.6, 0.5, 0.2, 0]}
initial: start
""")
    deft.run("sim", "scene.deft.yaml", "--steps", 40, "--out", "run", "--dump-problems", "dump")
    results = deft.json("solve", *sorted((tmp_path / "dump").iterdir()))["results"]
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        q, v = run["q"][:], run["v"][:]
    assert sum(pair["kind"] == "surface" for pair in results[20]["solution"]["pairs"]) == 2
    for k, result in enumerate(results):
        assert np.abs(np.array(result["solution"]["nu"])[:2, :3].ravel() - np.concatenate([v[k + 1][:3], v[k + 1][6:9]])).max() <= 1e-10
        assert np.abs(np.array(result["solution"]["q"])[:2, :4].ravel() - np.concatenate([q[k + 1][:4], q[k + 1][7:11]])).max() <= 1e-10
