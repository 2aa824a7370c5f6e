# Expects that a compact result holds what a pcAlgo of the same call holds. `suffStat` and `indepTest`: for the p-values
# of level 0. `shown`: whether conversions, printed output and answers about pairs are compared, too. These need the
# contents that the first part compares.
expect_same_as_pcalgo <- function(compact, full, suffStat, indepTest, info = NULL, shown = TRUE) {
  expect_s4_class(compact, "pcCompact")
  expect_true(validObject(compact), info = info)
  back <- as_pcalg(compact, suffStat, indepTest)
  back@call <- full@call
  expect_identical(back, full, info = info)
  # All except the clock.
  timeless <- function(fit) utils::modifyList(run_details(fit), list(seconds = NULL, times = NULL))
  expect_identical(timeless(compact), timeless(full), info = info)
  if (!shown) {
    return(invisible())
  }
  # Without it, NA for pairs that the empty set separates, and no others.
  p <- length(compact@labels)
  bare <- suppressWarnings(as(compact, "pcAlgo"), classes = "pcgpu_warning_level0")
  unknown <- is.na(bare@pMax) & !is.nan(bare@pMax)
  expect_identical(bare@pMax[!unknown], full@pMax[!unknown], info = info)
  empty <- matrix(vapply(unlist(full@sepset, FALSE), function(set) !is.null(set) && length(set) == 0L, NA), p, p)
  larger <- matrix(lengths(unlist(full@sepset, FALSE)) > 0, p, p)
  # The conservative and the majority rule change sets of either level.
  if (!any((empty | larger) & t(empty | larger))) {
    by_level0 <- (empty | t(empty)) & !(larger | t(larger))
    if (compact@method == "stable.fast") {
      by_level0 <- by_level0 & upper.tri(by_level0)
    }
    expect_identical(unknown, by_level0, info = info)
  }
  expect_identical(edges(compact), edges(full), info = info)
  expect_identical(as(compact, "matrix"), as(full, "matrix"), info = info)
  expect_identical(as(compact, "amat"), as(full, "amat"), info = info)
  expect_identical(as(compact, "graphNEL"), full@graph, info = info)
  printed <- function(x, what) {
    x@call <- structure(quote(pc(s)), pcgpu = attr(x@call, "pcgpu"))
    lines <- sub("pcCompact", "pcAlgo", utils::capture.output(invisible(what(x))))
    sub(", [0-9.e-]+ seconds$", "", lines)
  }
  expect_identical(printed(compact, methods::show), printed(full, pcgpu:::print_result), info = info)
  short <- function(x) if (is(x, "pcCompact")) summary(x) else pcgpu:::summary.pcAlgo(x, amat = FALSE)
  expect_identical(printed(compact, short), printed(full, short), info = info)
  # Some pairs.
  for (pair in utils::head(utils::combn(p, 2, simplify = FALSE), 8L)) {
    pair <- sample(pair)
    set <- full@sepset[[pair[1L]]][[pair[2L]]]
    if (is.null(set)) {
      set <- full@sepset[[pair[2L]]][[pair[1L]]]
    }
    expect_identical(sepset(compact, pair[1L], pair[2L]), if (!is.null(set)) compact@labels[set], info = info)
    expect_identical(sepset(full, pair[1L], pair[2L]), if (!is.null(set)) compact@labels[set], info = info)
  }
  all <- utils::combn(p, 2)[, seq_len(min(100, p * (p - 1) / 2)), drop = FALSE]
  expect_equal(
    p_value(compact, all[1L, ], all[2L, ], suffStat, indepTest),
    p_value(full, all[2L, ], all[1L, ]),
    tolerance = 1e-9,
    info = info
  )
}
