"""What every test may rely on: an own data directory, no network, no GPU."""

import os
import tempfile

os.environ["TANDEM_HOME"] = tempfile.mkdtemp(prefix="tandem-test-")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
