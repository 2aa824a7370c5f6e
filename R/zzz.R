.onLoad <- function(libname, pkgname) {
  session$process <- Sys.getpid()
  # Here, and not at build time: pcalg may be installed or removed after this package was built.
  if (!has_pcalg()) {
    define_class(topenv())
  } else if (!isNamespaceLoaded("pcalg")) {
    show_before_pcalg(topenv())
    setHook(packageEvent("pcalg", "onLoad"), after_pcalg)
  } else {
    after_pcalg()
  }
  plot_without_rgraphviz()
  conversions(topenv())
  refuse_as_graph()
  watch_attached()
}

.onAttach <- function(libname, pkgname) {
  if (has_pcalg() && !isNamespaceLoaded("pcalg")) class_on_demand(as.environment(paste0("package:", pkgname)))
  masks_others()
}

.onUnload <- function(libpath) {
  if (isNamespaceLoaded("pcalg") && !is.null(session$pcalg)) use_in_pcalg(FALSE)
  drop_hooks()
  # What the process holds on a GPU.
  rust_release()
  library.dynam.unload("pcgpu", libpath)
}
