#' Skeleton, and orientation unless `orient` is NULL. `object` is a fresh result, whose slot `sepset` is filled; NULL for flat arrays
#' of what was found.
#' @noRd
rust_search <- function(test, options, orient, engine, callbacks, object) .Call(wrap__rust_search, test, options, orient, engine, callbacks, object)

#' The p x p parts of pcalg's class, of a result in flat arrays: `pMax`, and the slot `sepset` of `object`, which is fresh.
#' `level0`: the p-values of level 0 as a p x p matrix, or NULL where they are not known.
#' @noRd
rust_expand <- function(found, level0, object) .Call(wrap__rust_expand, found, level0, object)

#' Whether the parts of a result in flat arrays go together: TRUE, or the name of one that does not.
#' @noRd
rust_check_flat <- function(found) .Call(wrap__rust_check_flat, found)

#' Orientation of a skeleton from anywhere, `list(p, edges, sepset)`.
#' @noRd
rust_orient <- function(skeleton, orient, test, alpha, engine, callbacks) .Call(wrap__rust_orient, skeleton, orient, test, alpha, engine, callbacks)

#' Orientation of a skeleton in flat arrays.
#' @noRd
rust_orient_compact <- function(skeleton, orient, test, alpha, engine, callbacks) .Call(wrap__rust_orient_compact, skeleton, orient, test, alpha, engine, callbacks)

#' Adds what is known to a graph: `edges` are p vectors of the j with an arc i -> j, `marks` likewise their marks, or NULL where all are 1.
#' @noRd
rust_add_knowledge <- function(edges, marks, knowledge, check) .Call(wrap__rust_add_knowledge, edges, marks, knowledge, check)

#' One p-value of pcalg's gaussCItest().
#' @noRd
rust_gauss_p_value <- function(x, y, s, c, n) .Call(wrap__rust_gauss_p_value, x, y, s, c, n)

#' Whether a value of a vector of integers, logicals or numbers is NA or NaN, and whether all others are 0 or 1.
#' @noRd
rust_look_at_codes <- function(x, threads) .Call(wrap__rust_look_at_codes, x, threads)

#' One test of discrete variables: columns 1 and 2 of the data given all others.
#' @noRd
rust_discrete_test <- function(test) .Call(wrap__rust_discrete_test, test)

#' `list(dm, values, missing)`: the codes of the columns of x, which has n rows, with the names (or NULL) as those of columns, and of each
#' its different values and the number of missing ones; NULL for the values of a column that has no codes. `factors`: by column, whether
#' it has the numbers of its levels.
#' @noRd
rust_codes <- function(x, n, factors, names, engine) .Call(wrap__rust_codes, x, n, factors, names, engine)

#' One nearest-neighbour test of the columns x and y of its data given all others.
#' @noRd
rust_knn_test <- function(test, x, y, engine) .Call(wrap__rust_knn_test, test, x, y, engine)

#' p of a test of numbers and levels, of the first two of its variables given all others.
#' @noRd
rust_mixed_test <- function(test) .Call(wrap__rust_mixed_test, test)

#' Whether C may be used as it is: ones on the diagonal, nothing beyond -1 and 1, symmetric, but for rounding and NA. 0: no, 1: yes, 2: with NA.
#' @noRd
rust_is_correlation <- function(c, p, threads) .Call(wrap__rust_is_correlation, c, p, threads)

#' `list(least, largest, missing, n)` of the columns of x, which has n rows; `complete`: of the rows without missing values, whose
#' number is the last.
#' @noRd
rust_summary <- function(x, n, complete, engine) .Call(wrap__rust_summary, x, n, complete, engine)

#' `list(least, largest, missing, n, lost, C)`: as `rust_summary()`, which GPUs failed, and the correlations of the columns of x, which has n rows, with the names as
#' dimnames; NULL where there are none for a column. In place of C with `keep = "data"`: `data`, the columns less their means, and
#' `varies`, which of them vary to the precision of a double. From `options = list(kind, rows, names, keep)`; of such data, `kind =
#' "centred"` gives `list(n, C)` with the C that there would have been.
#' @noRd
rust_correlation <- function(x, n, options, engine, callbacks) .Call(wrap__rust_correlation, x, n, options, engine, callbacks)

