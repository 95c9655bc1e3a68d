"""Where the files of the package are."""

from pathlib import Path

from . import _core

_INSTALLED = Path(__file__).resolve().parent / "share"
if _INSTALLED.is_dir():  # of a wheel; in a clone they stand in the source tree
    _core.set_resource_root(str(_INSTALLED))
SCENES = Path(_core.resource("scenes"))
