#' Searches a skeleton, and orients it unless `orient` is NULL. `object` is a fresh result, whose slot `sepset` is filled. If `object` is
#' NULL, the result comes in flat arrays.
#' @noRd
rust_search <- function(test, options, orient, engine, callbacks, object) .Call(wrap__rust_search, test, options, orient, engine, callbacks, object)

#' Returns `pMax` of a result in flat arrays, and fills the slot `sepset` of `object`, which must be fresh. These are the p x p parts of
#' pcalg's class. `level0` has the p-values of level 0 as a p x p matrix, or is NULL if they are not known.
#' @noRd
rust_expand <- function(found, level0, object) .Call(wrap__rust_expand, found, level0, object)

#' Checks whether the parts of a result in flat arrays fit together. Returns TRUE, or the name of a part that does not fit.
#' @noRd
rust_check_flat <- function(found) .Call(wrap__rust_check_flat, found)

#' Orients a skeleton from any source, `list(p, edges, sepset)`.
#' @noRd
rust_orient <- function(skeleton, orient, test, alpha, engine, callbacks) .Call(wrap__rust_orient, skeleton, orient, test, alpha, engine, callbacks)

#' Orients a skeleton in flat arrays.
#' @noRd
rust_orient_compact <- function(skeleton, orient, test, alpha, engine, callbacks) .Call(wrap__rust_orient_compact, skeleton, orient, test, alpha, engine, callbacks)

#' Adds background knowledge to a graph. `edges` has p vectors of the j with an arc i -> j. `marks` has p vectors of their marks, or is
#' NULL if all are 1.
#' @noRd
rust_add_knowledge <- function(edges, marks, knowledge, check) .Call(wrap__rust_add_knowledge, edges, marks, knowledge, check)

#' Returns one p-value of pcalg's gaussCItest().
#' @noRd
rust_gauss_p_value <- function(x, y, s, c, n) .Call(wrap__rust_gauss_p_value, x, y, s, c, n)

#' Returns `list(missing, are_binary)` of a vector of integers, logicals or numbers: whether a value is NA or NaN, and whether all others
#' are 0 or 1.
#' @noRd
rust_look_at_codes <- function(x, threads) .Call(wrap__rust_look_at_codes, x, threads)

#' Runs one test of discrete variables: of columns 1 and 2 of the data given all others.
#' @noRd
rust_discrete_test <- function(test) .Call(wrap__rust_discrete_test, test)

#' Returns `list(dm, values, missing)` for the columns of x, which has n rows: the codes, with `names` (or NULL) as column names; each
#' column's different values; and its number of missing values. The values are NULL for a column that has no codes. `factors` says which
#' columns have the numbers of their levels.
#' @noRd
rust_codes <- function(x, n, factors, names, engine) .Call(wrap__rust_codes, x, n, factors, names, engine)

#' Returns the p-value of a kernel test of the columns x and y of its data given all others.
#' @noRd
rust_features_test <- function(test, x, y) .Call(wrap__rust_features_test, test, x, y)

#' Runs one nearest-neighbour test of the columns x and y of its data given all others.
#' @noRd
rust_knn_test <- function(test, x, y, engine) .Call(wrap__rust_knn_test, test, x, y, engine)

#' Returns the p-value of a test of numbers and levels, of the first two of its variables given all others.
#' @noRd
rust_mixed_test <- function(test) .Call(wrap__rust_mixed_test, test)

#' Returns whether C can be used as a correlation matrix: 0 for no, 1 for yes, 2 for yes, but with NA. It must have ones on the diagonal,
#' nothing beyond -1 and 1, and be symmetric, except for rounding.
#' @noRd
rust_is_correlation <- function(c, p, threads) .Call(wrap__rust_is_correlation, c, p, threads)

