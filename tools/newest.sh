#!/usr/bin/env bash
# Make an environment of the newest versions that pyproject.toml allows:
#   newest.sh FOLDER
# FOLDER/versions lists them, one name==version a line.
set -eu
cd "$(dirname "$0")/.."
folder=$1
"${PYTHON:-python3.11}" -m venv --clear "$folder"
pip="$folder/bin/python -m pip"

torch=$(sed -nE 's/.*"(torch==[^"]+)".*/\1/p' pyproject.toml)
untied=$(sed -nE 's/^((pycanon|beartype)==[^ ]+).*/\1/p' requirements.lock)
$pip install -qq "$torch"
$pip install -qq --editable '.[all,synthesis,cluster,scale,notebooks,site,test]'
# pycanon pins versions of numpy and scipy that it does not need
# shellcheck disable=SC2086  # two words: pycanon and beartype
$pip install -qq --no-deps $untied

$pip freeze --exclude-editable | sed -E 's/\+cpu$//' | LC_ALL=C sort -f > "$folder/versions"
if grep -q ' @ ' "$folder/versions"; then
  echo "a package came from a path or an address:" >&2
  grep ' @ ' "$folder/versions" >&2
  exit 1
fi
