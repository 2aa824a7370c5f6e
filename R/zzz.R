.onLoad <- function(libname, pkgname) {
  # Here, and not at build time: pcalg may be installed or removed after this package was built.
  if (!has_pcalg()) {
    define_class(topenv())
  } else if (!isNamespaceLoaded("pcalg")) {
    show_before_pcalg(topenv())
  }
}

.onUnload <- function(libpath) {
  library.dynam.unload("pcgpu", libpath)
}
