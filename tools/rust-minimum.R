# The oldest Rust that the package needs, on Linux and on macOS, from the crates that src/rust/Cargo.lock pins; fails where
# DESCRIPTION or README.md say another.
#
#   Rscript tools/rust-minimum.R MANIFEST        MANIFEST: src/rust/Cargo.toml
#
# Prints one version a platform: "linux 1.88.0", "macos 1.82.0". Our own sources are held to `rust-version` of
# src/rust/Cargo.toml by clippy (incompatible_msrv).
manifest <- commandArgs(trailingOnly = TRUE)[1L]

# The largest rust-version of the crates that are linked in: all that "pcgpu" needs, but not for its tests.
needed <- function(target) {
  metadata <- jsonlite::fromJSON(system2("cargo", c(
    "metadata", "--format-version", "1", "--locked", "--filter-platform", target, "--manifest-path", manifest
  ), stdout = TRUE), simplifyVector = FALSE)
  nodes <- metadata$resolve$nodes
  names(nodes) <- vapply(nodes, `[[`, "", "id")
  packages <- metadata$packages
  names(packages) <- vapply(packages, `[[`, "", "id")
  linked <- names(Filter(function(package) package$name == "pcgpu", packages))
  front <- linked
  # cargo lists what a feature of another platform would bring; what is not for this target has no dep_kinds of it.
  while (length(front)) {
    deps <- unlist(lapply(nodes[front], `[[`, "deps"), recursive = FALSE)
    normal <- Filter(function(dep) any(vapply(dep$dep_kinds, function(kind) !identical(kind$kind, "dev"), NA)), deps)
    front <- setdiff(vapply(normal, `[[`, "", "pkg"), linked)
    linked <- c(linked, front)
  }
  versions <- unlist(lapply(unname(packages[linked]), `[[`, "rust_version"))
  format(max(numeric_version(unname(versions))))
}

minor <- function(version) sub("^(1\\.[0-9]+).*", "\\1", version)
found <- vapply(c(linux = "x86_64-unknown-linux-gnu", macos = "aarch64-apple-darwin"), needed, "")
cat(paste0(names(found), " ", found, "\n"), sep = "")

says <- function(file, pattern, version) {
  text <- paste(readLines(file), collapse = " ")
  hit <- regmatches(text, regexec(pattern, text))[[1L]][2L]
  if (is.na(hit) || hit != minor(version)) {
    stop(sprintf("%s says %s where the crates need %s (/%s/)", file, hit, minor(version), pattern), call. = FALSE)
  }
}
says("DESCRIPTION", "rustc \\(>= ([0-9.]+)", found[["linux"]])
says("DESCRIPTION", "on macOS >= ([0-9.]+)", found[["macos"]])
says("README.md", "Rust \\(([0-9.]+) or newer", found[["linux"]])
says("README.md", "on macOS ([0-9.]+)", found[["macos"]])
