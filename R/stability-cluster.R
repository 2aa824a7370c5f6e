# Runs the samples of stability() and cstar() on the workers of a cluster.

# Returns the sum of count_edges() over all workers.
count_on_workers <- function(workers, problem, resampled, device, threads, report) {
  setup <- list(
    what = "stability",
    problem = problem,
    resampled = resampled,
    device = device,
    threads = if (isTRUE(attr(threads, "named"))) as.integer(threads)
  )
  sums <- NULL
  team <- share_out(
    workers,
    setup,
    resampled$replicates,
    fits = function(range, found) are_edge_counts(found, size_of(range), problem$options$p),
    take = function(range, found) sums <<- add_counts(sums, found),
    report = report,
    once = TRUE
  )
  sums[c("device", "team", "lost")] <- team[c("device", "team", "lost")]
  sums
}

# For each pair, the numbers of replicates in which its edge is of these kinds.
columns_of_counts <- c("forward", "backward", "undirected", "bidirected")

# Returns whether `found` has the form of the counts of this number of replicates of p variables.
are_edge_counts <- function(found, replicates, p) {
  each <- if (is.list(found)) length(found$x)
  columns <- c("x", "y", columns_of_counts)
  has_vectors(
    found,
    c(stats::setNames(rep(each, length(columns)), columns), replicates = 1L, valid = 1L, constants = 1L)
  ) &&
    all(c(found$x, found$y) %in% seq_len(p)) &&
    found$replicates == replicates
}

add_counts <- function(sums, more) {
  if (is.null(sums)) {
    return(more)
  }
  columns <- columns_of_counts
  x <- c(sums$x, more$x)
  y <- c(sums$y, more$y)
  # A double holds 53 bits, so the key is exact for up to 2^26 variables.
  key <- x * 2^26 + y
  pairs <- sort(unique(key))
  at <- match(key, pairs)
  first <- match(pairs, key)
  sums$x <- x[first]
  sums$y <- y[first]
  for (column in columns) {
    together <- numeric(length(pairs))
    both <- rowsum(c(sums[[column]], more[[column]]), at)
    together[as.integer(rownames(both))] <- both
    sums[[column]] <- as.integer(together)
  }
  for (count in c("replicates", "valid", "constants")) {
    sums[[count]] <- sums[[count]] + more[[count]]
  }
  sums
}

# Returns the result of bound_effects(), with its columns from all workers.
bounds_on_workers <- function(workers, problem, resampled, device, threads, report) {
  setup <- list(
    what = "stability",
    problem = problem,
    resampled = resampled,
    device = device,
    threads = if (isTRUE(attr(threads, "named"))) as.integer(threads)
  )
  bounds <- matrix(0, length(problem$effects$x) * length(problem$effects$y), resampled$replicates)
  team <- share_out(
    workers,
    setup,
    resampled$replicates,
    fits = function(range, found) has_vectors(found, c(bounds = nrow(bounds) * size_of(range))),
    take = function(range, found) bounds[, seq.int(range[1L], range[2L])] <<- found$bounds,
    report = report
  )
  c(list(bounds = bounds), team[c("device", "team", "lost")])
}

# Returns a function that counts the edges of samples range[1] to range[2] on a worker, or bounds their effects.
stability_rank <- function(setup, place) {
  if (!is.null(setup$problem$world)) {
    session$leave <- enter_world(setup$problem$world)
  }
  function(range) {
    resampled <- setup$resampled
    resampled$first <- as.integer(range[1L] - 1L)
    resampled$replicates <- as.integer(range[2L] - range[1L] + 1L)
    gpu <- function(device) rank_gpu(device, setup$device, place)
    run <- if (is.null(setup$problem$effects)) count_edges else bound_effects
    tryCatch(
      run(setup$problem, resampled, check_device(setup$device), rank_threads(setup, place), gpu = gpu),
      pcgpu_error = function(e) {
        structure(list(condition = e), class = "pcgpu_rank_failed")
      }
    )
  }
}
