#!/usr/bin/env bash
# Install the locked packages in the folder given: with CONDA, if it names one, or else with pip for
# the Python 3.11 that PYTHON names or the PATH has. `make env` calls it.
set -eu -o pipefail
cd "$(dirname "$0")/.."
folder=$1 run=$1/bin/python
pins() { sed -n 's/ \\$//; /==/p' requirements.lock; }

if [ -n "${CONDA:-}" ]; then
  echo "environment: creating it in $folder with $(basename "$CONDA")"
  if [ -d "$folder/conda-meta" ]; then action=update; else action=create; rm -rf "$folder"; fi
  CONDA_ALWAYS_YES=1 MAMBA_ALWAYS_YES=1 \
    "$CONDA" env $action --quiet --prefix "$PWD/$folder" --file environment.yml
  # pycanon pins versions of numpy and scipy that it does not need
  # shellcheck disable=SC2046  # two words: pycanon and beartype
  "$run" -m pip install -qq --no-deps $(pins | grep -E '^(pycanon|beartype)==')
  exit
fi

python=
for name in ${PYTHON:-} python3.11 python3 python; do
  if "$name" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
    python=$name
    break
  fi
done
if [ -z "$python" ]; then
  echo "environment: no Python 3.11 on the PATH; give one with make PYTHON=..." >&2
  exit 1
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
