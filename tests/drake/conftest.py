"""The package that is installed, else that of the build folder $DEFT_BUILD_DIR (build/release; configured with DEFT_PACKAGE)."""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if importlib.util.find_spec("deft") is None:
    sys.path.insert(0, str(Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release")) / "python"))
# The plant's own process is of this interpreter, too.
os.environ.setdefault("DEFT_DRAKE_PYTHON", sys.executable)
