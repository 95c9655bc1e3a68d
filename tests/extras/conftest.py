"""The package of the build in $DEFT_BUILD_DIR, else of build/release."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release")) / "python"))
