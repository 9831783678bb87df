# Shared by the scripts beside it; sourced, not run. Callers set -euo pipefail.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit
jobs=${BREAKEVEN_JOBS:-$(nproc)}
declare -a part_names=() part_seconds=()

say() { printf '==> %s\n' "$*" >&2; }
die() {
  printf 'breakeven: %s\n' "$1" >&2
  exit "${2:-5}"
}

# part NAME COMMAND...: runs the command, remembers how long it took.
part() {
  local name=$1 start=$SECONDS
  shift
  say "$name"
  "$@"
  part_names+=("$name")
  part_seconds+=($((SECONDS - start)))
}

print_parts() {
  local i
  printf '\n%-44s %8s\n' "part" "seconds" >&2
  for i in "${!part_names[@]}"; do
    printf '%-44s %8d\n' "${part_names[$i]}" "${part_seconds[$i]}" >&2
  done
}

packages_in() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

missing_packages() {
  local name
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
}

# install_packages LIST...: Debian packages named in the files, if any is missing.
install_packages() {
  command -v dpkg-query >/dev/null || {
    say "not a Debian system: skipping packages; see $* for what is needed"
    return 0
  }
  local -a wanted missing as_root=()
  mapfile -t wanted < <(packages_in "$@")
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs root to install: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # A broken-off earlier install leaves packages unconfigured; this finishes them.
  "${as_root[@]}" dpkg --configure -a >&2
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# install_python FILE...: the requirements, into .venv, but for files that were installed as they are now.
install_python() {
  [ -x .venv/bin/pip ] || /usr/bin/python3 -m venv .venv
  local file stamp wanted
  for file in "$@"; do
    stamp=.venv/breakeven-$(basename "$file" .txt).sha256
    wanted=$(sha256sum <"$file")
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && continue
    say "installing the Python packages of $file into .venv (torch is 4.6 GB with its CUDA libraries, about 90 s)"
    .venv/bin/pip install --quiet --disable-pip-version-check -r "$file" >&2
    printf '%s\n' "$wanted" >"$stamp"
  done
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >&2
  local -a targets=()
  [ $# -gt 0 ] && targets=(--target "$@")
  cmake --build --preset "$preset" -j "$jobs" "${targets[@]}" >&2
}
