# The result of local_pc(): a pcAlgo of the variables that were found.

# found: from local_search(); about: the first entries of `local` in run_details().
local_result <- function(found, scanner, labels, about, alpha, call, threads) {
  variables <- found$variables
  size <- length(variables)
  scans <- found$scans[as.character(variables)]
  is_left <- matrix(FALSE, size, size)
  for (at in seq_len(size)) {
    is_left[at, ] <- variables %in% scans[[at]]$left
  }
  joined <- is_left & t(is_left)
  names <- labels[variables]
  tests <- tests_of_scans(found$scans, length(labels))
  details <- list(
    device = "cpu",
    test = "gaussCItest",
    alpha = alpha,
    samples = scanner$columns$n_tests,
    local = c(
      about,
      list(
        variables = length(labels),
        distance = stats::setNames(found$distance, names),
        scanned = labels[sort(as.integer(names(found$scans)))]
      )
    ),
    version = package_version()
  )
  attr(call, "pcgpu") <- details
  edges <- lapply(seq_len(size), function(at) which(joined[at, ]))
  skel <- fill_result(
    empty_result(),
    graph = result_graph(names, list(edges = edges), oriented = FALSE),
    call = call,
    max_ord = length(tests) - 1L,
    n_edgetests = tests,
    pMax = local_p_values(scans, variables, scanner)
  )
  skel@sepset <- local_sets(scans, variables, joined)
  orient(skel, numCores = threads)
}

# Returns the number of tests by the size of their sets.
tests_of_scans <- function(scans, p) {
  further <- lapply(scans, `[[`, "tests")
  levels <- max(lengths(further), 0L)
  c(
    length(scans) * (p - 1),
    Reduce(`+`, lapply(further, function(tests) c(tests, numeric(levels - length(tests)))), numeric(levels))
  )
}

# Returns the largest p-value of the tests of each pair, in the upper triangle, as a pcAlgo has them.
local_p_values <- function(scans, variables, scanner) {
  size <- length(variables)
  columns <- scanner$columns
  r <- if (is.null(columns$rust$C)) {
    values <- values_of(columns, variables)
    part <- list(n = as.double(columns$n), numbers = values)
    near <- check_rust(rust_scan(part, values, 0, scanner$engine, list()))$near
    matrix(unlist(lapply(near, `[[`, "r")), size, size)
  } else {
    columns$rust$C[variables, variables, drop = FALSE]
  }
  z <- matrix(abs(fisher_z(r, columns$n_tests)), size, size)
  for (at in seq_len(size)) {
    scan <- scans[[at]]
    place <- match(scan$with, variables)
    there <- !is.na(place)
    z[at, place[there]] <- pmin(z[at, place[there]], scan$z[there])
  }
  p <- 2 * stats::pnorm(pmin(z, t(z)), lower.tail = FALSE)
  p[lower.tri(p, diag = TRUE)] <- -1
  p
}

# Returns the separating sets as a pcAlgo has them: of both scans of a pair the smaller set, and of equal ones that of
# the first variable. A set keeps its members that are in the graph.
local_sets <- function(scans, variables, joined) {
  size <- length(variables)
  # The empty set separates a pair if neither is a candidate of the other.
  result <- lapply(seq_len(size), function(x) {
    row <- rep.int(list(NULL), size)
    row[!joined[x, ] & seq_len(size) > x] <- list(integer())
    row
  })
  found <- lapply(scans, sets_of_scan, variables)
  for (x in seq_len(size)) {
    for (i in seq_along(found[[x]]$place)) {
      y <- found[[x]]$place[i]
      set <- found[[x]]$sets[[i]]
      other <- match(x, found[[y]]$place)
      length_of_other <- if (is.na(other)) Inf else length(found[[y]]$sets[[other]])
      if (length(set) < length_of_other || length(set) == length_of_other && x < y) {
        members <- match(set, variables)
        result[[min(x, y)]][[max(x, y)]] <- sort(members[!is.na(members)])
      }
    }
  }
  result
}

# Returns list(place, sets): the variables of the graph that tests given others have separated from the scanned one, by
# their place, and the sets.
sets_of_scan <- function(scan, variables) {
  place <- match(scan$removed, variables)
  there <- which(!is.na(place))
  sets <- lapply(there, function(i) scan$members[seq_len(scan$ends[i + 1L] - scan$ends[i]) + scan$ends[i]])
  list(place = place[there], sets = sets)
}

# Returns lines for print() about a result of local_pc().
local_note <- function(details) {
  of <- details$local
  if (is.null(of)) {
    return(NULL)
  }
  complete <- sum(of$distance <= of$order)
  sprintf(
    "Around %s: %s of %s variables, %s scanned. %s up to distance %s, with all %s edges.",
    of$target,
    in_words(length(of$distance)),
    in_words(of$variables),
    in_words(length(of$scanned)),
    if (complete == 1L) "One is" else paste(in_words(complete), "are"),
    in_words(of$order),
    if (complete == 1L) "its" else "their"
  )
}

# Returns the tests behind the p-values of a result of local_pc(), see q_values(): those of pairs with a complete
# variable. The other pairs get -1, as if they were not tested.
tests_of_local <- function(fit, of) {
  p <- attr(fit, "pMax")
  complete <- of$distance <= of$order
  among <- outer(complete, complete, `|`)
  values <- p[upper.tri(p) & among]
  count <- sum(complete)
  list(p = values, variables = 0, count = count * (of$variables - 1) - count * (count - 1) / 2)
}
