"""What the experiments share: scenes, folders of runs, pages with figures."""

from __future__ import annotations

import itertools
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from scene_runs import SceneRun, deft_json, run_scene

ROOT = Path(__file__).resolve().parents[2]
SCENES = ROOT / "scenes" / "reproductions"
PAGES = ROOT / "docs" / "reproductions"


@dataclass
class Laboratory:
    """Runs scenes with one program, every run in a folder of its own below `folder`."""

    deft: Path
    folder: Path
    _numbers: itertools.count = field(default_factory=itertools.count)

    def simulate(self, scene: str | Path, *options: str) -> SceneRun:
        """`deft sim`. A scene of scenes/reproductions by its name, or the file of another one."""
        return run_scene(self.deft, self.file(scene), self.folder / f"run-{next(self._numbers):03}", *options)

    def linearize(self, scene: str | Path, *options: str) -> dict:
        """`deft linearize`."""
        return deft_json(self.deft, "linearize", self.file(scene), *options)

    def plan(self, scene: Path, folder: Path, *options: str) -> dict:
        """`deft plan --first` into `folder`."""
        return deft_json(self.deft, "plan", scene, "--first", "--out", folder, *options)

    def track(self, plan: Path, *options: str) -> SceneRun:
        """`deft track` of the plan in a folder."""
        return self._follow("track", plan, *options)

    def replay(self, run: Path, *options: str) -> SceneRun:
        """`deft replay` of the run in a folder."""
        return self._follow("replay", run, *options)

    def _follow(self, command: str, run: Path, *options: str) -> SceneRun:
        folder = self.folder / f"run-{next(self._numbers):03}"
        summary = deft_json(self.deft, command, run, "--out", folder, *options)
        return SceneRun(run.name, deft_json(self.deft, "info", run / "config.yaml"), summary, folder)

    def program(self, name: str, *arguments: str) -> list[dict]:
        """What a benchmark says with --json: an object per line."""
        done = subprocess.run([str(self.deft.parent / "benchmarks" / name), *arguments], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    @staticmethod
    def file(scene: str | Path) -> Path:
        return scene if isinstance(scene, Path) else SCENES / f"{scene}.deft.yaml"


def table(head: list[str], rows: list[list]) -> str:
    """A Markdown table; floats with three digits."""
    text = [[f"{x:.3g}" if isinstance(x, float) else str(x) for x in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *text])


def short(commit: str) -> str:
    """Eight digits of a commit, with the "+" of a tree that had changed since."""
    return commit[:8] + "+" * commit.endswith("+")


def baseline(name: str) -> dict:
    """What `./run bench NAME --record` found, with `sources`: where it comes from, one of each recorded system or one of all. Empty if nothing was recorded."""
    file = ROOT / f"benchmarks/baselines/{name}.json"
    if not file.exists():
        return {}
    found = json.loads(file.read_text())
    sources = list(found["sources"].values()) if "sources" in found else [found["source"]] if "source" in found else []
    return {**found["result"], "sources": sources}


def record_words(heads: list[dict]) -> str:
    """ "2026-11-24 to 2026-11-25, commits 0a1b2c3d, on a processor, 2 cores.": where and when recorded data come from; there must be some."""
    dates, commits = sorted(head["date"] for head in heads), sorted({short(head["commit"]) for head in heads})
    machines = sorted({f"{head['machine']['processor']}, {head['machine']['cores']} cores" for head in heads})
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    return f"{when}, commit{'s' * (len(commits) > 1)} {', '.join(commits)}, on {'; '.join(machines)}."


def recorded_words(heads: list[dict]) -> str:
    """Where and when recorded data come from, as a sentence, or that there are none."""
    return f"Recorded {record_words(heads)}" if heads else "**Nothing has been recorded yet.**"


def new_figure(columns: int, rows: int = 1):
    """Axes in a row or a grid, in the style of the pages; matplotlib is only needed here."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "deft", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "lines.linewidth": 1.3,
                            "axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True})  # fmt: skip
    return pyplot.subplots(rows, columns, figsize=(4.2 * columns, 2.9 * rows), squeeze=False)


def plain_ticks(axis, values) -> None:
    """Ticks of a logarithmic axis at the values that were measured, and nowhere else."""
    axis.set_ticks(list(values), [f"{x:g}" for x in values])
    axis.set_ticks([], minor=True)


def picture(name: str) -> str:
    """The Markdown that shows docs/reproductions/images/NAME.svg."""
    return f"![{name.replace('_', ' ')}](images/{name}.svg)"


def save_figure(figure, name: str) -> None:
    """Writes docs/reproductions/images/NAME.svg."""
    from matplotlib import pyplot

    path = PAGES / "images" / f"{name}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")


class Unfounded(Exception):
    """A sentence of a page that its data no longer bear out."""


def claim(words: str, holds: bool) -> str:
    """Words that compare, where the data bear them out. @throws Unfounded otherwise: the sentence has to be written anew."""
    if not holds:
        raise Unfounded(f"does not hold any more: {words!r}")
    return words
