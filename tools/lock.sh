#!/usr/bin/env bash
# Make requirements.lock anew: the newest versions that pyproject.toml allows, in a clean
# environment, with the hashes of all their files in the index; and binder/requirements.txt, which
# has those that notebooks need without torch and SDV. Tell by `make test` whether they work
# together before committing them.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"${PYTHON:-python3.11}" -m venv "$folder/uv"
pip="$folder/venv/bin/python -m pip"
"$folder/uv/bin/python" -m pip install -qq uv
uv="$folder/uv/bin/uv pip compile --quiet --no-header --no-annotate --python $folder/venv/bin/python"

torch=$(sed -nE 's/.*"(torch==[^"]+)".*/\1/p' pyproject.toml)
untied=$(sed -nE 's/^((pycanon|beartype)==[^ ]+).*/\1/p' requirements.lock)
$pip install -qq "$torch"
$pip install -qq --editable '.[all,synthesis,scale,notebooks,site,test]'
# pycanon pins versions of numpy and scipy that it does not need
# shellcheck disable=SC2086  # two words: pycanon and beartype
$pip install -qq --no-deps $untied
$pip freeze --exclude-editable | sed -E 's/\+cpu$//' | LC_ALL=C sort -f > "$folder/versions"
if grep ' @ ' "$folder/versions" >&2; then
  echo "these packages came from a path or an address" >&2
  exit 1
fi

# torch for processors alone is not in every index: the hash of the file that pip takes here
$pip download -qq --no-deps --dest "$folder/torch" "$(grep '^torch==' "$folder/versions")"
taken=$(sha256sum "$folder"/torch/*.whl | cut -d ' ' -f 1)
sed -n '/^#/p' requirements.lock > "$folder/requirements.lock"
$uv --no-deps --generate-hashes "$folder/versions" >> "$folder/requirements.lock"
grep -q "$taken" "$folder/requirements.lock" \
  || sed -i -E "s/^(torch==[^ ]+) .*/\1 \\\\\n    --hash=sha256:$taken \\\\/" \
    "$folder/requirements.lock"
mv "$folder/requirements.lock" requirements.lock
$uv --constraint requirements.lock --extra fast --extra learning --extra notebooks --extra plots \
  --extra search pyproject.toml > binder/requirements.txt
