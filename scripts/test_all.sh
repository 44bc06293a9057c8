#!/bin/bash
# Every test in its long form: the whole operator matrix, all float32 inputs of the vector math, 20,000 random graphs.
#   test_all.sh BUILD_DIR      writes the result to tests/results/test-all.txt; JOBS tests run at once (default 2)
set -uo pipefail
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
log=$build/test-all.log
started=$SECONDS
STAX_TEST_ALL=1 ctest --test-dir "$build" -j "${JOBS:-2}" --output-on-failure | tee "$log"
status=${PIPESTATUS[0]}
mkdir -p "$root/tests/results"
{
  echo "date      $(date -u +%Y-%m-%d)"
  echo "commit    $(git -C "$root" rev-parse --short HEAD)"
  echo "machine   $(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo), $(nproc) cores, $(g++ --version | head -1)"
  echo "tests     $(grep 'tests passed' "$log"), $((SECONDS - started)) s"
  sed -n '/The following tests FAILED/,$p' "$log"
  echo "graphs    $(head -1 "$build/fuzz_graphs.txt" 2>/dev/null || echo 'not run')"
} >"$root/tests/results/test-all.txt"
cat "$root/tests/results/test-all.txt"
exit "$status"
