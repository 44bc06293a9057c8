#!/bin/bash
# Formats the C++ sources.   format.sh [--check]     --check changes nothing and fails when a file is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

tool=$(command -v clang-format-14 || command -v clang-format)
mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp')
mode=(-i)
[ "${1:-}" = --check ] && mode=(--dry-run --Werror)
printf '%s\0' "${files[@]}" | xargs -0 -n 16 -P 2 "$tool" "${mode[@]}" || { echo "format: run make format" >&2; exit 1; }
echo "format: ${#files[@]} files"