#' Returns `list(least, largest, missing, n, size, lost, C)`: for each column of x its smallest and largest value and its number of missing
#' values; the number of rows that count, and of independent rows that these are worth; the GPUs that failed; and the correlations. x has n
#' rows. The names become dimnames. C is absent if a column
#' prevents it. With `keep = "data"`, two others replace `lost` and C: `data`, the centred columns, and `varies`, which says which of them
#' vary to the precision of a double. `options` is `list(kind, rows, names, keep, weights, groups, levels, covariates)`, in which the last
#' four may be absent. For such centred data, `kind = "centred"` returns `list(n, C)`, with the same C as from the original
#' data.
#' @noRd
rust_correlation <- function(x, n, options, engine, callbacks) .Call(wrap__rust_correlation, x, n, options, engine, callbacks)

#' Returns a matrix with the robust centre and scale of each column of x, which has n rows, without missing values; for the kinds "ogkQn"
#' and "ogkScaleTau2".
#' @noRd
rust_centres_and_scales <- function(x, n, kind) .Call(wrap__rust_centres_and_scales, x, n, kind)

#' Works as `rust_correlation()` for a sparse matrix of n rows, `list(starts, rows, values)`.
#' @noRd
rust_sparse_correlation <- function(x, n, options, engine, callbacks) .Call(wrap__rust_sparse_correlation, x, n, options, engine, callbacks)

#' Works as `rust_correlation()` with `keep = "data"`, but writes the data to the file `options$path`. The fields of the file replace
#' `data`.
#' @noRd
rust_centred_file <- function(x, n, options, engine, callbacks) .Call(wrap__rust_centred_file, x, n, options, engine, callbacks)

#' Begins moments of rows of p columns. With `complete`, rows with a missing value are left out.
#' @noRd
rust_moments_begin <- function(p, complete) .Call(wrap__rust_moments_begin, p, complete)

#' Adds a block of n rows. Returns `list(least, largest, missing, n)` of the block.
#' @noRd
rust_moments_add <- function(state, x, n, engine) .Call(wrap__rust_moments_add, state, x, n, engine)

#' Returns the moments of all rows so far, see `as_list()`.
#' @noRd
rust_moments_end <- function(state, engine) .Call(wrap__rust_moments_end, state, engine)

#' Joins the moments of several parts of the rows.
#' @noRd
rust_moments_join <- function(parts, engine) .Call(wrap__rust_moments_join, parts, engine)

#' Returns `list(n, left_out, least, largest, missing, C)` of the rows so far, or of a list of moments.
#' @noRd
rust_moments_correlations <- function(moments, names, engine) .Call(wrap__rust_moments_correlations, moments, names, engine)

#' Describes a data file as `described()` does. A given digest must match. With `verify`, checks that the file has the numbers that were
#' written.
#' @noRd
rust_file_look <- function(path, digest, verify, engine, callbacks) .Call(wrap__rust_file_look, path, digest, verify, engine, callbacks)

#' Begins to write a data file.
#' @noRd
rust_file_create <- function(path, n, p, names) .Call(wrap__rust_file_create, path, n, p, names)

#' Writes a block of `rows` rows. Its first cell is in this row and column, counted from 0.
#' @noRd
rust_file_write <- function(file, x, row, column, rows) .Call(wrap__rust_file_write, file, x, row, column, rows)

#' Finishes a data file: gives it its name, and returns its digest.
#' @noRd
rust_file_finish <- function(file, engine) .Call(wrap__rust_file_finish, file, engine)

#' Abandons a data file that is not finished.
#' @noRd
rust_file_give_up <- function(file) .Call(wrap__rust_file_give_up, file)

#' Returns some rows and columns of a file, counted from 1.
#' @noRd
rust_file_read <- function(file, rows, columns) .Call(wrap__rust_file_read, file, rows, columns)

#' Selects features by mutual information.
#' @noRd
rust_select <- function(x, y, options, engine, progress) .Call(wrap__rust_select, x, y, options, engine, progress)

#' Returns the rows of a replicate of n rows, counted from 1.
#' @noRd
rust_ensemble_rows <- function(n, ensemble, replicate, draw) .Call(wrap__rust_ensemble_rows, n, ensemble, replicate, draw)

