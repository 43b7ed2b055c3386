#!/usr/bin/env bash
# Make requirements.lock anew: the newest versions that pyproject.toml allows, in a clean
# environment. Tell by `make test` whether they work together before committing it.
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
pip="$folder/venv/bin/python -m pip"

torch=$(sed -nE 's/.*"(torch==[^"]+)".*/\1/p' pyproject.toml)
untied=$(grep -E '^(pycanon|beartype)==' requirements.lock)
$pip install -qq "$torch"
$pip install -qq --editable '.[synthesis,cluster,notebooks,site,test]'
# shellcheck disable=SC2086  # two words: pycanon and beartype
$pip install -qq --no-deps $untied

{
  sed -n '/^#/p' requirements.lock
  $pip freeze --exclude-editable | sed -E 's/\+cpu$//' | LC_ALL=C sort -f
} > "$folder/requirements.lock"
if grep -q ' @ ' "$folder/requirements.lock"; then
  echo "lock: a package came from a path or an address; nothing was changed" >&2
  exit 1
fi
mv "$folder/requirements.lock" requirements.lock
