#' Run pcalg on pcgpu
#'
#' Replaces pcalg's functions `pc()`, `skeleton()`, `fci()`, `rfci()`, `fciPlus()`, `pdsep()`, `udag2pag()`,
#' `pcSelect()`, `pcSelect.presel()`, `gaussCItest()`, `disCItest()` and `binCItest()` with those of this package, for
#' this session. Scripts that use pcalg run unchanged. The functions are replaced
#' - in pcalg itself, so that for instance `dag2pag()` orients by pcgpu;
#' - in packages that import them from pcalg, loaded before or after, such as BiDAG, micd, kpcalg and causalDisco;
#' - on the search path.
#'
#' `use_in_pcalg(FALSE)` restores pcalg's own functions, and so does unloading pcgpu. Copies that a script made before
#' (`f <- pcalg::pc`) stay pcalg's.
#'
#' The differences from pcalg that [pc()] lists hold for these calls, too. The defaults are this package's: `numCores`
#' is all threads (1 in pcalg), and `fciPlus()` prints nothing without `verbose`. pcalg's functions get a `pcAlgo` for
#' any number of variables, whereas [pc()] itself returns a [pcCompact][pcCompact-class] for more than 20,000.
#'
#' @param on `TRUE` to use this package's functions, `FALSE` to restore pcalg's.
#' @return Invisibly, whether this package's functions were in use before.
#'
#'   If pcalg is not installed, the error has the class `pcgpu_error_no_pcalg`; others have the class
#'   `pcgpu_error_argument`.
#' @seealso [pc()] for what differs from pcalg, [as_pcalg()]; `vignette("from-pcalg-to-pcgpu", package = "pcgpu")`.
#' @examplesIf requireNamespace("pcalg", quietly = TRUE)
#' use_in_pcalg()
#' x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)
#' # This is pcgpu's:
#' pcalg::fci(suff_gauss(x), pcalg::gaussCItest, alpha = 0.05, labels = colnames(x))
#' use_in_pcalg(FALSE)
#' @export
use_in_pcalg <- function(on = TRUE) {
  on <- check_flag(on, "on")
  if (!requireNamespace("pcalg", quietly = TRUE)) {
    abort(
      "no_pcalg",
      paste(
        "use_in_pcalg() needs the package pcalg, which is not installed:",
        "install it with BiocManager::install(\"pcalg\"), or call pcgpu's functions directly."
      )
    )
  }
  was_on <- identical(getExportedValue("pcalg", "pc"), pc)
  if (on != was_on) {
    if (on) {
      session$pcalg <- mget(replaced_in_pcalg, envir = asNamespace("pcalg"))
      session$in_pcalg <- mget(replaced_in_pcalg, envir = topenv())
      replace_functions(session$pcalg, session$in_pcalg)
    } else {
      replace_functions(session$in_pcalg, session$pcalg)
    }
  }
  invisible(was_on)
}

replaced_in_pcalg <- c(
  "pc",
  "skeleton",
  "fci",
  "rfci",
  "fciPlus",
  "pdsep",
  "udag2pag",
  "pcSelect",
  "pcSelect.presel",
  "gaussCItest",
  "disCItest",
  "binCItest"
)

# Binds each name to the function in `new` wherever it is bound to that in `old`. Both are named lists.
replace_functions <- function(old, new) {
  namespaces <- lapply(setdiff(loadedNamespaces(), c("base", "pcgpu")), asNamespace)
  # A namespace's parent holds what it imports.
  places <- c(list(asNamespace("pcalg")), lapply(namespaces, parent.env))
  if ("package:pcalg" %in% search()) {
    places <- c(places, as.environment("package:pcalg"))
  }
  for (place in places) {
    for (name in names(new)) {
      if (identical(get0(name, envir = place, inherits = FALSE), old[[name]])) {
        rebind(name, new[[name]], place)
      }
    }
  }
}

rebind <- function(name, value, place) {
  locked <- bindingIsLocked(name, place)
  if (locked) {
    unlockBinding(name, place)
    on.exit(lockBinding(name, place))
  }
  assign(name, value, envir = place)
}

# Returns whether `fun` is pcalg's function of that name: its current one, or the original that use_in_pcalg() has put
# aside.
is_pcalgs <- function(fun, name) {
  isNamespaceLoaded("pcalg") &&
    (identical(fun, getExportedValue("pcalg", name)) || identical(fun, session$pcalg[[name]]))
}
