# Functions of one name in two attached packages: the package that was attached last has its function found first. R lists such names while it
# attaches a package, in a line that most readers skip. For packages that are often used along with this one, we add what to write instead.

# Packages with functions of our names (edges, neighbours, skeleton, p_value, pc and so on). Which names clash is looked up in the package that is attached.
sharing_names <- c("bnlearn", "caugi", "dagitty", "igraph", "micd", "parameters", "pcalg", "S4Vectors", "tidygraph")

# Those whose functions ours replace on purpose, argument by argument: nothing is lost where ours come first.
replaced_on_purpose <- c("micd", "pcalg")

# Our exports of which an attached package has another function. A function that both import from a third is no clash.
clashes_with <- function(package) {
  theirs <- as.environment(paste0("package:", package))
  is_another <- function(name) {
    found <- get0(name, envir = theirs, inherits = FALSE)
    is.function(found) && !identical(found, getExportedValue("pcgpu", name))
  }
  Filter(is_another, intersect(getNamespaceExports("pcgpu"), ls(theirs)))
}

# The hook that R runs once a package of `sharing_names` is attached. Says once a session which of our functions it masks.
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

# As pcgpu itself is attached: whose functions it masks.
masks_others <- function() {
  for (package in setdiff(sharing_names, replaced_on_purpose)) {
    if (paste0("package:", package) %in% search() && length(names <- sort(clashes_with(package)))) {
      packageStartupMessage(sprintf("pcgpu now masks %s of %s: write %s::%s() to call the masked function.", enumerate(paste0(names, "()")), package, package, names[1L]))
    }
  }
}

watch_attached <- function() for (package in sharing_names) setHook(packageEvent(package, "attach"), after_attach)

# Takes our hooks away, and leaves those of others.
drop_hooks <- function() {
  drop <- function(event, hook) setHook(event, Filter(function(other) !identical(other, hook), getHook(event)), "replace")
  for (package in sharing_names) drop(packageEvent(package, "attach"), after_attach)
  drop(packageEvent("pcalg", "onLoad"), after_pcalg)
}
