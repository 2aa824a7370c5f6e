#' pcgpu: the PC algorithm, exact and fast
#'
#' Learns causal structure from data by the PC algorithm, and gives the answer of the package pcalg, hundreds
#' of times sooner. Start with [pc()] and [suff_gauss()]; [use_in_pcalg()] makes pcalg itself run on this package.
#'
#' `library(pcalg)` after `library(pcgpu)` masks `pc()`, `skeleton()`, `gaussCItest()`, `disCItest()` and `binCItest()` of this package: load pcgpu last,
#' write `pcgpu::pc()`, or call [use_in_pcalg()]. Bioconductor's S4Vectors, which comes with SummarizedExperiment, has a `pc()`, too.
#'
#' The rows of the data must be independent observations: no time series, no repeated measures of one subject, no cells of the same patients as samples. Cycles and search by a score are not
#' covered. *What the data must be* in [pc()] says more, and names packages for these. No GPU is needed.
#'
#' `library(igraph)` after `library(pcgpu)` masks `edges()`: [edge_table()] is the name that no other package has. A message says so.
#'
#' [pcgpu-lifecycle] says which parts are stable, and how anything is deprecated.
#'
#' # Options
#'
#' - `options(pcgpu.threads = )` and the environment variable `PCGPU_NUM_THREADS`: number of threads when `numCores` is
#'   left out. The argument comes first, then the option, then the variable, then all cores (one in a forked process).
#' - `options(pcgpu.progress = )`: show a progress bar? Unset: in interactive sessions.
#' - `options(pcgpu.cluster_silence = )`: seconds without a word after which a worker of a `cluster` that has work counts as lost (3600).
#' - `options(pcgpu.cluster_folder = )`: a folder that the workers of a `cluster` see, too; `options(pcgpu.cluster_wait = , pcgpu.cluster_workers = )`: of workers that are jobs. See *On a cluster* in [pc_control()].
#'
#' # Conditions
#'
#' Conditions have classes, so that [tryCatch()] and [withCallingHandlers()] can catch one sort or all. To go on after a warning without
#' showing it: `withCallingHandlers(..., pcgpu_warning_names = function(w) tryInvokeRestart("muffleWarning"))`.
#'
#' **Errors** have the class `pcgpu_error`, and `pcgpu_error_` followed by
#'
#' | | when | what to do |
#' |:--|:--|:--|
#' | `argument` | an argument is wrong | see the message |
#' | `test` | `indepTest`, an R function, failed | fix that function |
#' | `level0` | [p_value()] of a pair that level 0 removed, of a compact result | give `suffStat` |
#' | `overflow` | a pair has more than 2^63 tests | smaller `m.max` or `alpha` |
#' | `numeric` | a test has no p-value | see the message |
#' | `memory` | R can get too little memory | see the message |
#' | `checkpoint` | `checkpoint` is of another search, damaged, or cannot be written, or the data cannot be compared with its own | see the message |
#' | `knowledge` | a graph cannot have what [add_knowledge()] is given | see the message |
#' | `time_limit` | not even level 0 was done by then | more seconds |
#' | `package` | a suggested package is missing | install it |
#' | `no_pcalg` | `use_in_pcalg()` without pcalg | install pcalg |
#' | `internal` | a bug of this package | report it, with `pcgpu_info()` |
#' | `cluster` | workers cannot be used, or none is left | see the message |
#' | `device` | the GPU named cannot be used | one of these, or `device = "cpu"` |
#' | `device_no_driver` | no NVIDIA driver | install it |
#' | `device_old_driver` | the driver is older than CUDA 12.0 | update it |
#' | `device_no_device` | the driver finds no GPU | see `pcgpu_devices()` |
#' | `device_old_device` | below compute capability 7.5 | another GPU |
#' | `device_no_unified` | the GPU has no unified memory | leave out `memory = "unified"` |
#' | `device_busy` | another process has the GPU | wait, or another GPU |
#' | `device_out_of_memory` | too little memory on the GPU | see the message |
#' | `device_forked` | this process was forked | `parallel::makePSOCKcluster()` |
#' | `device_failed` | the GPU or its driver failed | call again, or restart R |
#' | `file_unreadable` | a data file is not there, or cannot be read | see the message |
#' | `file_unwritable` | a file cannot be written | another path, or room |
#' | `file_foreign` | a file is no data file | one of [write_pcgpu_file()] |
#' | `file_version` | a data file is of another version | write it anew |
#' | `file_truncated` | the end of a data file is missing | copy it again |
#' | `file_damaged` | what a data file holds is not what was written | write it anew |
#' | `file_changed` | a data file is not the one that was meant | see the message |
#'
#' `argument` has the fields `argument`, `value` and `hint`; `test` has `x`, `y`, `S` (the test that failed) and `parent` (the original condition, whose
#' classes it has, too); `level0` has `a` and `b`; `numeric` has `x`, `y`, `S`; `overflow` has `x`, `y`, `level` and `candidates`; `memory` has `bytes` (wanted; `NULL` where an allocation of R's own failed),
#' `available` (what R can get; `NULL` where that is not known), `what` and `hint`; `package` has `package`; `checkpoint` has `reason` (`"arguments"`,
#' `"version"`, `"damaged"`, `"other_file"`, `"read"`, `"write"` or `"unreadable"`), `file`, `what` and `hint`; `time_limit` has `seconds`; `knowledge` has `reason` (`"no_edge"`, `"reversed"`, `"forbidden"`, `"not_maximal"` or `"invalid"`) and `arrow`;
#' `cluster` has `what` and `hint`; each error
#' of a GPU has the class `pcgpu_error_device` too, and the fields `what` and `hint`; each of a data file the class `pcgpu_error_file` too, and the fields
#' `path`, `what` and `hint`. After any error the next call works.
#'
#' **Warnings** have the class `pcgpu_warning`, and `pcgpu_warning_` followed by
#'
#' | | when | what to do |
#' |:--|:--|:--|
#' | `names` | `labels`, or the names of an argument, are not those of the data or graph; or names of the data cannot be those of a graph | give those, or `unname()` the argument |
#' | `level0` | [as_pcalg()] does not know p-values of level 0 | give `suffStat` |
#' | `alpha` | `alpha` is not between 0 and 1 | a level such as 0.01 |
#' | `constant` | a column is constant | drop it |
#' | `p_value` | a function as `indepTest` returned a number below 0 or above 1 | return the p-value |
#' | `pairwise` | pairwise correlations are not definite | `use = "complete.obs"` |
#' | `too_few` | too few observations for discrete tests, or too few rows without missing values | merge levels, drop columns with few values, smaller `m.max` |
#' | `no_answer` | tests had no answer (`NA`), and `NAdelete` decided | see the message, drop constants |
#' | `levels` | a column has more levels than can be tested, or is text that is mostly numbers | see the message |
#' | `dependent` | columns are linear combinations of others | leave out one of each group |
#' | `unique` | a feature has a level in every row | leave it out, fewer `bins` |
#' | `sparse` | too few observations for so many levels | fewer `bins`, merge levels |
#' | `time_limit` | the search ended before its time | see [run_details()] |
#' | `checkpoint` | the last checkpoint could not be written | room on the disk |
#' | `test` | `indepTest` gave this warning on workers of a `cluster` | see the message |
#'
#' `names` has the field `argument`, `alpha` has `alpha`, `constant`, `levels` and `unique` have `columns`, `dependent` has `columns` (a list with a vector for each group), `p_value` has `value`, `x`, `y` and `S`, `too_few` has `count` (of edges), `no_answer` likewise (of edges, or as the message says), `sparse` has `cells`, `time_limit` has `level` (the last that was done)
#' and `seconds`, `checkpoint` has `file`, `test` has `count` (how often) and the classes of the original.
#'
#' **Messages** have the class `pcgpu_message`, and `pcgpu_message_` followed by
#'
#' | | when | what to do |
#' |:--|:--|:--|
#' | `fallback` | `"auto"` cannot use the GPU that is there | see the message (once a reason) |
#' | `lost` | one of several devices, or a worker, failed or has too little memory, and others did its work | see the message |
#' | `cpu_idle` | `device` has `"cpu"` and GPUs, for a test that GPUs run alone | leave out `"cpu"` |
#' | `cluster` | workers have not begun, or are not done when the call ends | see the message |
#' | `knowledge` | the data, or `jci`, speak against what is known | look at `tiers`, `forbidden`, `required` |
#' | `untested` | v-structures over pairs of `fixedGaps`, or triples that [orient()] leaves open for want of a test | `maj.rule = TRUE`, or give the test |
#' | `jci` | `jci` is given without `contextVars`, or the other way round | give both, see [fci()] |
#' | `test` | `indepTest` gave this message on workers of a `cluster` | see the message |
#' | `data` | data were given in place of `suffStat`, and this is their test | name `indepTest` for another |
#' | `resumed` | a search goes on from its `checkpoint` | nothing, or delete the file to begin anew |
#' | `rows` | rows may be the variables | `t(x)`, if they are |
#' | `codes` | whole numbers are taken as continuous | make factors of codes |
#' | `dates` | dates or times are taken as numbers | nothing, or drop them |
#' | `identifier` | text that differs in every row is left out of a search of data | nothing, or merge levels |
#' | `assay` | the first of several assays is taken | `t(assay(x, name))` for another |
#' | `cpdag` | Rgraphviz draws an invalid CPDAG | see [run_details()] |
#' | `constant` | columns are constant in samples of the rows that [markov_check()] draws | drop them, or a larger `share` |
#' | `graph` | the graph of [causal_effects()] is not what `type` says, or that of [markov_check()] is none that a DAG extends | see there |
#'
#' `fallback` has the field `reason`, `knowledge` has `triples` (a, b, c of a -> b <- c, by column) and `count`, `untested` has `count`, `resumed` has `file`, `level` (how many have run) and `within` (whether a part of the next has), `cluster` has `worker` (numbers), `lost` has `device`, `reason` and `failed` (`FALSE` for too little memory), `cpu_idle` has `device`, `test` has `count` and the classes of the original, `data` has `indepTest` (its name), `codes`, `constant`, `dates` and `identifier` have `columns`, `graph` has `type`.
#'
#' @keywords internal
#' @import methods
#' @importFrom graph graphNEL
#' @importClassesFrom graph graph graphNEL attrData renderInfo
#' @importMethodsFrom graph coerce
#' @useDynLib pcgpu, .registration = TRUE
"_PACKAGE"
