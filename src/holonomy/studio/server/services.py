"""What all simulations of one server share."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from holonomy.studio.compile.code_store import CodeStore
from holonomy.studio.compile.worker_process import WorkerPool
from holonomy.studio.server.downloads import Downloads


class Services:
    """Compiled code, files to take away, and those who make them. `stopping` is set when the server ends."""

    def __init__(self) -> None:
        self.workers = WorkerPool()
        self.code_store = CodeStore(self.workers)
        self.downloads = Downloads()
        self.stopping = threading.Event()
        self.exports = ThreadPoolExecutor(1, thread_name_prefix="studio-exports")

    def stop(self) -> None:
        """End the processes and threads."""
        self.stopping.set()
        self.workers.stop()
        self.code_store.stop()
        self.exports.shutdown(wait=False, cancel_futures=True)
        self.downloads.stop()
