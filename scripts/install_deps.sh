#!/bin/bash
# Installs from the distribution what Stax needs to build, run and test. Does nothing when all of it is there.
# docs/dependencies.md says why each is needed.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache make git pkg-config
  libfmt-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libboost1.81-dev libdnnl-dev libssl-dev libicu-dev
  libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev libz3-dev
  clang-tidy-16 clang-format-14
  python3 python3-venv
)

installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^ii //p' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "deps: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "deps: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "deps: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