#' Returns the weakest tests of edges, `list(r, z, start, members)`: the set of edge i is `members[(start[i] + 1):start[i + 1]]`. x:
#' `list(n, numbers, bed)` or `list(C)`; `near`: the neighbours of each variable; `from`, `to`: the edges; n: the sample size of the tests;
#' `most`: the size of the largest sets; `tiers`: a number for each variable, or NULL. Returns the number of tests instead if it is above
#' `bound`.
#' @noRd
rust_weakest <- function(x, near, from, to, n, most, tiers, bound, engine, callbacks) .Call(wrap__rust_weakest, x, near, from, to, n, most, tiers, bound, engine, callbacks)

#' Opens PLINK's files, and returns `list(n, p, samples, markers)`.
#' @noRd
rust_bed_open <- function(path, fam, bim) .Call(wrap__rust_bed_open, path, fam, bim)

#' Returns some rows and columns of genotypes as integers.
#' @noRd
rust_bed_read <- function(x, rows, columns) .Call(wrap__rust_bed_read, x, rows, columns)

#' Correlates targets, the columns of a table, with all columns of x, `list(n, numbers, bed)`. Returns `list(near, constant, missing,
#' infinite)`; `near` has for each target `list(with, r)`, the columns with |r| of at least `least`.
#' @noRd
rust_scan <- function(x, targets, least, engine, callbacks) .Call(wrap__rust_scan, x, targets, least, engine, callbacks)

#' Finds which candidates of each target are its neighbours. x: `list(n, numbers, bed)` or `list(C)`; `candidates`: for each target
#' `list(with, r)`; n: the sample size of the tests; `cutoff`: the |z| up to which a set separates; `most`: the size of the largest sets.
#' @noRd
rust_neighbours <- function(x, candidates, n, cutoff, most, engine, callbacks) .Call(wrap__rust_neighbours, x, candidates, n, cutoff, most, engine, callbacks)

#' Selects candidates in pcalg's order. The arguments are those of `rust_neighbours()`, for one target. Returns `list(left, z)`.
#' @noRd
rust_pc_select <- function(x, candidates, n, cutoff, engine, callbacks) .Call(wrap__rust_pc_select, x, candidates, n, cutoff, engine, callbacks)

#' Runs FCI, RFCI or FCI+, by `fci$algorithm`. `object` is a fresh result, whose slot `sepset` is filled.
#' @noRd
rust_fci <- function(test, options, fci, engine, callbacks, object) .Call(wrap__rust_fci, test, options, fci, engine, callbacks, object)

#' Runs the possible-d-sep phase on a skeleton from any source, as pcalg's `pdsep()` does.
#' @noRd
rust_pdsep <- function(test, options, skeleton, asked, engine, callbacks) .Call(wrap__rust_pdsep, test, options, skeleton, asked, engine, callbacks)

#' Puts marks on a graph that may already have some, as pcalg's `udag2pag()` does.
#' @noRd
rust_orient_pag <- function(amat, p, sepset, asked, engine, callbacks) .Call(wrap__rust_orient_pag, amat, p, sepset, asked, engine, callbacks)

#' Returns the effects of each x on each y: `list(columns, values, own, valid)`. With `smallest`, returns only the smallest absolute value
#' of each pair: `list(smallest, valid)`.
#' @noRd
rust_effects <- function(edges, asked, mcov, engine, callbacks) .Call(wrap__rust_effects, edges, asked, mcov, engine, callbacks)

#' Returns the effects of all x together on each y: `list(columns, values, valid)`.
#' @noRd
rust_joint_effects <- function(edges, asked, mcov, engine, callbacks) .Call(wrap__rust_joint_effects, edges, asked, mcov, engine, callbacks)

#' Summarises each pair of a result of `rust_effects()`: `list(smallest, median, count)`.
#' @noRd
rust_effects_table <- function(found, rows) .Call(wrap__rust_effects_table, found, rows)

#' Returns the CPDAG of a DAG as edges, `list(from, to, directed)`, or NULL if the graph is not a DAG.
#' @noRd
rust_cpdag <- function(edges) .Call(wrap__rust_cpdag, edges)

