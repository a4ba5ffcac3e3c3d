"""The studio: mechanics in the browser, computed by the same objects a user of the library holds.

`serve()` starts it. Everything else is imported when it runs, so that importing `holonomy.studio` costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holonomy.extras import require


def serve(
    host: str = "127.0.0.1", port: int = 8765, open_browser: bool = True, stories: Sequence[str | Path] = ()
) -> None:
    """Serve the studio on this machine's loopback until interrupted, and print its address.

    **Arguments:**

    - `host`: a loopback name: `127.0.0.1`, `localhost` or `::1`. Any other raises `ValueError`: the studio has no
    notion
      of users and is not meant for a network.
    - `port`: the TCP port; 0 takes a free one. When it is taken, one of the next few is used.
    - `open_browser`: also open the address in the user's browser.
    - `stories`: files with stories to show besides those of the labs. One that is no story raises `ValueError`.

    Needs starlette, uvicorn and websockets, which the extra `studio` brings.
    """
    require("studio", "The studio")
    from holonomy.studio.server.serve import serve as run

    run(host, port, open_browser, tuple(Path(story) for story in stories))
