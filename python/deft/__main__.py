"""python -m deft: the command line."""

import sys

from . import main

sys.exit(main())
