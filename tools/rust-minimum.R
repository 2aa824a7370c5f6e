# Prints the oldest Rust that the package needs, from the crates that src/rust/Cargo.lock pins. Fails if DESCRIPTION or
# README.md names another.
#
#   Rscript tools/rust-minimum.R MANIFEST        MANIFEST: src/rust/Cargo.toml
#
# Clippy holds our own sources to `rust-version` of src/rust/Cargo.toml (incompatible_msrv); tools/lint builds with that
# Rust if it is installed.
manifest <- commandArgs(trailingOnly = TRUE)[1L]

# Returns the largest rust-version of the crates that are linked in: all that "pcgpu" needs, except for its tests.
needed <- function(target) {
  metadata <- jsonlite::fromJSON(
    system2(
      "cargo",
      c("metadata", "--format-version", "1", "--locked", "--filter-platform", target, "--manifest-path", manifest),
      stdout = TRUE
    ),
    simplifyVector = FALSE
  )
  nodes <- metadata$resolve$nodes
  names(nodes) <- vapply(nodes, `[[`, "", "id")
  packages <- metadata$packages
  names(packages) <- vapply(packages, `[[`, "", "id")
  linked <- names(Filter(function(package) package$name == "pcgpu", packages))
  front <- linked
  # cargo also lists what a feature would bring on other platforms; on this target, such a crate has no dep_kinds.
  while (length(front)) {
    deps <- unlist(lapply(nodes[front], `[[`, "deps"), recursive = FALSE)
    normal <- Filter(function(dep) any(vapply(dep$dep_kinds, function(kind) !identical(kind$kind, "dev"), NA)), deps)
    front <- setdiff(vapply(normal, `[[`, "", "pkg"), linked)
    linked <- c(linked, front)
  }
  versions <- unlist(lapply(unname(packages[linked]), `[[`, "rust_version"))
  format(max(numeric_version(unname(versions))))
}

own <- sub('.*"(.*)".*', "\\1", grep("^rust-version = ", readLines(manifest), value = TRUE))
oldest <- sub("^(1\\.[0-9]+).*", "\\1", format(max(numeric_version(c(own, needed("x86_64-unknown-linux-gnu"))))))
cat(oldest, "\n", sep = "")

says <- function(file, pattern) {
  text <- paste(readLines(file), collapse = " ")
  hit <- regmatches(text, regexec(pattern, text))[[1L]][2L]
  if (is.na(hit) || hit != oldest) {
    stop(sprintf("%s says %s where the crates need %s (/%s/)", file, hit, oldest, pattern), call. = FALSE)
  }
}
says("DESCRIPTION", "rustc \\(>= ([0-9.]+)")
says("README.md", "Rust \\(([0-9.]+) or newer")