#' `rust_correlation()` of a sparse matrix of n rows, `list(starts, rows, values)`.
#' @noRd
rust_sparse_correlation <- function(x, n, options, engine, callbacks) .Call(wrap__rust_sparse_correlation, x, n, options, engine, callbacks)

#' As `rust_correlation()` with `keep = "data"`, of which the data go to the file `options$path`, and in their place come the fields of the file.
#' @noRd
rust_centred_file <- function(x, n, options, engine, callbacks) .Call(wrap__rust_centred_file, x, n, options, engine, callbacks)

#' Moments of rows of p columns that are to come; `complete`: rows that miss a value are left out.
#' @noRd
rust_moments_begin <- function(p, complete) .Call(wrap__rust_moments_begin, p, complete)

#' Adds a block of n rows. Returns `list(least, largest, missing, n)` of it.
#' @noRd
rust_moments_add <- function(state, x, n, engine) .Call(wrap__rust_moments_add, state, x, n, engine)

#' The moments of all rows that came, see `as_list()`.
#' @noRd
rust_moments_end <- function(state, engine) .Call(wrap__rust_moments_end, state, engine)

#' Moments of several parts of the rows as one.
#' @noRd
rust_moments_join <- function(parts, engine) .Call(wrap__rust_moments_join, parts, engine)

#' `list(n, left_out, least, largest, missing, C)` of what has come, or of a list of lists.
#' @noRd
rust_moments_correlations <- function(moments, names, engine) .Call(wrap__rust_moments_correlations, moments, names, engine)

#' What a data file is, see `described()`: one that has the digest, where that is given, and with `verify` the numbers that were written.
#' @noRd
rust_file_look <- function(path, digest, verify, engine, callbacks) .Call(wrap__rust_file_look, path, digest, verify, engine, callbacks)

#' A data file in the making.
#' @noRd
rust_file_create <- function(path, n, p, names) .Call(wrap__rust_file_create, path, n, p, names)

#' Writes a block of so many rows, whose first cell is in this row and column, from 0.
#' @noRd
rust_file_write <- function(file, x, row, column, rows) .Call(wrap__rust_file_write, file, x, row, column, rows)

#' Gives a file in the making its name; returns its digest.
#' @noRd
rust_file_finish <- function(file, engine) .Call(wrap__rust_file_finish, file, engine)

#' Gives up a file in the making.
#' @noRd
rust_file_give_up <- function(file) .Call(wrap__rust_file_give_up, file)

#' Some rows and columns, from 1, of a file.
#' @noRd
rust_file_read <- function(file, rows, columns) .Call(wrap__rust_file_read, file, rows, columns)

#' Feature selection by mutual information.
#' @noRd
rust_select <- function(x, y, options, engine, progress) .Call(wrap__rust_select, x, y, options, engine, progress)

#' The rows of a replicate of n, from 1.
#' @noRd
rust_ensemble_rows <- function(n, ensemble, replicate, draw) .Call(wrap__rust_ensemble_rows, n, ensemble, replicate, draw)

#' FCI, RFCI or FCI+, by `fci$algorithm`. `object` is a fresh result, whose slot `sepset` is filled.
#' @noRd
rust_fci <- function(test, options, fci, engine, callbacks, object) .Call(wrap__rust_fci, test, options, fci, engine, callbacks, object)

#' The possible-d-sep phase on a skeleton from anywhere: pcalg's `pdsep()`.
#' @noRd
rust_pdsep <- function(test, options, skeleton, asked, engine, callbacks) .Call(wrap__rust_pdsep, test, options, skeleton, asked, engine, callbacks)

#' Puts marks on a graph that may have some: pcalg's `udag2pag()`.
#' @noRd
rust_orient_pag <- function(amat, p, sepset, asked, engine, callbacks) .Call(wrap__rust_orient_pag, amat, p, sepset, asked, engine, callbacks)

#' The effects of each x on each y: `list(columns, values, own, valid)`; with `smallest` only the smallest absolute value of each pair:
#' `list(smallest, valid)`.
#' @noRd
rust_effects <- function(edges, asked, mcov, engine, callbacks) .Call(wrap__rust_effects, edges, asked, mcov, engine, callbacks)

