# Writes, for the Rust crates that the package is built from, their authors (inst/AUTHORS), their licences
# (LICENSE.note), and their notices (inst/NOTICES), which must go with the compiled library. The source is cargo's
# metadata and the crates' own files.
#
#   Rscript tools/crates.R MANIFEST            writes them; MANIFEST: src/rust/Cargo.toml
#   Rscript tools/crates.R MANIFEST --check    writes nothing; fails if they are stale
arguments <- commandArgs(trailingOnly = TRUE)
manifest <- arguments[1L]
check <- identical(arguments[2L], "--check")

cargo <- function(...) {
  said <- system2("cargo", c(..., "--locked", "--manifest-path", manifest), stdout = TRUE)
  if (!is.null(attr(said, "status"))) {
    stop("cargo failed", call. = FALSE)
  }
  said
}
packages <- jsonlite::fromJSON(cargo("metadata", "--format-version", "1"), simplifyVector = FALSE)$packages
names(packages) <- vapply(packages, function(package) paste(package$name, package$version), "")
packages <- packages[order(tolower(names(packages)), method = "radix")]

in_tree <- function(...) {
  words <- strsplit(unique(cargo("tree", "--prefix", "none", "--no-dedupe", ...)), " ")
  paste(vapply(words, `[`, "", 1L), sub("^v", "", vapply(words, `[`, "", 2L)))
}
# What tools/vendor packs, except our own crates, which come from no registry.
used <- in_tree("--workspace", "--edges", "normal,build", "--target", "all")
packages <- Filter(function(package) !is.null(package$source), packages[names(packages) %in% used])
# Returns the crates in the library of a platform: normal dependencies. Procedural macros, which run during compilation,
# are left out, with what they need.
linked_on <- function(target) in_tree("--package", "pcgpu", "--edges", "normal,no-proc-macro", "--target", target)
linked <- intersect(names(packages), c(linked_on("x86_64-unknown-linux-gnu"), linked_on("aarch64-apple-darwin")))

# Licences -------------------------------------------------------------------------------------------------------------

# Returns the licence of a crate. If a crate offers a choice of licences, we take MIT, as the package's own.
expression_of <- function(package) gsub("/", " OR ", package$license)
taken <- function(package) {
  given <- expression_of(package)
  if (!grepl(" AND ", given) && "MIT" %in% strsplit(given, " OR ")[[1L]]) "MIT" else given
}

read_text <- function(path) enc2utf8(sub("\\s+$", "", readLines(path, encoding = "UTF-8", warn = FALSE)))

# Returns the file with that licence, or NULL if the crate has none.
licence_file <- function(package) {
  folder <- dirname(package$manifest_path)
  files <- list.files(folder, "^(licen[sc]e|copying)", ignore.case = TRUE)
  own <- files[grepl(taken(package), files, ignore.case = TRUE)]
  whole <- files[tolower(tools::file_path_sans_ext(files)) %in% c("license", "licence", "copying")]
  found <- c(own, whole)
  if (length(found)) file.path(folder, found[1L])
}

is_notice <- function(lines) grepl("^\\s*Copyright\\s+(\\(c\\)|\u00a9|[0-9])", lines, ignore.case = TRUE)
notices <- function(package) {
  file <- licence_file(package)
  if (is.null(file)) {
    return(character())
  }
  lines <- read_text(file)
  trimws(lines[is_notice(lines)])
}

# Texts that differ only in the holders of the rights, and in blanks, appear once, without notices. A text of one crate
# appears as it is.
whole <- list()
text_of <- character()
for (name in linked) {
  file <- licence_file(packages[[name]])
  if (is.null(file)) {
    next
  }
  whole[[name]] <- read_text(file)
  body <- paste(whole[[name]][!is_notice(whole[[name]])], collapse = " ")
  key <- paste(trimws(tolower(gsub("[^A-Za-z0-9]+", " ", body))), taken(packages[[name]]))
  text_of[name] <- sub("^(the )?mit license (mit )?", "", key)
}

# A crate without a text gets the one that most others with its licence have.
without <- setdiff(linked, names(text_of))
for (name in without) {
  others <- text_of[vapply(packages[names(text_of)], taken, "") == taken(packages[[name]])]
  if (!length(others)) {
    stop(name, " has no licence text, and no other crate has one of ", taken(packages[[name]]), call. = FALSE)
  }
  text_of[name] <- names(which.max(table(others)))
}

