# Functions with the same name in two attached packages. R finds the function of the package that was attached last.
# When it attaches a package, R lists such names in a line that most users skip. For packages that are often used along
# with this one, we add how to call the masked function.

# Packages with functions of our names (edges, neighbours, skeleton, p_value, pc and so on). The clashing names are
# looked up in the attached package.
sharing_names <- c(
  "bnlearn",
  "caugi",
  "causalDisco",
  "dagitty",
  "igraph",
  "micd",
  "parameters",
  "pcalg",
  "S4Vectors",
  "tidygraph"
)

# Packages whose functions ours replace on purpose, argument by argument, so that nothing is lost if ours come first.
replaced_on_purpose <- c("micd", "pcalg")

# Returns the names of our exports for which an attached package has another function. A function that both import from
# a third package is no clash.
clashes_with <- function(package) {
  theirs <- as.environment(paste0("package:", package))
  is_another <- function(name) {
    found <- get0(name, envir = theirs, inherits = FALSE)
    is.function(found) && !identical(found, getExportedValue("pcgpu", name))
  }
  Filter(is_another, intersect(getNamespaceExports("pcgpu"), ls(theirs)))
}

# Reports, once in a session, which of our functions a package of `sharing_names` masks. R runs this hook when such a
# package is attached.
after_attach <- function(package, ...) {
  attached <- match(paste0("package:", c(package, "pcgpu")), search())
  is_ours <- package == "pcalg" && !is.null(session$pcalg)
  if (anyNA(attached) || attached[1L] > attached[2L] || is_ours || package %in% session$masked) {
    return(invisible())
  }
  names <- sort(clashes_with(package))
  if (length(names)) {
    session$masked <- c(session$masked, package)
    packageStartupMessage(masked_text(package, names))
  }
}

masked_text <- function(package, names) {
  others <- setdiff(names, "edges")
  remedies <- c(
    if ("edges" %in% names) "edge_table() returns the table of edges",
    if (length(others)) sprintf("write pcgpu::%s(), or attach pcgpu last", if ("pc" %in% others) "pc" else others[1L])
  )
  sprintf("%s now masks %s of pcgpu: %s.", package, enumerate(paste0(names, "()")), paste(remedies, collapse = "; "))
}

# Reports which functions of other packages pcgpu masks when it is attached.
masks_others <- function() {
  for (package in setdiff(sharing_names, replaced_on_purpose)) {
    if (paste0("package:", package) %in% search() && length(names <- sort(clashes_with(package)))) {
      packageStartupMessage(sprintf(
        "pcgpu now masks %s of %s: write %s::%s() to call the masked function.",
        enumerate(paste0(names, "()")),
        package,
        package,
        names[1L]
      ))
    }
  }
}

watch_attached <- function() {
  for (package in sharing_names) {
    setHook(packageEvent(package, "attach"), after_attach)
  }
}

# Removes our hooks and keeps those of others.
drop_hooks <- function() {
  drop <- function(event, hook) {
    setHook(event, Filter(function(other) !identical(other, hook), getHook(event)), "replace")
  }
  for (package in sharing_names) {
    drop(packageEvent(package, "attach"), after_attach)
  }
  drop(packageEvent("pcalg", "onLoad"), after_pcalg)
  drop(packageEvent("causalDisco", "onLoad"), after_disco)
}
