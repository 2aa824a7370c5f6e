#' What will stay: stable and experimental parts of pcgpu
#'
#' Which functions, arguments, classes, conditions and files scripts can rely on, and how anything changes.
#'
#' # Versions
#'
#' Versions are semantic, `MAJOR.MINOR.PATCH`. A new patch version fixes errors. A new minor version adds things, may change what is experimental, and may deprecate what is stable. Only a new major version removes what
#' was stable; until 1.0.0, a minor version may, after it was deprecated in the one before. `NEWS.md` (`news(package = "pcgpu")`) lists for each version what breaks, what is deprecated, what is new and what was fixed, and
#' says of the first two what to write instead.
#'
#' # Stages
#'
#' **Stable**: changed only as described above.
#' - [pc()], [skeleton()]: the arguments of pcalg's functions, with their order and defaults, and the answer of pcalg 2.7-12 to them, but for the differences listed in [pc()]. A later pcalg that answers differently is a new
#'   minor version here.
#' - [fci()], [rfci()], [fciPlus()], [pdsep()], [udag2pag()]: likewise, but for `paths`, which pcalg has not.
#' - [orient()]; `device = "auto"`, `"cpu"`, `"cuda"`, `"cuda:N"`; `progress`; and of [pc_control()] `result`, `checkpoint`, `time_limit`, `cluster`, `tiers`, `forbidden` and `required`.
#' - The tests of conditional independence: their arguments, p-values and the elements of `suffStat` that they read. These are [gaussCItest()], [disCItest()], [binCItest()], [chi2CItest()], [mixCItest()], [cmiKnnCItest()],
#'   [mixedCItest()], and for missing values [gaussCItwd()], [disCItwd()], [mixCItwd()], [gaussMItest()], [disMItest()], [mixMItest()]. [suff_gauss()], [suff_discrete()] and [suff_knn()].
#' - [use_in_pcalg()], [as_pcalg()], [edge_table()], its other name [edges()][edge_table] and [neighbours()] with their columns, [sepset()], [p_value()], [run_details()] with the elements that its help names.
#' - The classes `pcAlgo` and `fciAlgo`, which are pcalg's, with their slots.
#' - [pcgpu_devices()] with its columns, [pcgpu_info()]; [write_pcgpu_file()] and [pcgpu_file()], see *Files* below.
#' - That results do not depend on threads, devices or workers; for random numbers, that they depend on the seed and the version alone.
#' - The classes of errors, warnings and messages, and their fields, in [pcgpu-package]. New classes may come, as more special ones of those that are there.
#'
#' **Experimental**: works and is tested, but names, defaults or the form of a result may change in a minor version, with a line in NEWS.
#' - [cuda_device()] and [cpu_device()]: their arguments; `"cuda:all"` and teams with the CPU.
#' - Of `pc_control()`: `parallel_tests`, `context.all`, `context.tier`, `na`.
#' - [stability()], [stability_rows()], [stability_bound()], [averaged_cpdag()], [cstar()], [select_features()], [selection_ensemble()], [ensemble_rows()], [causal_effects()], [markov_check()], [q_values()], [compare_graphs()],
#'   [random_dag()], [random_data()], [cpdag_of()], [plan_search()], [gauss_moments()], and the classes that they return. Their `as.data.frame()` is more likely to stay than the elements of their lists.
#' - [add_knowledge()], beyond what pcalg's `addBgKnowledge()` does.
#' - The class [pcCompact][pcCompact-class]: use functions that read it, such as `edge_table()`, `sepset()` and `p_value()`, rather than slots.
#' - Plots, [plot_cpdag()] among them: what they show, their arguments and look. [as_igraph()], [as_bn()], [as_dagitty()], [caugi_of()] follow the packages that they convert to.
#'
#' **Internal**: may change at any time.
#' - What `pcgpu:::` reaches; the attribute `"pcgpu"` of calls (use `run_details()`); elements that no help page names.
#' - The wording of what is printed, of messages and of errors, but for the words that are pcalg's. Catch conditions by class.
#' - Times, and from where on `device = "auto"` takes a GPU.
#'
#' # Files
#'
#' - Files of [write_pcgpu_file()] have a version. A later pcgpu reads them, or ends with an error of class `pcgpu_error_file_version` that says to write them again.
#' - A `checkpoint` is for the version that wrote it. Another one refuses it, with an error of class `pcgpu_error_checkpoint`.
#' - Files of [write_network()] are in the formats of other programs, whose versions its help names.
#' - Results that `saveRDS()` wrote: a `pcAlgo` is pcalg's. One of another class is for the version that made it: keep its table (`as.data.frame()`), or `as_pcalg()` of it, for longer.
#'
#' # Deprecation
#'
#' What is to go works as before for at least one minor version, with a warning of class `pcgpu_warning_deprecated` that says what to write instead and when it goes; its help page says so, too. After that,
#' its name gives an error of class `pcgpu_error_argument` (an argument) or is gone (a function). Nothing is deprecated today.
#'
#' @name pcgpu-lifecycle
#' @aliases pcgpu_lifecycle
#' @seealso [pcgpu-package] for the classes of conditions; `vignette("from-pcalg-to-pcgpu", package = "pcgpu")`.
NULL
