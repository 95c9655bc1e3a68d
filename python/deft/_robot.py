"""A real robot as a plant: the wall clock, a driver, limits, a watchdog, a log."""

from __future__ import annotations

import os
import time
from typing import Any, Protocol

import numpy as np

from . import _core
from ._scene import Scene
from ._track import Plant


class Driver(Protocol):
    """What speaks to the robot. Neither method waits."""

    def read(self) -> tuple[float, Any, Any] | None:
        """The newest measurement: its time on `time.monotonic()` of this machine [s], q (n_q,) and v (n_v,) of the scene's order;
        the last one again, or None, if nothing new has come. An exception ends the run."""

    def write(self, u: np.ndarray) -> None:
        """Joint targets (n_u,), which the robot holds until the next ones."""


class Clock:
    """The wall clock."""

    def now(self) -> float:
        """[s], as time.monotonic()."""
        return time.monotonic()

    def sleep_until(self, t: float) -> None:
        """Returns at once where t has passed."""
        if (left := t - time.monotonic()) > 0:
            time.sleep(left)


# What a period of the log says of itself.
SENT, LIMITED, LATE, HELD = 1, 2, 4, 8
_COLUMNS = ("t", "t_measured", "what", "q", "v", "q_now", "v_now", "u", "written")


class RobotPlant(Plant):
    """A robot behind a driver, driven in real time: deft.track(plan, plant=deft.RobotPlant(scene, driver)).

    Every `period` [s] the targets go to the driver, not further from the last ones than `max_step` and, for the time
    since then, `max_speed` allow [rad or m, per second; numbers or (n_u,)], and within the joints' limits, and the newest measurement is taken, moved on by its
    age along v (`predict`). Where no measurement younger than `timeout` [s] is there the robot is held: the last targets stay, the
    run's clock stands, until measurements come again (the same where the controller was late by more than `timeout`); after
    `give_up` [s] of that RuntimeError ends the run. What happens is in `counts` and, period by period, in the log.
    """

    def __init__(
        self,
        scene: Scene,
        driver: Driver,
        period: float = 0.005,
        max_step: Any = np.inf,
        max_speed: Any = np.inf,
        timeout: float = 0.1,
        give_up: float = 2.0,
        predict: bool = True,
        clock: Clock | None = None,
    ):
        for name, value in (("period", period), ("timeout", timeout), ("give_up", give_up)):
            if not value > 0:
                raise ValueError(f"{name}: {value}; valid: above 0")
        self.scene, self.driver, self.clock = scene, driver, clock or Clock()
        self.period, self.timeout, self.give_up, self.predict = period, timeout, give_up, predict
        self._step, self._speed = (_bounds(name, value, scene.n_u) for name, value in (("max_step", max_step), ("max_speed", max_speed)))
        coordinates = [scene.coordinates[i] for i in scene._core.command_coordinates]
        self._lower, self._upper = np.array([c.lower for c in coordinates]), np.array([c.upper for c in coordinates])
        self.counts = {"periods": 0, "limited": 0, "late": 0, "holds": 0, "held_s": 0.0}
        self._rows: list[tuple[Any, ...]] = []  # of _COLUMNS

    def reset(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, seed: int) -> None:
        """Waits for a measurement, and begins where the robot is; it has to be near the start of the plan, which is not this plant's to judge."""
        self.time, self._due = 0.0, self.clock.now()
        self._message: tuple[float, np.ndarray, np.ndarray] | None = None
        self._written = np.array(u, dtype=float)
        self._left = 0.0
        self._rows = []
        self._wait_for_message()
        self._estimate()
        self._begin = (self.q, self.v)
        self._due = self._sent = self.clock.now()

    def step(self, u: np.ndarray, dt: float) -> None:
        """Advances the run's clock by dt; targets go out whenever a period is full."""
        self.time += dt
        self._left += dt
        while self._left >= self.period * (1 - 1e-9):
            self._left -= self.period
            self._period(np.asarray(u, dtype=float))

    def _period(self, u: np.ndarray) -> None:
        self._due += self.period
        now, what = self.clock.now(), SENT
        if now - self._due > self.timeout:  # the robot has held the last targets since
            what |= LATE
            self.counts["late"] += 1
            self._due = now + self.period
        passed = max(min(now - self._sent, self.period), 1e-12)  # infinite speeds stay so
        most = np.minimum(self._step, self._speed * passed)
        near = np.clip(u, self._lower, self._upper)
        allowed = np.clip(near, self._written - most, self._written + most)
        if np.any(allowed != u):
            what |= LIMITED
            self.counts["limited"] += 1
        self.driver.write(allowed.copy())
        self._written, self._sent = allowed, now
        self.clock.sleep_until(self._due)
        self._read()
        if self._age() > self.timeout:
            what |= HELD
            self._hold()
        self._estimate()
        self.counts["periods"] += 1
        assert self._message is not None
        t, q, v = self._message
        self._rows.append((self.clock.now(), t, what, q, v, self.q, self.v, u.copy(), allowed))

    def _read(self) -> None:
        message = self.driver.read()
        if message is None:
            return
        t, q, v = message
        if self._message is None or t > self._message[0]:
            self._message = (float(t), _core.vector(q, "q", self.scene.n_q), _core.vector(v, "v", self.scene.n_v))

    def _age(self) -> float:
        return np.inf if self._message is None else self.clock.now() - self._message[0]

    def _hold(self) -> None:
        start = self.clock.now()
        self.counts["holds"] += 1
        self._wait_for_message()
        held = self.clock.now() - start
        self.counts["held_s"] += held
        self._due += held

    def _wait_for_message(self) -> None:
        """The last targets are sent again meanwhile, since they may have been lost, too."""
        start = self.clock.now()
        while True:
            self._read()
            if self._age() <= self.timeout:
                return
            if self.clock.now() - start > self.give_up:
                raise RuntimeError(f"robot: no measurement for {self.give_up:g} s; it holds the last targets")
            self.driver.write(self._written.copy())
            self.clock.sleep_until(self.clock.now() + self.period)

    def _estimate(self) -> None:
        """q and v now, of the newest measurement."""
        assert self._message is not None
        _, q, v = self._message
        self.v = v
        self.q = np.array(self.scene.integrate(q, v * max(self._age(), 0.0))) if self.predict else q

    def save_log(self, path: str | os.PathLike[str]) -> None:
        """Writes an .npz file with a row per period: t, t_measured, what (bits SENT, LIMITED, LATE, HELD), q and v as measured, q_now
        and v_now as told to the controller, u, written; and period, q_begin, v_begin."""
        columns = [np.array(column) for column in zip(*self._rows, strict=True)] or [np.zeros(0)] * len(_COLUMNS)
        begin = dict(zip(("q_begin", "v_begin"), self._begin, strict=True))
        arrays: dict[str, Any] = {**begin, **dict(zip(_COLUMNS, columns, strict=True))}
        np.savez_compressed(path, period=self.period, **arrays)


