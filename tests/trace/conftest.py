"""Machine code made by these tests is kept in a folder of their own."""

import os
import tempfile

os.environ["HOLONOMY_CACHE"] = tempfile.mkdtemp(prefix="holonomy-tests-")
