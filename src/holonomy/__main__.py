"""`python -m holonomy`: the `holonomy` command for a Python whose scripts are not on the PATH."""

from holonomy.cli import main

if __name__ == "__main__":
    main()
