"""Property tests draw the same examples in every run, so that a red suite stays red until it is repaired.

`HYPOTHESIS_PROFILE=explore pytest` draws new ones.
"""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
