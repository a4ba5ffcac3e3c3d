"""`python -m holonomy.studio`: the studio without the `holonomy` command."""

from __future__ import annotations

import argparse

from holonomy.extras import MissingExtra
from holonomy.studio import serve


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(
        prog="python -m holonomy.studio", description="Serve the Holonomy studio on this machine."
    )
    parser.add_argument("--host", default="127.0.0.1", help="a loopback name (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8765, help="TCP port; 0 takes a free one (default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.add_argument("--story", action="append", default=[], metavar="FILE", help="a story to show; may be repeated")
    options = parser.parse_args()
    try:
        serve(options.host, options.port, not options.no_browser, options.story)
    except (MissingExtra, ValueError) as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
