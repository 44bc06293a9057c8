#!/bin/bash
# clang-tidy over sources.   tidy.sh BUILD_DIR [--all]
# Without --all: the files changed since $STAX_TIDY_BASE (default: the parent commit) and in the work tree.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
all=${2:-}

if [ "$all" = --all ]; then
  candidates=$(git ls-files -- '*.cpp')
else
  base=${STAX_TIDY_BASE:-HEAD~1}
  git rev-parse -q --verify "$base" >/dev/null || base=HEAD
  candidates=$({ git diff --name-only --diff-filter=d "$base" -- '*.cpp'; git ls-files --others --exclude-standard -- '*.cpp'; } |
    sort -u)
fi
# Only what the build compiles has flags.
files=()
for file in $candidates; do
  grep -qF "\"$PWD/$file\"" "$build/compile_commands.json" && files+=("$file")
done
[ ${#files[@]} -gt 0 ] || { echo "tidy: no changed files"; exit 0; }
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "${JOBS:-2}" clang-tidy-16 -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null ||
  { echo "tidy: failed" >&2; exit 1; }
echo "tidy: ${#files[@]} files"
