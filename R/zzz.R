.onLoad <- function(libname, pkgname) {
  session$process <- Sys.getpid()
  # At load time, because pcalg may be installed or removed after this package was built.
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
  setHook(packageEvent("causalDisco", "onLoad"), after_disco)
  if (isNamespaceLoaded("causalDisco")) {
    after_disco()
  }
}

.onAttach <- function(libname, pkgname) {
  if (has_pcalg() && !isNamespaceLoaded("pcalg")) {
    class_on_demand(as.environment(paste0("package:", pkgname)))
  }
  masks_others()
}

.onUnload <- function(libpath) {
  if (isNamespaceLoaded("pcalg") && !is.null(session$pcalg)) {
    use_in_pcalg(FALSE)
  }
  drop_hooks()
  # Frees the GPU memory of this process.
  rust_release()
  library.dynam.unload("pcgpu", libpath)
}

# Wraps functions that copy data or make large results in R, so that R's own out-of-memory error gets our class.
for (function_name in c(
  "causal_effects",
  "compare_graphs",
  "compare_groups",
  "cstar",
  "gauss_moments",
  "markov_check",
  "q_values",
  "random_dag",
  "random_data",
  "select_features",
  "stability",
  "suff_discrete",
  "suff_gauss",
  "suff_knn",
  "write_pcgpu_file"
)) {
  function_made <- get(function_name)
  body(function_made) <- call("with_room_for_data", body(function_made))
  assign(function_name, function_made)
}
rm(function_name, function_made)
