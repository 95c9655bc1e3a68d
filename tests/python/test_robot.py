"""RobotPlant against a robot that is simulated with its delays on a clock of its own: nothing here depends on real time."""

import numpy as np
import pytest

import deft


class World:
    """Clock and driver of a robot in MuJoCo whose messages come late, get lost, or stop for a while."""

    def __init__(self, scene, delay=0.0, lost=0.0, silent=(np.inf, np.inf), seed=0):
        self.plant, self.delay, self.lost, self.silent = deft.MujocoPlant(scene), delay, lost, silent
        self.plant.reset(scene.q(), scene.v(), scene.u(), seed)
        self.random = np.random.default_rng(seed)
        self.begin = self.t = 100.0
        self.targets, self.coming, self.measured, self.heard = scene.u(), [], [], None
        self.moved = []  # robot's targets, period by period
        self.spent = 0.0  # by whoever commands, at the next write [s]
        self.dead = False

    def now(self):
        return self.t

    def sleep_until(self, t):
        while self.t < t - 1e-9:
            self.t += 0.001
            self.coming, due = [m for m in self.coming if m[0] > self.t], [m for m in self.coming if m[0] <= self.t]
            for _, u in due:
                self.targets = u
            self.plant.step(self.targets, 0.001)
            self.moved.append(self.targets.copy())
            quiet = self.silent[0] <= self.t - self.begin < self.silent[1]
            if not quiet and self.random.random() >= self.lost:
                self.measured.append((self.t + self.delay, self.t, np.array(self.plant.q), np.array(self.plant.v)))

    def read(self):
        if self.dead:
            raise ConnectionError("the line is cut")
        while self.measured and self.measured[0][0] <= self.t:
            self.heard = self.measured.pop(0)[1:]
        return self.heard

    def write(self, u):
        if self.random.random() >= self.lost:
            self.coming.append((self.t + self.delay, u))


@pytest.fixture(scope="module")
def plan():
    scene = deft.load(deft.scene_path("planning/ball_grazing"))
    found = deft.plan(scene, seed=1, time_limit=600)
    assert found.success
    return found


def make(scene, world, **settings):
    return deft.RobotPlant(scene, world, clock=world, **settings)


def test_a_plan_arrives_in_spite_of_delay_loss_and_a_stop(plan):
    world = World(plan.scene, delay=0.02, lost=0.05, silent=(1.0, 1.5), seed=3)
    plant = make(plan.scene, world, max_speed=3.0)
    run = deft.track(plan, plant=plant)
    assert run.reason == "Completed" and run.arrived
    assert plant.counts["holds"] == 1 and 0.3 < plant.counts["held_s"] < 0.6
    assert plant.counts["periods"] > 100


@pytest.mark.parametrize("bounds, most", [({"max_step": 0.004, "max_speed": 0.5}, 0.0025), ({"max_step": 0.001, "max_speed": 0.5}, 0.001)])
def test_targets_keep_to_steps_and_speeds(plan, bounds, most):
    world = World(plan.scene)
    plant = make(plan.scene, world, period=0.005, **bounds)
    plant.reset(plan.scene.q(), plan.scene.v(), plan.scene.u(), 0)
    plant.step(plan.scene.u() + 0.1, 0.5)
    sent = np.array(world.moved)
    assert 0.9 * most < np.abs(np.diff(sent, axis=0)).max() <= most + 1e-12
    assert plant.counts["limited"] >= 0.1 / most - 1
    assert sent[-1] == pytest.approx(plan.scene.u() + 0.1, abs=0.01)


def test_a_burst_after_a_late_call_keeps_to_them_too(plan):
    world = World(plan.scene)
    plant = make(plan.scene, world, max_step=0.004)
    plant.reset(plan.scene.q(), plan.scene.v(), plan.scene.u(), 0)
    plant.step(plan.scene.u(), 0.1)
    world.sleep_until(world.now() + 0.09)  # less than the timeout: periods are caught up with
    before = world.targets.copy()
    plant.step(plan.scene.u() + 0.2, 0.09)
    assert np.abs(world.coming[-1][1] - before if world.coming else world.targets - before).max() <= 0.004 * 2
    assert plant.counts["late"] == 0


def test_targets_keep_to_the_limits_of_joints():
    scene = deft.load(deft.scene_path("planning/planar_hand"))
    world = World(scene)
    plant = make(scene, world)
    plant.reset(scene.q(), scene.v(), scene.u(), 0)
    plant.step(scene.u() + 100, 0.1)
    upper = [scene.coordinates[i].upper for i in scene._core.command_coordinates]
    assert np.all(np.isfinite(upper)) and world.targets.tolist() == upper


def test_it_begins_where_the_robot_is(plan):
    world = World(plan.scene)
    plant = make(plan.scene, world, max_speed=0.1)
    plant.reset(plan.scene.q(), plan.scene.v(), plan.scene.u() + 0.5, 0)
    assert not world.coming  # nothing is sent before it is asked for
    plant.step(plan.scene.u() + 0.5, 0.05)
    assert np.abs(world.targets - plan.scene.u()).max() <= 0.1 * 0.05 + 1e-9
    with pytest.raises(RuntimeError, match="reset"):
        make(plan.scene, world).step(plan.scene.u(), 0.1)