#' Returns counts that compare each estimated graph with the true one. Graphs are `list(edges, weights)`. With `as_cpdags`, each DAG is
#' replaced by its CPDAG.
#' @noRd
rust_compare <- function(estimates, truth, as_cpdags) .Call(wrap__rust_compare, estimates, truth, as_cpdags)

#' Returns `list(q, count)`: the q-values of `of`, and the number of tests. If p is positive, `values` is a p x p matrix whose upper
#' triangle has the tests. If p is 0, there are `count` tests, and `values` has the known p-values. Values below 0 are not tests.
#' @noRd
rust_q_values <- function(of, values, p, count, by) .Call(wrap__rust_q_values, of, values, p, count, by)

#' Returns questions whose answers a graph implies: `list(x, y, start, members, all, extension)`. `asked` is `list(what, most, seed)`.
#' @noRd
rust_implied <- function(edges, marks, asked) .Call(wrap__rust_implied, edges, marks, asked)

#' Returns the p-values of the chosen questions about p variables. `asked` is as `rust_implied()` returns it.
#' @noRd
rust_p_values <- function(test, p, asked, chosen, alpha, engine, callbacks) .Call(wrap__rust_p_values, test, p, asked, chosen, alpha, engine, callbacks)

#' Returns `list(from, to, weight)` of a random DAG, sorted by head. `shape` is `list(p, model, layers, neighbours, weights, signs)`.
#' @noRd
rust_random_dag <- function(shape, seed) .Call(wrap__rust_random_dag, shape, seed)

#' Returns `list(x, levels)` of data of a DAG `list(p, from, to, weight)` with arrows sorted by head. x is n x p, with levels as 1, 2, ...;
#' `levels` has each variable's number of levels, or 0 for numbers.
#' @noRd
rust_random_data <- function(dag, sample, seed, engine) .Call(wrap__rust_random_data, dag, sample, seed, engine)

#' Returns how often each pair x < y was adjacent, by mark:
#' `list(x, y, forward, backward, undirected, bidirected, replicates, valid, constants, device, tested, kept)`. `test` is as for a search,
#' with the data, or `list(kind = "each", make)`. `make(b)` returns the test of replicate b, from 1. `resampled` is
#' `list(seed, size, replace, n, first, replicates)`.
#' @noRd
rust_stability <- function(test, options, orient, resampled, engine, callbacks) .Call(wrap__rust_stability, test, options, orient, resampled, engine, callbacks)

#' Returns `list(bounds, device)` for the Gaussian test: the smallest absolute effect of each x on each y. It has a row for each y of each
#' x in turn, and a column for each replicate. `effects` is as for `rust_effects()`; with `standardised`, effects are in standard
#' deviations.
#' @noRd
rust_stable_effects <- function(test, options, orient, resampled, effects, engine, callbacks) .Call(wrap__rust_stable_effects, test, options, orient, resampled, effects, engine, callbacks)

#' Returns whether a graph of p vertices is a CPDAG, or, with knowledge, whether it has a DAG. `pairs` are its edges, and `arrows` the
#' directed ones among them. Both are vectors of vertices: x before all y, tails before all heads.
#' @noRd
rust_is_valid_graph <- function(p, pairs, arrows, known) .Call(wrap__rust_is_valid_graph, p, pairs, arrows, known)

#' Removes the files of a checkpoint. This is the last step of a call that has its answer.
#' @noRd
rust_remove_checkpoint <- function(file) .Call(wrap__rust_remove_checkpoint, file)

#' Begins a rank of a search. Returns `list(rank, hello)`: a pointer and its handshake.
#' @noRd
rust_rank_open <- function(test, p, alpha, method, engine) .Call(wrap__rust_rank_open, test, p, alpha, method, engine)

#' Begins a rank of a feature selection. Returns `list(rank, hello)`: a pointer and its handshake. With `automatic`, a GPU that fails
#' leaves its features to the CPU.
#' @noRd
rust_rank_of_features <- function(automatic, engine) .Call(wrap__rust_rank_of_features, automatic, engine)

