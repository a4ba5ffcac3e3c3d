#!/bin/sh
# Print the path of the newest supported Python on this machine.
#
#   sh scripts/find_python.sh        the newest one on PATH, or else the newest one installed by pyenv, uv or conda
#   sh scripts/find_python.sh all    one line for each supported version that is found anywhere: its version and path
#
# The supported versions are the classifiers in pyproject.toml. Each candidate is run, because a command of the right
# name may not work: pyenv leaves a python3.13 on PATH that only prints an error while another version is selected. A
# Python without the ensurepip module cannot make virtual environments, so it is taken only if there is no other.
# Without any Python this prints "false", so that the recipe that uses the answer fails, and a sentence on stderr.

root=$(dirname "$0")/..
supported=$(sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9][0-9]*\)".*/\1/p' "$root/pyproject.toml" | sort -t . -k 2 -n -r)

# Print "version path yes|no" for a candidate that runs; a virtual environment stands for the Python it was made from.
describe() {
    "$1" -c '
import importlib.util, sys
path = getattr(sys, "_base_executable", None) or sys.executable
able = all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))
print("%d.%d" % sys.version_info[:2], "yes" if able else "no", path)
' 2>/dev/null
}

on_path() {
    for name in $(for version in $supported; do echo "python$version"; done) python3 python; do
        command -v "$name" >/dev/null 2>&1 && describe "$name"
    done
}

in_folders() {
    data=${XDG_DATA_HOME:-$HOME/.local/share}
    for candidate in \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3 \
        "${UV_PYTHON_INSTALL_DIR:-$data/uv/python}"/*/bin/python3 \
        "${CONDA_PREFIX:-/opt/conda}"/bin/python3 \
        "$HOME"/*conda3/bin/python3 "$HOME"/miniforge3/bin/python3 "$HOME"/mambaforge/bin/python3 \
        "$HOME"/*conda3/envs/*/bin/python3 "$HOME"/miniforge3/envs/*/bin/python3 "$HOME"/.conda/envs/*/bin/python3; do
        [ -x "$candidate" ] && describe "$candidate"
    done
}

# Of described candidates on stdin, print the path of the first that has a version of $1 and can make environments ($2).
choose() {
    while read -r version able path; do
        if [ "$version" = "$1" ] && [ "$able" = "$2" ]; then
            echo "$path"
            return 0
        fi
    done
    return 1
}

newest() {
    for able in yes no; do
        for version in $supported; do
            echo "$1" | choose "$version" "$able" && return 0
        done
    done
    return 1
}

found=$(on_path)
if [ "$1" = all ]; then
    everywhere=$(echo "$found"; in_folders)
    for version in $supported; do
        path=$(echo "$everywhere" | choose "$version" yes) && echo "$version $path"
    done
    exit 0
fi
newest "$found" && exit 0
newest "$(in_folders)" && exit 0

# Only unsupported versions: the newest is tried if it is newer than all that are supported.
range="$(echo "$supported" | tail -n 1) to $(echo "$supported" | head -n 1)"
other=$(echo "$found" | sort -t . -k 2 -n -r | head -n 1)
if [ -z "$other" ]; then
    echo "Holonomy needs Python $range, and none was found on this machine; install one, or name one: make PYTHON=/path/to/python." >&2
elif [ "$(echo "${other%% *}" | cut -d . -f 2)" -gt "$(echo "$supported" | head -n 1 | cut -d . -f 2)" ] && [ "${other%%.*}" = 3 ]; then
    echo "${other#* * }"
    exit 0
else
    echo "Holonomy needs Python $range, and the newest found on this machine is ${other%% *}; install a newer one, or name one: make PYTHON=/path/to/python." >&2
fi
echo false
exit 1
