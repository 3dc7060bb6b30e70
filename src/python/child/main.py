"""The process of a Python step: loads one file, makes its calls one after the other, and reports each once."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))

from headwater.step_host import run  # noqa: E402

run(sys.argv[1:])