#' Returns a rank's answer to a message, or NULL if the message needs none.
#' @noRd
rust_rank_answer <- function(rank, message) .Call(wrap__rust_rank_answer, rank, message)

#' Returns the seed of a test's own stream of R's generator "L'Ecuyer-CMRG": six integers. They depend on the seed of the search, the pair
#' and the set, not on the order in which these are given.
#' @noRd
rust_test_stream <- function(seed, x, y, s) .Call(wrap__rust_test_stream, seed, x, y, s)

#' Lets the sockets of these ports send small messages at once. Returns the number of these sockets.
#' @noRd
rust_no_delay <- function(ports) .Call(wrap__rust_no_delay, ports)

#' Makes an empty set of workers for one call.
#' @noRd
rust_workers <- function() .Call(wrap__rust_workers)

#' Adds a worker without a process. Returns the descriptor of its end.
#' @noRd
rust_workers_add <- function(workers) .Call(wrap__rust_workers_add, workers)

#' Starts the process of the worker added last. Returns the process number.
#' @noRd
rust_workers_spawn <- function(workers, program, arguments) .Call(wrap__rust_workers_spawn, workers, program, arguments)

#' Notes that the worker added last was forked from this process.
#' @noRd
rust_workers_forked <- function(workers) .Call(wrap__rust_workers_forked, workers)

#' Sends a worker a message.
#' @noRd
rust_workers_send <- function(workers, worker, message) .Call(wrap__rust_workers_send, workers, worker, message)

#' Returns news from these workers, `list(ranks, messages)`: raw messages, or text if a worker is lost. Waits at most `seconds`.
#' @noRd
rust_workers_receive <- function(workers, of, seconds) .Call(wrap__rust_workers_receive, workers, of, seconds)

#' Closes the connection to a worker.
#' @noRd
rust_workers_cut <- function(workers, worker) .Call(wrap__rust_workers_cut, workers, worker)

#' Ends all workers. Kills those in `at_work`.
#' @noRd
rust_workers_end <- function(workers, at_work) .Call(wrap__rust_workers_end, workers, at_work)

#' Returns a worker's own end, in a process that was started with this descriptor.
#' @noRd
rust_line <- function(descriptor) .Call(wrap__rust_line, descriptor)

#' Returns a worker's own end, in a fork.
#' @noRd
rust_line_of_fork <- function(workers) .Call(wrap__rust_line_of_fork, workers)

#' Waits for a message. Returns it as raw, or NULL once the session is gone.
#' @noRd
rust_line_hear <- function(line) .Call(wrap__rust_line_hear, line)

#' Sends the session a message. Returns whether the session took it.
#' @noRd
rust_line_say <- function(line, message) .Call(wrap__rust_line_say, line, message)

#' Locks a file until the pointer or the process is gone. Returns NULL if the lock cannot be taken.
#' @noRd
rust_lock <- function(path) .Call(wrap__rust_lock, path)

#' Returns the GPUs of this machine, as parallel vectors. With `free`, includes the free memory of all GPUs.
#' @noRd
rust_devices <- function(free) .Call(wrap__rust_devices, free)

#' Returns whether a GPU may be available.
#' @noRd
rust_may_have_gpu <- function() .Call(wrap__rust_may_have_gpu)

#' Releases what this process holds on GPUs.
#' @noRd
rust_release <- function() .Call(wrap__rust_release)

#' Returns the number of cores, for calls that do not name a number of threads.
#' @noRd
rust_cores <- function() .Call(wrap__rust_cores)

#' Describes this build and machine; takes some milliseconds.
#' @noRd
rust_info <- function() .Call(wrap__rust_info)

#' Returns the object with these slots filled in place. The object must be fresh.
#' @noRd
rust_fill_slots <- function(object, slots) .Call(wrap__rust_fill_slots, object, slots)

#' Resumes a jump of R that was stopped on its way through Rust.
#' @noRd
rust_continue_unwind <- function(token) .Call(wrap__rust_continue_unwind, token)

