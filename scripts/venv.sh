#!/bin/bash
# Makes the project's Python environment .venv when it is missing.   venv.sh [triton]
# With `triton`: also what the Triton workers and their tests need, at pinned versions.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ ! -x .venv/bin/pip ]; then
  rm -rf .venv
  python3 -m venv .venv
fi
if [ "${1:-}" = triton ] && ! cmp -s scripts/triton.txt .venv/triton.installed; then
  .venv/bin/pip install -q -r scripts/triton.txt
  cp scripts/triton.txt .venv/triton.installed
fi
