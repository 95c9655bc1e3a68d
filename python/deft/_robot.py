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
_BEGIN = ("q_begin", "v_begin")


class RobotPlant(Plant):
    """A robot behind a driver, driven in real time: deft.track(plan, plant=deft.RobotPlant(scene, driver)).

    Every `period` [s] targets go to the driver, within the joints' limits, and from the last ones (at first: from where the joints
    are) not further than `max_step` a period and `max_speed` allow [rad or m, and per second; numbers or (n_u,)], in proportion
    where periods are cut short. Then the newest measurement is taken, moved on by its age along v (`predict`). Where none is younger
    than `timeout` [s] the robot is held: the last targets stay and the run's clock stands until measurements come again (the same
    where the controller was late by more than `timeout`); after `give_up` [s] RuntimeError ends the run. What happens is in
    `counts` and, period by period, in the log.
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
        self._commanded = np.asarray(scene._core.command_coordinates)
        self._lower, self._upper = scene.command_limits
        self._forget()

    def _forget(self) -> None:
        self.counts = {"periods": 0, "limited": 0, "late": 0, "holds": 0, "held_s": 0.0}
        self._rows: list[tuple[Any, ...]] = []  # of _COLUMNS
        self._begin: tuple[np.ndarray, np.ndarray] | None = None
        self._message: tuple[float, np.ndarray, np.ndarray] | None = None
        self._written: np.ndarray | None = None
        self.time, self._left = 0.0, 0.0

    def reset(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, seed: int) -> None:
        """Waits for a measurement and begins where the robot is, whatever q, v and u say; nothing is sent."""
        self._forget()
        self._wait_for_message()
        self._estimate()
        assert self._message is not None
        self._written = np.clip(self._message[1][self._commanded], self._lower, self._upper)
        self._begin = (self.q, self.v)
        self._due = self._sent = self.clock.now()

    def step(self, u: np.ndarray, dt: float) -> None:
        """Advances the run's clock by dt; targets go out whenever a period is full. RuntimeError before the first reset."""
        if self._written is None:
            raise RuntimeError("reset: was not called yet")
        targets = np.array(_core.vector(u, "u", self.scene.n_u))
        self.time += dt
        self._left += dt
        while self._left >= self.period * (1 - 1e-9):
            self._left -= self.period
            self._period(targets)

    def _period(self, u: np.ndarray) -> None:
        assert self._written is not None
        self._due += self.period
        now, what = self.clock.now(), SENT
        if now - self._due > self.timeout:  # the robot has held the last targets since
            what |= LATE
            self.counts["late"] += 1
            self._due = now + self.period
        passed = max(min(now - self._sent, self.period), 1e-12)  # infinite bounds stay so
        most = np.minimum(self._step * (passed / self.period), self._speed * passed)
        allowed = np.clip(np.clip(u, self._lower, self._upper), self._written - most, self._written + most)
        if np.any(allowed != u):
            what |= LIMITED
            self.counts["limited"] += 1
        self.driver.write(allowed.copy())
        self._written, self._sent = allowed, now
        self.clock.sleep_until(self._due)
        self._read()
        try:
            if self._age() > self.timeout:
                what |= HELD
                self._hold()
        finally:  # a period in which the robot was given up is in the log, too
            self._estimate()
            self.counts["periods"] += 1
            assert self._message is not None
            t, q, v = self._message
            self._rows.append((self.clock.now(), t, what, q, v, self.q, self.v, u, allowed))

    def _read(self) -> None:
        message = self.driver.read()
        if message is None:
            return
        t, q, v = message
        if t > self.clock.now() + self.timeout:
            raise ValueError(
                f"t: a measurement of {t:.3f} s at {self.clock.now():.3f} s; expected times of time.monotonic() of this machine"
            )
        if self._message is None or t > self._message[0]:
            self._message = (float(t), np.array(_core.vector(q, "q", self.scene.n_q)), np.array(_core.vector(v, "v", self.scene.n_v)))

    def _age(self) -> float:
        return np.inf if self._message is None else self.clock.now() - self._message[0]

    def _hold(self) -> None:
        start = self.clock.now()
        self.counts["holds"] += 1
        try:
            self._wait_for_message()
        finally:
            held = self.clock.now() - start
            self.counts["held_s"] += held
            self._due += held

    def _wait_for_message(self) -> None:
        """The last targets are sent again meanwhile, since they may have been lost, too; none before there are any."""
        start = self.clock.now()
        while True:
            self._read()
            if self._age() <= self.timeout:
                return
            if self.clock.now() - start > self.give_up:
                raise RuntimeError(f"robot: no measurement for {self.give_up:g} s" + ("; it holds the last targets" if self._rows else ""))
            if self._written is not None:
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
        and v_now as told to the controller, u, written; and period, q_begin, v_begin. RuntimeError before the first reset."""
        if self._begin is None:
            raise RuntimeError("reset: was not called yet")
        columns = [np.array(column) for column in zip(*self._rows, strict=True)] or [np.zeros(0)] * len(_COLUMNS)
        arrays: dict[str, Any] = {**dict(zip(_BEGIN, self._begin, strict=True)), **dict(zip(_COLUMNS, columns, strict=True))}
        with open(path, "wb") as file:
            np.savez_compressed(file, period=self.period, **arrays)


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
        widths = {"q_now": scene.n_q, "v_now": scene.n_v, "u": scene.n_u}
        complete = all(name in self.log for name in ("period", *_BEGIN, *_COLUMNS)) and len(self.log["t"]) > 0
        if not complete or any(self.log[name].shape != (len(self.log["t"]), width) for name, width in widths.items()):
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