trim_blank <- function(lines) {
  full <- which(nzchar(lines))
  lines[seq.int(min(full), max(full))]
}

who_holds <- function(name) {
  package <- packages[[name]]
  said <- notices(package)
  if (!length(said)) {
    said <- c(
      if (length(authors_of(package))) paste("Authors:", paste(authors_of(package), collapse = ", ")),
      sprintf("The crate has no notice; its source: %s", package$repository)
    )
  }
  c(sprintf("  %s (%s)", name, expression_of(package)), paste0("    ", said))
}

authors_of <- function(package) {
  written <- unlist(package$authors)
  sub("\\s+\\S+@\\S+$", "", trimws(sub("\\s*<[^>]*>", "", written)))
}

rule <- strrep("-", 80L)
sections <- unlist(lapply(unique(text_of), function(key) {
  members <- sort(names(text_of)[text_of == key], method = "radix")
  text <- whole[[intersect(members, names(whole))[1L]]]
  alone <- length(members) == 1L
  said <- if (alone) {
    sprintf("  %s (%s)", members, expression_of(packages[[members]]))
  } else {
    unlist(lapply(members, who_holds))
  }
  c(rule, "", "For", said, "", trim_blank(if (alone) text else text[!is_notice(text)]), "")
}))
notice_file <- c(
  "Notices and licence texts of the Rust crates that are compiled into pcgpu's library. Of",
  "a choice of licences, MIT is the one that is taken. Written by tools/crates.R.",
  "",
  sections
)

others <- setdiff(names(packages), linked)
listed <- function(names) sprintf("  %s: %s", names, vapply(packages[names], expression_of, ""))
note <- c(
  "pcgpu is under the MIT licence, see the file LICENSE.",
  "",
  "Of the data in inst/extdata, the files acc-*.csv and acc-*.csv.gz are under the Artistic",
  "License 2.0 (Copyright 2019 Marcel Ramos, Levi Waldron and the MultiAssay SIG), and the",
  "files sachs*.csv are in the public domain (CC0 1.0): inst/extdata/README.md has the sources.",
  "",
  "Compiled into its library are Rust's standard library (The Rust Project Developers,",
  "MIT OR Apache-2.0, https://www.rust-lang.org) and these Rust crates, whose notices are",
  "in inst/NOTICES and whose authors are in inst/AUTHORS:",
  "",
  listed(linked),
  "",
  "The source package has an archive of crates, src/rust/vendor.tar.xz, with the licence",
  "texts of each. These are only there, to compile it or for other platforms:",
  "",
  listed(others),
  "",
  "Written by tools/crates.R."
)

# Authors --------------------------------------------------------------------------------------------------------------

authors <- c(
  "The authors of the Rust crates that pcgpu is built from, as the crates name them. The",
  "licences are in the file LICENSE.note of the source package. Written by tools/crates.R.",
  unlist(lapply(names(packages), function(name) {
    package <- packages[[name]]
    # A notice names authors whom newer manifests no longer name.
    from_notices <- sub(
      "^Copyright\\s+(\\(c\\)|\u00a9)?[\\s0-9,-]*",
      "",
      notices(package),
      ignore.case = TRUE,
      perl = TRUE
    )
    known <- authors_of(package)
    if (!length(known)) {
      known <- from_notices[nzchar(from_notices)]
    }
    c(
      "",
      sprintf("%s (version %s):", package$name, package$version),
      paste0("  ", if (length(known)) known else "its contributors", collapse = "\n"),
      sprintf("  %s", package$repository)
    )
  }))
)

write_text <- function(lines, path) {
  file <- file(path, "wb")
  on.exit(close(file))
  writeLines(enc2utf8(lines), file, useBytes = TRUE)
}
stale <- FALSE
files <- list(LICENSE.note = note, "inst/AUTHORS" = authors, "inst/NOTICES" = notice_file)
for (path in names(files)) {
  lines <- unlist(strsplit(paste(files[[path]], collapse = "\n"), "\n", fixed = TRUE))
  if (!check) {
    write_text(lines, path)
  } else if (!file.exists(path) || !identical(enc2utf8(readLines(path, encoding = "UTF-8")), lines)) {
    cat(path, "is stale: run 'make document'\n")
    stale <- TRUE
  }
}
if (stale) {
  quit(status = 1L)
}
