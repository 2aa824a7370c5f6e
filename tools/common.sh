# Sourced by the other scripts here (". tools/common.sh"): paths and settings.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Installing and testing must not touch the user's own R library.
lib=${PCGPU_LIB:-$root/.Rlib}
mkdir -p "$lib"
export R_LIBS="$lib${R_LIBS:+:$R_LIBS}"

# The installation (configure) and cargo's own commands share one target folder.
export PCGPU_TARGET_DIR="${PCGPU_TARGET_DIR:-$root/src/rust/target}"
export CARGO_TARGET_DIR="$PCGPU_TARGET_DIR"
# They also share one store of downloaded crates.
export PCGPU_CARGO_HOME="${PCGPU_CARGO_HOME:-${CARGO_HOME:-$HOME/.cargo}}"
export PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
cargo_manifest="$root/src/rust/Cargo.toml"

# These scripts are for developers: cargo may use every core.
export NOT_CRAN=true

say() { printf '\n== %s\n' "$*"; }