def test_clocks_of_others_and_numbers_that_are_none_are_refused(plan):
    world = World(plan.scene)
    plant = make(plan.scene, world)
    plant.reset(plan.scene.q(), plan.scene.v(), plan.scene.u(), 0)
    with pytest.raises(ValueError, match="u: entry 0"):
        plant.step(plan.scene.u() * np.nan, 0.1)
    with pytest.raises(ValueError, match="u: expected shape"):
        plant.step(plan.scene.u()[:1], 0.1)
    assert np.all(np.isfinite(world.targets)) and not world.coming
    read = world.read
    world.read = lambda: (read()[0] + 1e9, *read()[1:])
    with pytest.raises(ValueError, match="measurement of"):
        plant.step(plan.scene.u(), 0.1)


def test_what_is_measured_late_is_moved_on():
    scene = deft.loads(
        "deft: 1\nname: slider\nbodies: {peg: {shape: {sphere: {radius: 0.05}}, mass: 1, joint: {translation: x}, mu: 0.5}}\n"
        "robots: [{name: peg, stiffness: 1000}]\ngravity: [0, 0, 0]\nstep: {h: 0.01}\n"
    )

    class Line:
        t = 5.0

        def now(self):
            return self.t

        def sleep_until(self, t):
            self.t = max(self.t, t)

        def read(self):
            return self.t - 0.03, [0.2 * (self.t - 0.03)], [0.2]

        def write(self, u):
            pass

    line = Line()
    plant = deft.RobotPlant(scene, line, clock=line)
    plant.reset(scene.q(), scene.v(), scene.u(), 0)
    plant.step(scene.u(), 0.05)
    assert plant.q[0] == pytest.approx(0.2 * line.t) and plant.time == 0.05
    plain = deft.RobotPlant(scene, line, clock=line, predict=False)
    plain.reset(scene.q(), scene.v(), scene.u(), 0)
    assert plain.q[0] == pytest.approx(0.2 * (line.t - 0.03))


def test_a_silent_robot_is_held_and_given_up(plan):
    world = World(plan.scene, silent=(0.1, np.inf))
    plant = make(plan.scene, world, give_up=0.7)
    with pytest.raises(RuntimeError, match=r"no measurement for 0\.7 s") as error:
        deft.track(plan, plant=plant)
    assert len(error.value.run.t) > 5  # what was run is kept
    assert plant.counts["holds"] == 1 and plant.counts["held_s"] == pytest.approx(0.7, abs=0.02) and plant._rows[-1][2] & 8
    held = np.array(world.moved[-600:])
    assert np.all(held == held[0])


def test_nothing_moves_after_the_driver_died(plan):
    world = World(plan.scene)
    plant = make(plan.scene, world)
    plant.reset(plan.scene.q(), plan.scene.v(), plan.scene.u(), 0)
    plant.step(plan.scene.u() + 0.05, 0.1)
    world.dead = True
    with pytest.raises(ConnectionError, match="the line is cut"):
        plant.step(plan.scene.u() + 0.5, 0.1)
    world.sleep_until(world.now() + 0.1)  # what was on its way arrives
    last = world.targets.copy()
    world.sleep_until(world.now() + 1)
    assert np.all(np.array(world.moved[-1000:]) == last)


def test_a_late_controller_costs_time_and_no_jumps(plan):
    world = World(plan.scene)
    plant = make(plan.scene, world, max_speed=1.0)
    plant.reset(plan.scene.q(), plan.scene.v(), plan.scene.u(), 0)
    plant.step(plan.scene.u(), 0.1)
    world.sleep_until(world.now() + 0.8)  # it thinks
    plant.step(plan.scene.u() + 0.2, 0.1)
    assert plant.counts["late"] == 1 and plant.time == pytest.approx(0.2)
    assert np.abs(np.diff(np.array(world.moved), axis=0)).max() <= 0.005 + 1e-12


def test_a_log_replays(plan, tmp_path):
    world = World(plan.scene, delay=0.01, lost=0.1, silent=(0.5, 0.8), seed=5)
    plant = make(plan.scene, world, max_speed=2.0)
    run = deft.track(plan, plant=plant, max_duration=2)
    plant.save_log(tmp_path / "log.npz")
    kept = deft.LogPlant(plan.scene, tmp_path / "log.npz")
    again = deft.track(plan, plant=kept, max_duration=2)
    assert plant.counts["holds"] == 1 and (kept.log["what"] & 8 > 0).sum() == 1
    assert len(kept.commands) == len(kept.log["t"]) == plant.counts["periods"]
    assert np.array_equal(np.array(kept.commands), kept.log["u"])
    assert np.array_equal(again.q, run.q)
    with pytest.raises(IndexError, match="the log ends"):
        kept.step(plan.scene.u(), 0.1)
    other = deft.load(deft.scene_path("planning/planar_hand"))
    with pytest.raises(ValueError, match="no log of a robot of this scene"):
        deft.LogPlant(other, tmp_path / "log.npz")


def test_settings_are_checked(plan):
    world = World(plan.scene)
    for name, wrong in {"period": 0, "timeout": -1, "give_up": 0, "max_speed": 0.0, "max_step": [1.0, 2.0, 3.0, 4.0]}.items():
        with pytest.raises(ValueError, match=name):
            make(plan.scene, world, **{name: wrong})
    with pytest.raises(RuntimeError, match="reset"):
        make(plan.scene, world).save_log("never.npz")
