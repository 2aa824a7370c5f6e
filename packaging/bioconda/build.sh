#!/bin/bash
set -euxo pipefail

# The licences of the crates, from the archive in the source package.
mkdir crates
xz -dc src/rust/vendor.tar.xz | tar -xf - -C crates
CARGO_HOME="$PWD/crates/.cargo" cargo-bundle-licenses --format yaml --output "$SRC_DIR/THIRDPARTY.yml" \
  --manifest-path src/rust/Cargo.toml
rm -r crates

# Cargo may use every core (see configure).
export NOT_CRAN=true
"${R:-R}" CMD INSTALL --build --no-multiarch .

mkdir -p "$PREFIX/bin"
ln -s ../lib/R/library/pcgpu/exec/pcgpu "$PREFIX/bin/pcgpu"
