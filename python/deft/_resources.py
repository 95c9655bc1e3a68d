"""Where the files of the package are."""

import sys
from pathlib import Path

from . import _core

_core.set_interpreter(sys.executable or "")  # CoACD and Drake are looked for where deft is
SCENES = Path(_core.resource("scenes"))
_LIBRARY = Path(_core.__file__).parent  # in a build folder two below lib/
CMAKE = next((folder / "lib/cmake/deft" for folder in (_LIBRARY, _LIBRARY.parents[1]) if (folder / "lib/cmake/deft").is_dir()), None)
