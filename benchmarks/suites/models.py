"""Model files that people have: how many deft loads, and how many agree with what MuJoCo compiles from them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from .programs import ROOT, Failed, output_of, say
from .recording import Request

ORACLE = "benchmarks/peers/mjcf_oracle.py"
SHOWN = 12  # reasons


def models_in(folder: Path) -> list[Path]:
    """MJCF files below a folder, those that are only included by others left out."""
    found = []
    for path in sorted(folder.rglob("*.xml")):
        try:
            root = ElementTree.parse(path).getroot()
        except (ElementTree.ParseError, UnicodeDecodeError):
            continue
        if root.tag == "mujoco":
            found.append(path)
    return found


def bench_models(request: Request) -> dict:
    """Arguments: folders, for instance of unpacked wheels (`pip download --no-deps gymnasium-robotics metaworld`)."""
    folders = [Path(argument) for argument in request.arguments]
    if not folders or not all(folder.is_dir() for folder in folders):
        raise Failed("models needs FOLDER…: folders with MJCF files, such as the unpacked wheels of gymnasium-robotics and metaworld")
    python = ROOT / ".venv-bench/bin/python"
    rows = []
    for folder in folders:
        files = models_in(folder)
        say(f"{len(files)} files in {folder}")
        text = output_of([str(python), ORACLE, str(request.build), *map(str, files)])
        for line in text.splitlines():
            row = json.loads(line)
            row["file"] = str(Path(row["file"]).relative_to(folder))
            if "reason" in row:
                row["reason"] = row["reason"].replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
            rows.append(row)
    compiled = [row for row in rows if row["compiles"]]
    loaded, agreeing = ([row for row in compiled if row[key]] for key in ("loads", "agrees"))
    print(f"{len(rows)} files; MuJoCo compiles {len(compiled)}, of these deft loads {len(loaded)} and agrees on {len(agreeing)}")
    reasons = Counter(row["reason"] for row in compiled if not row["loads"])
    reasons.update(f"{row['file']}: {row['differences'][0]}" for row in loaded if not row["agrees"])
    for reason, count in reasons.most_common(SHOWN):
        print(f"{count:4}  {reason[:180]}")
    if compiled:
        times = sorted(row["time_s"] for row in compiled)
        print(f"time of `deft info`: median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s")
    return {"rows": rows, "files": len(rows), "compile": len(compiled), "load": len(loaded), "agree": len(agreeing)}