def _bounds(name: str, value: Any, size: int) -> np.ndarray:
    given = np.asarray(value, dtype=float)
    if given.shape not in ((), (size,)) or not np.all(given > 0):
        raise ValueError(f"{name}: expected a number above 0, or {size} of them")
    return np.broadcast_to(given, (size,)).copy()


class LogPlant(Plant):
    """A log as a plant: whatever it is told, it is where the robot was. The same controller therefore says the same again.

    plant = deft.LogPlant(scene, "log.npz"); deft.track(plan, plant=plant); plant.commands, plant.log["u"]
    """

    def __init__(self, scene: Scene, path: str | os.PathLike[str]):
        with np.load(path) as file:
            self.log = {name: file[name] for name in file.files}
        missing = [name for name in _COLUMNS if name not in self.log]
        if missing or not len(self.log["t"]) or self.log["q_now"].shape[1:] != (scene.n_q,):
            raise ValueError(f"{os.fspath(path)}: is no log of a robot of this scene with periods in it")
        self.commands: list[np.ndarray] = []  # u of each period, this time

    def reset(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, seed: int) -> None:
        """To the beginning of the log."""
        self.time, self._left, self.commands = 0.0, 0.0, []
        self.q, self.v = self.log["q_begin"], self.log["v_begin"]

    def step(self, u: np.ndarray, dt: float) -> None:
        """On in the log; after its end IndexError."""
        self.time += dt
        self._left += dt
        period = float(self.log["period"])
        while self._left >= period * (1 - 1e-9):
            self._left -= period
            k = len(self.commands)
            if k == len(self.log["t"]):
                raise IndexError(f"the log ends after {k} periods")
            self.commands.append(np.array(u, dtype=float))
            self.q, self.v = self.log["q_now"][k], self.log["v_now"][k]
