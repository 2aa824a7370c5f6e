#' Run pcalg on pcgpu
#'
#' Puts `pc()`, `skeleton()`, `fci()`, `rfci()`, `fciPlus()`, `pdsep()`, `udag2pag()`, `gaussCItest()`, `disCItest()` and `binCItest()` of this package in the
#' place of pcalg's functions of these names, for this session: in pcalg itself, so that `dag2pag()`, for one, puts its marks with pcgpu; in
#' packages that import them from pcalg, loaded before or after (BiDAG, micd, kpcalg and causalDisco are some); and on the search path.
#' Scripts that use pcalg run unchanged. `use_in_pcalg(FALSE)` puts pcalg's own functions back, and so does unloading pcgpu.
#'
#' Functions that a script has copied to a name of its own before (`f <- pcalg::pc`) stay pcalg's. What [pc()] says of differences from
#' pcalg holds for these calls too; the defaults are this package's, so that `numCores` is all threads where pcalg has 1, and `fciPlus()` prints nothing unless it is asked to. pcalg's
#' functions get a `pcAlgo` for any number of variables, where [pc()] itself gives a [pcCompact][pcCompact-class] beyond 20,000.
#'
#' Some of pcalg's functions look at the class or the slots of what they are given, and would end on a `pcCompact` in an error that does not help:
#' `udag2pdag()`, `udag2pdagRelaxed()`, `udag2pdagSpecial()`, `pc.cons.intern()`, `shd()`, `rmvDAG()`, `opt.target()`, `dsepTest()`, `dsepAMTest()`,
#' `beta.special()` and `beta.special.pcObj()`. They remain pcalg's, but name the conversion first.
#'
#' @param on `TRUE` to use this package's functions, `FALSE` to go back to pcalg's.
#' @return Invisibly, whether they were in use before.
#'
#'   Without pcalg the error has the class `pcgpu_error_no_pcalg`; others have the class `pcgpu_error_argument`.
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
    abort("no_pcalg", paste(
      "use_in_pcalg() needs the package pcalg, which is not installed:",
      "install it with BiocManager::install(\"pcalg\"), or call pcgpu's functions directly."
    ))
  }
  was_on <- identical(getExportedValue("pcalg", "pc"), pc)
  if (on != was_on) {
    if (on) {
      checked <- names(guarded_in_pcalg)
      session$pcalg <- mget(c(replaced_in_pcalg, checked), envir = asNamespace("pcalg"))
      session$in_pcalg <- c(mget(replaced_in_pcalg, envir = topenv()), sapply(checked, guarded, simplify = FALSE))
      replace_functions(session$pcalg, session$in_pcalg)
    } else {
      replace_functions(session$in_pcalg, session$pcalg)
    }
  }
  invisible(was_on)
}

replaced_in_pcalg <- c("pc", "skeleton", "fci", "rfci", "fciPlus", "pdsep", "udag2pag", "gaussCItest", "disCItest", "binCItest")

# Wherever a name is bound to the function in `old`, it is bound to that in `new`. Both are lists by name.
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

# Is this pcalg's function of that name, its own or one that use_in_pcalg() has put aside?
is_pcalgs <- function(fun, name) {
  isNamespaceLoaded("pcalg") &&
    (identical(fun, getExportedValue("pcalg", name)) || identical(fun, session$pcalg[[name]]))
}
