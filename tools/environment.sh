#!/usr/bin/env bash
# Install the locked packages in the folder given, with pip: for the Python 3.11 that CONDA makes, if
# it names a program, or else the one that PYTHON names or the PATH has. `make env` calls it.
set -eu -o pipefail
cd "$(dirname "$0")/.."
folder=$1 run=$1/bin/python
pins() { sed -n 's/ \\$//; /==/p' requirements.lock; }

if [ -n "${CONDA:-}" ]; then
  python=$folder/bin/python
  [ -d "$folder/conda-meta" ] || CONDA_ALWAYS_YES=1 MAMBA_ALWAYS_YES=1 \
    "$CONDA" create --quiet --prefix "$PWD/$folder" --channel conda-forge python=3.11 pip
else
  for name in ${PYTHON:-} python3.11 python3 python none; do
    if "$name" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      python=$name
      break
    fi
  done
  if [ "$name" = none ]; then
    echo "environment: no Python 3.11 on the PATH; give one with make PYTHON=..." >&2
    exit 1
  fi
fi
"$run" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$folder"
echo "environment: installing $(grep -c == requirements.lock) packages in $folder, about 2 minutes"
# torch first: by itself pip prefers a build for processors alone where it finds one, but with
# --require-hashes the build whose hash the index tells
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
torch=$(pins | grep '^torch==')
"$run" -m pip download -qq --no-deps --dest "$wheels" "$torch"
if ! grep -qe "$("$run" -m pip hash "$wheels"/* | tail -n 1)" requirements.lock; then
  echo "environment: requirements.lock has no hash of $(ls "$wheels")" >&2
  exit 1
fi
"$run" -m pip install -qq --no-deps "$wheels"/*
"$run" -m pip install -qq --no-deps --require-hashes --requirement requirements.lock
"$run" -m pip install -qq --constraint <(pins | grep -v '^pycanon') "$torch"
