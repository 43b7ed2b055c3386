#!/usr/bin/env bash
# Make requirements.lock anew: the newest versions that pyproject.toml allows, in a clean
# environment, with the hashes of all their files in the index. Tell by `make test` whether they
# work together before committing it.
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tools/newest.sh "$folder/venv"
cp "$folder/venv/versions" "$folder/versions"
"$folder/venv/bin/python" -m venv "$folder/uv"
"$folder/uv/bin/python" -m pip install -qq uv

# torch for processors alone is not in every index: the hash of the file that pip takes here
torch=$(grep '^torch==' "$folder/versions")
"$folder/venv/bin/python" -m pip download -qq --no-deps --dest "$folder/torch" "$torch"
taken=$(sha256sum "$folder"/torch/*.whl | cut -d ' ' -f 1)
sed -n '/^#/p' requirements.lock > "$folder/requirements.lock"
"$folder/uv/bin/uv" pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate \
  --python "$folder/venv/bin/python" "$folder/versions" >> "$folder/requirements.lock"
grep -q "$taken" "$folder/requirements.lock" \
  || sed -i -E "s/^(torch==[^ ]+) .*/\1 \\\\\n    --hash=sha256:$taken \\\\/" \
    "$folder/requirements.lock"
mv "$folder/requirements.lock" requirements.lock
