#' Stable and experimental parts of pcgpu
#'
#' Lists the functions, arguments, classes, conditions and files on which scripts can rely, and explains how they may
#' change.
#'
#' # Versions
#'
#' Version numbers are semantic, `MAJOR.MINOR.PATCH`.
#' - A new patch version fixes errors.
#' - A new minor version adds features, may change experimental ones, and may deprecate stable ones.
#' - Only a new major version removes stable features. Until 1.0.0, a minor version may remove them if the previous one
#'   has deprecated them.
#'
#' `NEWS.md` (`news(package = "pcgpu")`) lists for each version the breaking changes, deprecations, new features and
#' fixes. For breaking changes and deprecations it says what to write instead.
#'
#' # Stages
#'
#' **Stable**: changed only as described above.
#' - [pc()], [skeleton()]: the arguments of pcalg's functions, with their order and defaults, and the answers of pcalg
#'   2.7-12, except for the differences listed in [pc()]. If a later pcalg answers differently, a new minor version
#'   follows it.
#' - [fci()], [rfci()], [fciPlus()], [pdsep()], [udag2pag()]: the same, except `paths`, which pcalg does not have.
#' - [pcSelect()], [pcSelect.presel()], [mcor()]: the arguments of pcalg's functions and the answers of pcalg 2.7-12,
#'   except for the differences listed there.
#' - [orient()]; `device = "auto"`, `"cpu"`, `"cuda"`, `"cuda:N"`; `progress`.
#' - Arguments of [pc_control()]: `result`, `checkpoint`, `time_limit`, `cluster`, `tiers`, `forbidden` and `required`.
#' - The tests of conditional independence: their arguments, p-values and the elements of `suffStat` that they read.
#'   These are [gaussCItest()], [disCItest()], [binCItest()], [chi2CItest()], [mixCItest()], [cmiKnnCItest()],
#'   [mixedCItest()], and for missing values [gaussCItwd()], [disCItwd()], [mixCItwd()], [gaussMItest()], [disMItest()],
#'   [mixMItest()].
#' - [suff_gauss()], [suff_discrete()] and [suff_knn()].
#' - [use_in_pcalg()], [as_pcalg()], [edge_table()], its other name [edges()][edge_table] and [neighbours()] with their
#'   columns, [sepset()], [p_value()], [run_details()] with the elements that its help names.
#' - The classes `pcAlgo` and `fciAlgo`, which are pcalg's, with their slots.
#' - [pcgpu_devices()] with its columns, [pcgpu_info()]; [write_pcgpu_file()] and [pcgpu_file()], see *Files* below.
#' - Results do not depend on threads, devices or workers. Random results depend on the seed and the version alone.
#' - The classes of errors, warnings and messages, and their fields, in [pcgpu-package]. New classes may be added as
#'   subclasses of existing ones.
#'
#' **Experimental**: works and is tested, but names, defaults or the form of a result may change in a minor version,
#' with a line in NEWS.
#' - `correlation`, `weights`, `adjust`, `id`, `sizes` and `nearest` of [suff_gauss()] and [pc_control()].
#' - [rcotCItest()], [rcitCItest()], [ritCItest()], [kciCItest()], [suff_kernel()] and [recommend_test()].
#' - [cuda_device()] and [cpu_device()]: their arguments; `"cuda:all"` and teams with the CPU.
#' - Arguments of `pc_control()`: `parallel_tests`, `context.all`, `context.tier`, `na`.
#' - [stability()], [stability_rows()], [stability_bound()], [averaged_cpdag()], [averaged_pag()], [cstar()],
#'   [select_features()], [selection_ensemble()], [ensemble_rows()], [causal_effects()], [markov_check()], [q_values()],
#'   [compare_graphs()], [compare_groups()], [random_dag()], [random_data()], [cpdag_of()], [dag_of()], [d_separated()],
#'   [plan_search()], [gauss_moments()], [local_pc()],
#'   [markov_blanket()], [plink_bed()], the argument `stable` of [pcSelect()], and the classes that they
#'   return. Their `as.data.frame()` is more likely to stay than the elements of their lists.
#' - [lagged()] and the class that it returns.
#' - The command line of [main()]: its options, exit codes and the fields of its summary.
#' - [add_knowledge()], beyond what pcalg's `addBgKnowledge()` does.
#' - The class [pcCompact][pcCompact-class]: use functions that read it, such as `edge_table()`, `sepset()` and
#'   `p_value()`, rather than slots.
#' - Plots, including [plot_cpdag()] and [autoplot()][autoplot.pcCompact]: their content, arguments and look.
#'   [as_igraph()], [as_bn()], [as_dagitty()], [caugi_of()] and [disco_search()] follow the packages to which they
#'   convert.
#'
#' **Internal**: may change at any time.
#' - Objects reached by `pcgpu:::`; the attribute `"pcgpu"` of calls (use `run_details()`); elements that no help page
#'   names.
#' - The wording of printed output, messages and errors, except pcalg's own words. Catch conditions by class.
#' - Times, and the sizes at which `device = "auto"` chooses a GPU.
#'
#' # Files
#'
#' - Files of [write_pcgpu_file()] have a version. A later pcgpu reads them, or ends with an error of class
#'   `pcgpu_error_file_version` that asks you to write them again.
#' - A `checkpoint` is valid only for the version that wrote it. Other versions refuse it with an error of class
#'   `pcgpu_error_checkpoint`.
#' - Files of [write_network()] are in the formats of other programs; its help names their versions.
#' - Results saved by `saveRDS()`: a `pcAlgo` is pcalg's, a large one only after `as_pcalg()`. Other results are for the
#'   version that made them. To keep them longer, save their table (`as.data.frame()`) or the result of `as_pcalg()`.
#'
#' # Deprecation
#'
#' A deprecated feature works as before for at least one minor version. It raises a warning of class
#' `pcgpu_warning_deprecated` that says what to write instead and when the feature will be removed; its help page says
#' so, too. After removal, a deprecated argument is an error of class `pcgpu_error_argument`, and a deprecated function
#' no longer exists. Nothing is deprecated today.
#'
#' @name pcgpu-lifecycle
#' @aliases pcgpu_lifecycle
#' @seealso [pcgpu-package] for the classes of conditions; `vignette("from-pcalg-to-pcgpu", package = "pcgpu")`.
NULL
