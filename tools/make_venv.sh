#!/bin/sh
# Make a virtual environment with the first Python from 3.11 to 3.13 found, or say in one line what is wrong.
# usage: tools/make_venv.sh FOLDER   (PYTHON=/path/to/python picks one)
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
        rm -rf "$1"
        "$candidate" -m venv "$1" && exit 0
        echo "$candidate cannot make a virtual environment (on Debian and Ubuntu: install python3-venv), so nothing was set up." >&2
        rm -rf "$1"
        exit 1
    fi
done
found=$("${PYTHON:-python3}" --version 2>/dev/null || echo "none")
echo "Python 3.11, 3.12 or 3.13 is needed, but ${PYTHON:-python3} is: $found. Install one, or name it: make lab PYTHON=/path/to/python3.12" >&2
exit 1