#' The effects of all x together on each y: `list(columns, values, valid)`.
#' @noRd
rust_joint_effects <- function(edges, asked, mcov, engine, callbacks) .Call(wrap__rust_joint_effects, edges, asked, mcov, engine, callbacks)

#' What is said of each pair of a result of `rust_effects()`: `list(smallest, median, count)`.
#' @noRd
rust_effects_table <- function(found, rows) .Call(wrap__rust_effects_table, found, rows)

#' The CPDAG of a DAG, by edges: `list(from, to, directed)`; NULL for what is no DAG.
#' @noRd
rust_cpdag <- function(edges) .Call(wrap__rust_cpdag, edges)

#' Counts of each estimated graph beside the true one; graphs as `list(edges, weights)`. `as_cpdags`: DAGs count as their CPDAGs.
#' @noRd
rust_compare <- function(estimates, truth, as_cpdags) .Call(wrap__rust_compare, estimates, truth, as_cpdags)

#' `list(q, count)`: the q-values of `of`, among `values`: a p x p matrix, whose upper triangle counts, or, where p is 0, `count` tests of which `values` are those
#' that are known. Values below 0 are no tests.
#' @noRd
rust_q_values <- function(of, values, p, count, by) .Call(wrap__rust_q_values, of, values, p, count, by)

#' Questions that a graph implies the answers of: `list(x, y, start, members, all, extension)`. `asked`: `list(what, most, seed)`.
#' @noRd
rust_implied <- function(edges, marks, asked) .Call(wrap__rust_implied, edges, marks, asked)

#' p-values of the chosen of such questions about p variables.
#' @noRd
rust_p_values <- function(test, p, asked, chosen, alpha, engine, callbacks) .Call(wrap__rust_p_values, test, p, asked, chosen, alpha, engine, callbacks)

#' `list(from, to, weight)` of a random DAG, by head; `shape`: `list(p, model, layers, neighbours, weights, signs)`.
#' @noRd
rust_random_dag <- function(shape, seed) .Call(wrap__rust_random_dag, shape, seed)

#' Data of a DAG `list(p, from, to, weight)`, arrows by head: `list(x, levels)`, n x p, levels as 1, 2, ..., and of each variable their number, 0 for
#' numbers.
#' @noRd
rust_random_data <- function(dag, sample, seed, engine) .Call(wrap__rust_random_data, dag, sample, seed, engine)

#' `list(x, y, forward, backward, undirected, bidirected, replicates, valid, constants, device)`: how often each pair x < y was adjacent, by mark. `test`:
#' as of a search, with the data; or `list(kind = "each", make)`, where `make(b)` is the test of replicate b, from 1. `resampled`: `list(seed, size,
#' replace, n, first, replicates)`.
#' @noRd
rust_stability <- function(test, options, orient, resampled, engine, callbacks) .Call(wrap__rust_stability, test, options, orient, resampled, engine, callbacks)

#' `list(bounds, device)`: of the Gaussian test, the smallest absolute effect of each x on each y, a row for each y of each x, in turn, and a column for each
#' replicate. `asked`: as of effects; with `standardised`: in standard deviations?
#' @noRd
rust_stable_effects <- function(test, options, orient, resampled, effects, engine, callbacks) .Call(wrap__rust_stable_effects, test, options, orient, resampled, effects, engine, callbacks)

#' Whether the graph of p vertices with these pairs, and the arrows among them, is a CPDAG; with knowledge, whether it has a DAG. All are vectors
#' of vertices: x before all y, tails before all heads.
#' @noRd
rust_is_valid_graph <- function(p, pairs, arrows, known) .Call(wrap__rust_is_valid_graph, p, pairs, arrows, known)

#' Removes the files of a checkpoint: the last step of a call that has its answer.
#' @noRd
rust_remove_checkpoint <- function(file) .Call(wrap__rust_remove_checkpoint, file)

#' Begins a rank: `list(rank, hello)`, a pointer and its first words.
#' @noRd
rust_rank_open <- function(test, p, alpha, method, engine) .Call(wrap__rust_rank_open, test, p, alpha, method, engine)

