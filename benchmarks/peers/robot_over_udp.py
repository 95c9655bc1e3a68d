"""A robot behind UDP, and what drives it: run by an interpreter that has the package (benchmarks/suites/robot_over_udp.py). JSON on the last line.

Usage: robot_over_udp.py plan SETTINGS SCENE SEED FOLDER
       robot_over_udp.py robot SETTINGS SCENE SEED SILENT_AT    MuJoCo in real time; the first line is its port
       robot_over_udp.py drive SETTINGS FOLDER SEED PORT LOG [DIES_AT]

Messages are doubles of native order: number, time of time.monotonic() [s], then q and v, or targets. The link delays both directions,
loses packets of both, and is cut in both for a while, SILENT_AT seconds after the first targets came.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from collections import deque
from typing import Any

import numpy as np

import deft

HEAD = struct.Struct("dd")
BIGGEST = 65536
MOST_STEPS = 100
UNHEARD_S = 120.0  # after which the robot gives up waiting for whoever drives it
SLACK = 1e-6  # of limits [rad]


def packet(number: int, t: float, *parts: np.ndarray) -> bytes:
    return HEAD.pack(number, t) + b"".join(np.ascontiguousarray(part, dtype=float).tobytes() for part in parts)


def unpacked(data: bytes) -> tuple[float, float, np.ndarray]:
    number, t = HEAD.unpack_from(data)
    return number, t, np.frombuffer(data, dtype=float, offset=HEAD.size)


def newest(connection: socket.socket) -> list[tuple[bytes, Any]]:
    """All packets that have come."""
    found = []
    while True:
        try:
            found.append(connection.recvfrom(BIGGEST))
        except BlockingIOError:
            return found


class Link:
    """What happens to packets on the way."""

    def __init__(self, delay_s: float, lost: float, silent_s: float, silent_at: float, seed: int):
        self.delay_s, self.lost, self.silent = delay_s, lost, (silent_at, silent_at + silent_s)
        self.random = np.random.default_rng(seed)
        self.waiting: deque[tuple[float, Any]] = deque()

    def send(self, now: float, since_start: float, what: Any) -> None:
        if self.random.random() >= self.lost and not self.silent[0] <= since_start < self.silent[1]:
            self.waiting.append((now + self.delay_s, what))

    def arrived(self, now: float) -> list[Any]:
        found = []
        while self.waiting and self.waiting[0][0] <= now:
            found.append(self.waiting.popleft()[1])
        return found


class Robot:
    """MuJoCo in real time, with targets as they come and watchful of what it is told."""

    def __init__(self, settings: dict, scene: deft.Scene, seed: int, silent_at: float):
        self.settings, self.scene = settings["robot"], scene
        self.plant = deft.MujocoPlant(scene)
        self.plant.reset(scene.q(), scene.v(), scene.u(), seed)
        # The springs rest where the joints are until somebody commands.
        self.targets, self.number, self.sent = scene.u(), -1.0, 0
        self.lower, self.upper = scene.command_limits
        self.joints = np.asarray(scene._core.command_coordinates)
        plant = settings["plant"]
        self.step_bound = min(plant["max_step"], plant["max_speed"] * plant["period"])  # from one targets to the next
        how = settings["link"] | {"silent_at": silent_at}
        self.coming, self.going = Link(**how, seed=seed), Link(**how, seed=seed + 1)
        self.connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.connection.bind(("127.0.0.1", 0))
        self.connection.setblocking(False)
        self.peer: Any = None
        self.started: float | None = None
        self.heard: float | None = None
        self.found = {"received": 0, "beyond_limits": 0, "beyond_steps": 0, "slowest_s": 0.0}

    def obey(self, number: float, targets: np.ndarray) -> None:
        if number <= self.number:
            return
        self.found["received"] += 1
        self.found["beyond_limits"] += int(np.any(targets < self.lower - SLACK) or np.any(targets > self.upper + SLACK))
        before = self.targets if self.number >= 0 else np.array(self.plant.q)[self.joints]  # the first: from where the joints are
        most = self.step_bound * (number - max(self.number, 0))
        self.found["beyond_steps"] += int(np.any(np.abs(targets - before) > most + SLACK))
        self.targets, self.number = targets, number

    def listen(self, now: float) -> None:
        for data, sender in newest(self.connection):
            if self.peer is None:
                self.begin = now  # of the messages
            self.peer = sender
            number, _, targets = unpacked(data)
            if len(targets) == 0:  # somebody asks where it is
                continue
            self.started = now if self.started is None else self.started
            self.heard = now
            self.coming.send(now, now - self.started, (number, targets.copy()))
        for number, targets in self.coming.arrived(now):
            self.obey(number, targets)

    def tell(self, now: float, t: float) -> None:
        """t: the time to which the simulation has come, which follows the clock."""
        if self.peer is not None:
            since = 0.0 if self.started is None else now - self.started
            if self.sent * self.settings["messages_every_s"] <= t - self.begin:
                self.sent += 1
                self.going.send(now, since, packet(self.sent, t, np.array(self.plant.q), np.array(self.plant.v)))
            for data in self.going.arrived(now):
                self.connection.sendto(data, self.peer)

    def run(self) -> dict:
        """Until `watched_s` have passed since anything was heard."""
        print(self.connection.getsockname()[1], flush=True)
        dt = self.settings["step_s"]
        self.begin = t = time.monotonic()
        held: tuple[np.ndarray, np.ndarray] | None = None
        while True:
            now = time.monotonic()
            self.listen(now)
            self.found["slowest_s"] = max(self.found["slowest_s"], now - t)
            for _ in range(MOST_STEPS):  # then listen again, though the simulation be behind
                if t + dt > now:
                    break
                self.plant.step(self.targets, dt)
                t += dt
            self.tell(time.monotonic(), t)
            quiet = now - (self.begin if self.heard is None else self.heard)
            if self.heard is None and quiet > UNHEARD_S:
                return self.found
            if self.heard is not None and quiet > 2 * self.coming.delay_s:  # what was on the way has come
                held = held or (self.targets.copy(), np.array(self.plant.q))
                if quiet > self.settings["watched_s"]:
                    return {**self.found, **self.moved(*held)}
            else:
                held = None
            time.sleep(max(0.0, t + dt - time.monotonic()))

    def moved(self, targets: np.ndarray, q: np.ndarray) -> dict:
        """Since the end: targets, and joints that targets lead [rad or m]. And where the objects truly are."""
        return {
            "targets_moved": float(np.abs(self.targets - targets).max()),
            "joints_moved": float(np.abs(np.array(self.plant.q) - q)[self.joints].max()),
            "reached": bool(self.scene.goal().reached(self.plant.q)),
            "goal_error": [None if np.isnan(part) else float(part) for part in self.scene.goal().error(self.plant.q)],
        }


class UdpDriver:
    """The driver: neither read nor write waits. Kills its own process at dies_at [s after the first targets], if that is given."""

    def __init__(self, port: int, scene: deft.Scene, dies_at: float = np.inf):
        self.connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.connection.connect(("127.0.0.1", port))
        self.connection.setblocking(False)
        self.n_q, self.number, self.dies_at = scene.n_q, 0, dies_at
        self.first: float | None = None
        self.last: tuple[float, tuple[float, np.ndarray, np.ndarray] | None] = (0.0, None)

    def read(self) -> tuple[float, np.ndarray, np.ndarray] | None:
        if self.first is None and self.last[1] is None:
            self.connection.send(packet(0, time.monotonic()))  # where are you?
        for data, _ in newest(self.connection):
            number, t, state = unpacked(data)
            if number > self.last[0]:
                self.last = (number, (t, state[: self.n_q], state[self.n_q :]))
        return self.last[1]

    def write(self, u: np.ndarray) -> None:
        now = time.monotonic()
        self.first = now if self.first is None else self.first
        if now - self.first > self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.number += 1
        self.connection.send(packet(self.number, now, u))


def drive(settings: dict, folder: str, seed: int, port: int, log: str, dies_at: float = np.inf) -> dict:
    plan = deft.Plan.open(folder)
    plant = deft.RobotPlant(plan.scene, UdpDriver(port, plan.scene, dies_at), **settings["plant"])
    begin, plan_s = time.monotonic(), len(plan.u) * plan.h
    longest = settings["longest"]["plans"] * plan_s + settings["longest"]["more_s"]
    result: dict[str, Any] = {"plan_s": plan_s}
    try:
        run = deft.track(plan, plant=plant, seed=seed, max_duration=longest)
        result |= {"reason": run.reason or run.status, "arrived": run.arrived, "new_plans": run.new_plans}
        result |= {"final": vars(run.final_error), "largest": vars(run.largest_error)}
        result |= {"control_p50_s": float(np.median(run.period_s)), "control_p99_s": float(np.quantile(run.period_s, 0.99))}
    except (RuntimeError, OSError) as error:  # the robot was given up, or is gone: no arrival, and why
        result |= {"reason": str(error), "arrived": False}
    result["duration_s"] = time.monotonic() - begin
    plant.save_log(log)
    return result | {"counts": plant.counts, **judged(settings, plan.scene, log)}


def judged(settings: dict, scene: deft.Scene, log: str) -> dict:
    """The log's own account: the largest step of the targets, and how old measurements were."""
    with np.load(log) as file:
        written, t, measured = file["written"], file["t"], file["t_measured"]
    if len(written) < 2:
        return {}
    lower, upper = scene.command_limits
    return {
        "largest_step": float(np.abs(np.diff(written, axis=0)).max()),
        "beyond_limits": int(np.sum(np.any((written < lower - 1e-9) | (written > upper + 1e-9), axis=1))),
        "age_p50_s": float(np.median(t - measured)),
        "periods_per_s": len(t) / (t[-1] - t[0]),
    }


def main() -> None:
    words = sys.argv[1:]
    with open(words[1]) as file:
        settings = json.load(file)
    if words[0] == "plan":
        plan = deft.plan(deft.load(words[2]), seed=int(words[3]), **settings["plan"])
        plan.save(words[4], force=True)
        result = {"status": plan.status, "success": plan.success, "duration_s": len(plan.u) * plan.h, "time_s": plan.time_s}
    elif words[0] == "robot":
        result = Robot(settings, deft.load(words[2]), int(words[3]), float(words[4])).run()
    else:
        result = drive(settings, words[2], int(words[3]), int(words[4]), words[5], *(float(word) for word in words[6:]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
