#!/usr/bin/env bash
# Build the archive of the sources and from it the wheel, and test the wheel where nothing else is:
#   wheel_test.sh PANDAS [EXTRA ...]
# PANDAS is a major version, 2 or 3. An EXTRA is `all` (every package that the library may use) or
# `none`, where tests that need another package are skipped with what the library says of it.
# Both are tested by default.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${PYTHON:-python3}
pandas=$1
shift
export PYTHONNOUSERSITE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH
untied=$(sed -nE 's/^((pycanon|beartype)==[^ ]+).*/\1/p' requirements.lock)

"$python" -m venv "$folder/build"
"$folder/build/bin/python" -m pip install -qq build
"$folder/build/bin/python" -m build --outdir "$folder/dist" . > "$folder/log" \
  || { cat "$folder/log" >&2; exit 1; }
wheel=$(ls "$folder"/dist/*.whl)
ls -sh --block-size=kB "$folder/dist"
# the tests are those of the archive, and see no package but the installed one
mkdir "$folder/sources"
tar -xzf "$folder"/dist/*.tar.gz -C "$folder/sources" --strip-components 1
rm -r "$folder/sources/anonpaper"
cd "$folder/sources"
# without the compiler these take minutes
slow=--ignore=tests/recoders/test_searches.py

[ $# -gt 0 ] || set -- all none
for extra; do
  rm -rf "$folder/venv"
  "$python" -m venv "$folder/venv"
  pip="$folder/venv/bin/python -m pip install -qq"
  case $extra in
    all) $pip "$wheel[all]" "pandas==$pandas.*"; options="-q" ;;
    none) $pip "$wheel" "pandas==$pandas.*"; options="-q -rs $slow" ;;
    *) echo "no extra $extra: all or none" >&2; exit 1 ;;
  esac
  "$folder/venv/bin/anonpaper" --version
  du -sm "$folder/venv" | sed "s|\t.*| MB with extra: $extra|"
  $pip hypothesis pytest pytest-httpserver pytest-xdist
  # shellcheck disable=SC2086  # two words: pycanon and beartype
  $pip --no-deps $untied
  # shellcheck disable=SC2086
  ANONPAPER_EXTRAS=$extra TQDM_DISABLE=1 \
    "$folder/venv/bin/pytest" $options --numprocesses auto --dist loadfile tests
done
