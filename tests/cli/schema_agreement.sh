#!/bin/sh
# Runs schema_agreement.py with a Python that has jsonschema: the test environment's, else any.
set -eu
here=$(dirname "$0")
for python in "$here/../../.venv/bin/python" python3; do
  if "$python" -c 'import jsonschema' 2>/dev/null; then
    exec "$python" "$here/schema_agreement.py" "$1" "$here/../../scenarios"
  fi
done
echo "skipped: no Python with jsonschema (scripts/setup installs it)" >&2
exit 77
