"""Where the files of the package are."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
# In a clone the scenes stand at its root, in a wheel beside this file.
SCENES = _HERE / "scenes" if (_HERE / "scenes").is_dir() else _HERE.parent.parent / "scenes"
