"""What all simulations of one server share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from holonomy.studio.compile.code_store import Foundry
from holonomy.studio.compile.worker_process import Workshop
from holonomy.studio.server.downloads import Shelf


class Services:
    """Compiled code, files to take away, and those who make them."""

    def __init__(self) -> None:
        self.workshop = Workshop()
        self.foundry = Foundry(self.workshop)
        self.shelf = Shelf()
        self.errands = ThreadPoolExecutor(1, thread_name_prefix="studio-errands")

    def stop(self) -> None:
        """End the processes and threads."""
        self.workshop.stop()
        self.errands.shutdown(wait=False, cancel_futures=True)
