#!/usr/bin/env python3
"""Simulates the bundled scenes and prints a table: sizes, contacts, times, worst residual, least gap, how far objects moved, and per
robot whether it made (+) and broke (+) contact.

    python tools/scene_table.py [--deft build/release/deft] [SCENE...]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from scene_runs import run_scene, scene_names, table_text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", help="names of folders of scenes/ (default: all)")
    parser.add_argument("--deft", type=Path, default=Path(__file__).resolve().parent.parent / "build" / "release" / "deft")
    arguments = parser.parse_args()
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.scenes or scene_names():
            try:
                rows.append(run_scene(arguments.deft, name, Path(folder) / name).row())
            except RuntimeError as error:
                failed += 1
                print(error, file=sys.stderr)
    print(table_text(rows))
    return int(failed > 0 or any(row["status"] != "Completed" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
