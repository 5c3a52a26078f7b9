"""The bench is a folder of the repository, not a part of the installed package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
