"""The files of the project: those that git knows or would know, or all beside the generated folders where there is no git.

Also the environment of a tool whose output a script reads.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# Many tools colour what they print where one of these is set, even into a pipe.
COLOURING = ("CI", "FORCE_COLOR", "CLICOLOR_FORCE")
PLAIN = {key: value for key, value in os.environ.items() if key not in COLOURING} | {"NO_COLOR": "1"}

GENERATED = ("build", "out", "node_modules", "__pycache__")


def project_files(root: Path, endings: tuple[str, ...] | None = None) -> list[Path]:
    """Files that end so (None: all), sorted: tracked ones, and new ones that are not ignored."""
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        paths = {root / name for name in listed.split("\0") if name}
    else:
        paths = {
            p for p in root.rglob("*") if not any(part in GENERATED or part.startswith(".venv") for part in p.relative_to(root).parts[:-1])
        }
    return sorted(p for p in paths if (endings is None or p.suffix in endings) and p.is_file())
