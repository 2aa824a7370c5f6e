#' pcgpu: the PC algorithm, exact and fast
#'
#' Learns causal structure from data by the PC algorithm. Returns the answers of the package pcalg, hundreds of times
#' faster. No GPU is needed. Start with [pc()] and [suff_gauss()]; [use_in_pcalg()] makes pcalg itself run on this
#' package.
#'
#' The rows of the data must be independent observations: no repeated measures of one subject, no cells of the same
#' patients as samples, and of a time series its [lagged()] columns. Cyclic graphs and score-based search are not covered. *What the data must be* in
#' [pc()] names packages for these cases.
#'
#' Names that other packages mask:
#' - `library(pcalg)` after `library(pcgpu)` masks `pc()`, `skeleton()`, `pcSelect()`, `gaussCItest()`, `disCItest()`
#'   and `binCItest()` of this package. Load pcgpu last, write `pcgpu::pc()`, or call [use_in_pcalg()]. Bioconductor's
#'   S4Vectors, which comes with SummarizedExperiment, has a `pc()`, too.
#' - `library(igraph)` after `library(pcgpu)` masks `edges()`, with a message. Use [edge_table()], a name that no other
#'   package has.
#'
#' [pcgpu-lifecycle] lists the stable and experimental parts, and explains deprecation.
#'
#' # Options
#'
#' - `options(pcgpu.threads = )` and the environment variable `PCGPU_NUM_THREADS`: number of threads if `numCores` is
#'   left out. The argument takes precedence, then the option, then the variable. The default is all cores (one in a
#'   forked process).
#' - `options(pcgpu.progress = )`: show a progress bar? By default, only in interactive sessions.
#' - `options(pcgpu.cluster_silence = )`: seconds of silence after which a worker of a `cluster` that has work counts as
#'   lost (3600).
#' - `options(pcgpu.cluster_folder = )`: a folder that the workers of a `cluster` can see. `options(pcgpu.cluster_wait =
#'   , pcgpu.cluster_workers = )`: settings for workers that are jobs. See *On a cluster* in [pc_control()].
#'
#' # Conditions
#'
#' Conditions have classes, so that [tryCatch()] and [withCallingHandlers()] can catch one kind or all. To continue
#' after a warning without showing it: `withCallingHandlers(..., pcgpu_warning_names = function(w)
#' tryInvokeRestart("muffleWarning"))`.
#'
#' **Errors** have the class `pcgpu_error`, and `pcgpu_error_` followed by
#'
#' | | when | what to do |
#' |:--|:--|:--|
#' | `argument` | an argument is wrong | see the message |
#' | `test` | `indepTest`, an R function, failed | fix that function |
#' | `level0` | [p_value()] for a pair that level 0 of a compact result removed | give `suffStat` |
#' | `overflow` | a pair has more than 2^63 tests | smaller `m.max` or `alpha` |
#' | `numeric` | a test has no p-value | see the message |
#' | `memory` | not enough memory | see the message |
#' | `checkpoint` | `checkpoint` is from another search, damaged, or cannot be written, or the data cannot be compared with it | see the message |
#' | `knowledge` | the graph contradicts the knowledge given to [add_knowledge()] | see the message |
#' | `time_limit` | not even level 0 was completed in time | more seconds |
#' | `package` | a suggested package is missing | install it |
#' | `no_pcalg` | `use_in_pcalg()` without pcalg | install pcalg |
#' | `internal` | a bug of this package | report it, with `pcgpu_info()` |
#' | `cluster` | workers cannot be used, or none is left | see the message |
#' | `device` | the GPU that you named cannot be used (the classes below say why) | see below, or `device = "cpu"` |
#' | `device_no_driver` | no NVIDIA driver | install it |
#' | `device_old_driver` | the driver is older than CUDA 12.0 | update it |
#' | `device_no_device` | the driver finds no GPU | see `pcgpu_devices()` |
#' | `device_old_device` | below compute capability 7.5 | another GPU |
#' | `device_no_unified` | the GPU has no unified memory | leave out `memory = "unified"` |
#' | `device_busy` | another process uses the GPU exclusively | wait, or use another GPU |
#' | `device_out_of_memory` | too little memory on the GPU | see the message |
#' | `device_forked` | this process was forked | start workers by `parallel::makePSOCKcluster()` |
#' | `device_failed` | the GPU or its driver failed | call again, or restart R |
#' | `file_unreadable` | a data file does not exist or cannot be read | see the message |
#' | `file_unwritable` | a file cannot be written | another path, or more free space |
#' | `file_foreign` | a file is not a data file, or not one of PLINK | use a file of [write_pcgpu_file()], or for [plink_bed()] a `.bed` file |
#' | `file_version` | a data file is from another version | write it again |
#' | `file_truncated` | the end of a data file is missing | copy it again |
#' | `file_damaged` | the content of a data file has changed since it was written | write it again |
#' | `file_changed` | a data file is not the expected one | see the message |
#'
#' Their fields are:
#' - `argument`: `argument`, `value` and `hint`;
#' - `test`: `x`, `y`, `S` (the test that failed) and `parent` (the original condition). The error also has the classes
#'   of the original;
#' - `level0`: `a` and `b`;
#' - `numeric`: `x`, `y`, `S`;
#' - `overflow`: `x`, `y`, `level` and `candidates`;
#' - `memory`: `bytes` (required; `NULL` if an allocation of R itself failed), `available` (`NULL` if it is not known),
#'   `what` and `hint`;
#' - `package`: `package`;
#' - `checkpoint`: `reason` (`"arguments"`, `"version"`, `"damaged"`, `"other_file"`, `"read"`, `"write"` or
#'   `"unreadable"`), `file`, `what` and `hint`;
#' - `time_limit`: `seconds`;
#' - `knowledge`: `reason` (`"no_edge"`, `"reversed"`, `"forbidden"`, `"not_maximal"` or `"invalid"`) and `arrow`;
#' - `cluster`: `what` and `hint`;
#' - each `device_...`: `what` and `hint`. It also has the class `pcgpu_error_device`;
#' - each `file_...`: `path`, `what` and `hint`. It also has the class `pcgpu_error_file`.
#'
#' After any error, further calls work as usual.
#'
#' **Warnings** have the class `pcgpu_warning`, and `pcgpu_warning_` followed by
#'
#' | | when | what to do |
#' |:--|:--|:--|
#' | `names` | `labels`, or the names of an argument, differ from those of the data or graph; or a graph cannot have the names of the data | use the names of the data, or `unname()` the argument |
#' | `level0` | [as_pcalg()] does not know p-values of level 0 | give `suffStat` |
#' | `alpha` | `alpha` is not between 0 and 1 | a level such as 0.01 |
#' | `constant` | a column is constant | drop it |
#' | `p_value` | a function as `indepTest` returned a number below 0 or above 1 | return the p-value |
#' | `indefinite` | correlations are not positive semi-definite | `nearest = TRUE`, another `correlation`, or `use = "complete.obs"` |
#' | `bound` | polychoric correlations are at their bound | merge rare levels |
#' | `too_few` | too few observations for discrete tests, or too few rows without missing values | merge levels, drop columns with few values, smaller `m.max` |
#' | `no_answer` | tests returned `NA`, and `NAdelete` decided | see the message, drop constants |
#' | `levels` | a column has more levels than can be tested, or is text that is mostly numbers | see the message |
#' | `dependent` | columns are linear combinations of others | leave out one column of each group |
#' | `unique` | a feature has a different level in every row | leave it out, fewer `bins` |
#' | `false_edges` | no threshold of [stability()] has the bound `false_edges` | a larger bound, or a smaller `alpha` |
#' | `rules` | [udag2pag()] applies the rules R5 to R7 together with `jci` | `FALSE` for these `rules` |
#' | `sparse` | too few observations for so many levels | fewer `bins`, merge levels |
#' | `time_limit` | the time limit stopped the search | see [run_details()] |
#' | `checkpoint` | the last checkpoint could not be written | free space on the disk |
#' | `test` | `indepTest` raised this warning on workers of a `cluster` | see the message |
#'
#' Their fields are:
#' - `names`: `argument`;
#' - `alpha`: `alpha`;
#' - `constant`, `levels`, `unique`: `columns`;
#' - `dependent`: `columns`, a list with a vector for each group;
#' - `indefinite`: `least`, the least eigenvalue;
#' - `p_value`: `value`, `x`, `y` and `S`;
#' - `too_few`: `count`, a number of edges;
#' - `no_answer`: `count`, a number of edges, or of what the message names;
#' - `sparse`: `cells`;
#' - `time_limit`: `level` (the last completed one) and `seconds`;
#' - `checkpoint`: `file`;
#' - `test`: `count`, the number of occurrences. The warning also has the classes of the original.
#'
#' **Messages** have the class `pcgpu_message`, and `pcgpu_message_` followed by
#'
#' | | when | what to do |
#' |:--|:--|:--|
#' | `fallback` | `"auto"` cannot use the GPU of this machine | see the message (shown once for each reason) |
#' | `lost` | one of several devices, or a worker, failed or has too little memory, and others did its work | see the message |
#' | `cpu_idle` | `device` has `"cpu"` and GPUs, for a test that GPUs run alone | leave out `"cpu"` |
#' | `cluster` | workers have not started, are still busy when the call ends, or get the data in messages | see the message |
#' | `knowledge` | the data, or `jci`, contradict the background knowledge | check `tiers`, `forbidden`, `required` |
#' | `tiers` | the data are [lagged()] columns, whose tiers are used | nothing, or `tiers` for others |
#' | `gaps` | [lagged()] leaves out rows whose lags fall into gaps of `time` | nothing, or fill the gaps |
#' | `untested` | v-structures over pairs of `fixedGaps`, or triples that [orient()] leaves open for lack of a test | `maj.rule = TRUE`, or give the test |
#' | `pdsep` | the possible-d-sep phase of [fci()] may need many tests | smaller `m.max` or `pdsep.max` |
#' | `jci` | `jci` is given without `contextVars`, or the reverse | give both, see [fci()] |
#' | `test` | `indepTest` raised this message on workers of a `cluster` | see the message |
#' | `data` | data were given instead of a `suffStat`, and this is their test | name `indepTest` for another |
#' | `resumed` | a search resumes from its `checkpoint` | nothing, or delete the file to start again |
#' | `rows` | rows may be the variables | `t(x)`, if they are |
#' | `codes` | whole numbers are taken as continuous | make factors of codes |
#' | `coded` | [causal_effects()] or [cstar()] takes levels as 0 and 1, or as ranks | nothing, or other numbers |
#' | `dates` | dates or times are taken as numbers | nothing, or drop them |
#' | `identifier` | text that differs in every row is left out of a search of data | nothing, or merge levels |
#' | `assay` | the first of several assays is taken | `t(assay(x, name))` for another |
#' | `cpdag` | Rgraphviz draws an invalid CPDAG | see [run_details()] |
#' | `constant` | columns are constant in samples of the rows that [markov_check()] draws | drop them, or a larger `share` |
#' | `graph` | the graph of [causal_effects()] does not match `type`, or that of [markov_check()] cannot be extended to a DAG | see their help |
#'
#' Their fields are:
#' - `fallback`: `reason`;
#' - `knowledge`: `triples` (a, b, c of a -> b <- c, by column) and `count`, or `pairs`;
#' - `tiers`: `tiers`, by the name of the variable;
#' - `gaps`: `rows`, the numbers of the rows of `data`;
#' - `untested`: `count`;
#' - `pdsep`: `tests` and `edges`;
#' - `resumed`: `file`, `level` (how many levels have run) and `within` (whether a part of the next one has);
#' - `cluster`: `worker` (numbers);
#' - `lost`: `device`, `reason` and `failed` (`FALSE` for too little memory);
#' - `cpu_idle`: `device`;
#' - `test`: `count`. The message also has the classes of the original;
#' - `data`: `indepTest` (its name);
#' - `codes`, `constant`, `dates`, `identifier`: `columns`;
#' - `coded`: `levels`, a list with the levels of each column, the first of which has the least number;
#' - `graph`: `type`.
#'
#' @keywords internal
#' @import methods
#' @importFrom graph graphNEL
#' @importClassesFrom graph graph graphNEL attrData renderInfo
#' @importMethodsFrom graph coerce
#' @useDynLib pcgpu, .registration = TRUE
"_PACKAGE"
