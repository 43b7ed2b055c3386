#!/bin/sh
# Linux and macOS: sh start.sh
cd "$(dirname "$0")" || exit 1
for python in python3 python3.13 python3.12 python3.11 python; do
  if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    exec "$python" start.py "$@"
  fi
done
echo "Python 3.11 or newer is needed: https://www.python.org/downloads" >&2
exit 1
