#!/bin/bash
# Runs every benchmark program of a folder, one after the other.   bench.sh BIN_DIR [ARGUMENT...]
set -euo pipefail
bin=$1
shift
for program in "$bin"/bench_*; do
  [ -x "$program" ] || { echo "bench: no benchmark programs in $bin" >&2; exit 1; }
  "$program" "$@"
done