#' Likewise one of a feature selection; `automatic`: a GPU that fails leaves its features to the CPU.
#' @noRd
rust_rank_of_features <- function(automatic, engine) .Call(wrap__rust_rank_of_features, automatic, engine)

#' What a rank answers to a message; NULL to one that wants no answer.
#' @noRd
rust_rank_answer <- function(rank, message) .Call(wrap__rust_rank_answer, rank, message)

#' The seed of a test's own stream of R's generator "L'Ecuyer-CMRG": six integers that depend on the seed of the search, the pair and the set, in
#' whatever order they are given.
#' @noRd
rust_test_stream <- function(seed, x, y, s) .Call(wrap__rust_test_stream, seed, x, y, s)

#' Has the sockets of these ports send small messages at once: how many there are.
#' @noRd
rust_no_delay <- function(ports) .Call(wrap__rust_no_delay, ports)

#' Workers of one call, none as yet.
#' @noRd
rust_workers <- function() .Call(wrap__rust_workers)

#' Adds a worker without a process: the descriptor of its end.
#' @noRd
rust_workers_add <- function(workers) .Call(wrap__rust_workers_add, workers)

#' Starts the process of the worker added last: its number.
#' @noRd
rust_workers_spawn <- function(workers, program, arguments) .Call(wrap__rust_workers_spawn, workers, program, arguments)

#' The worker added last was forked from this process.
#' @noRd
rust_workers_forked <- function(workers) .Call(wrap__rust_workers_forked, workers)

#' Sends a worker a message.
#' @noRd
rust_workers_send <- function(workers, worker, message) .Call(wrap__rust_workers_send, workers, worker, message)

#' What has come from these workers, `list(ranks, messages)`: raw, or text where one is gone. Waits so many seconds at most.
#' @noRd
rust_workers_receive <- function(workers, of, seconds) .Call(wrap__rust_workers_receive, workers, of, seconds)

#' Closes the connection to a worker.
#' @noRd
rust_workers_cut <- function(workers, worker) .Call(wrap__rust_workers_cut, workers, worker)

#' Ends all workers; those with these numbers are at work, and are killed.
#' @noRd
rust_workers_end <- function(workers, at_work) .Call(wrap__rust_workers_end, workers, at_work)

#' A worker's own end: of a process that was started with this descriptor.
#' @noRd
rust_line <- function(descriptor) .Call(wrap__rust_line, descriptor)

#' A worker's own end: of a fork.
#' @noRd
rust_line_of_fork <- function(workers) .Call(wrap__rust_line_of_fork, workers)

#' Waits for a message: raw; NULL once the session is gone.
#' @noRd
rust_line_hear <- function(line) .Call(wrap__rust_line_hear, line)

#' Sends the session a message: whether it is there.
#' @noRd
rust_line_say <- function(line, message) .Call(wrap__rust_line_say, line, message)

#' A lock on a file, until the pointer or the process is gone; NULL where it cannot be had.
#' @noRd
rust_lock <- function(path) .Call(wrap__rust_lock, path)

#' The GPUs of this machine, as parallel vectors; `free`: with the free memory of all.
#' @noRd
rust_devices <- function(free) .Call(wrap__rust_devices, free)

#' Whether a GPU may be had.
#' @noRd
rust_may_have_gpu <- function() .Call(wrap__rust_may_have_gpu)

#' Gives back what this process holds on GPUs.
#' @noRd
rust_release <- function() .Call(wrap__rust_release)

#' The number of cores, for calls that name no threads.
#' @noRd
rust_cores <- function() .Call(wrap__rust_cores)

#' What this build and machine are; takes some milliseconds.
#' @noRd
rust_info <- function() .Call(wrap__rust_info)

#' The object with these slots put in place; it must be fresh.
#' @noRd
rust_fill_slots <- function(object, slots) .Call(wrap__rust_fill_slots, object, slots)

#' Resumes a jump of R that was stopped on its way through Rust.
#' @noRd
rust_continue_unwind <- function(token) .Call(wrap__rust_continue_unwind, token)

