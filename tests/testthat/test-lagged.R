# Calls lagged() without its messages.
quiet <- function(...) suppressMessages(lagged(...), classes = "pcgpu_message")

bad <- function(argument, message, ...) {
  e <- expect_error(quiet(...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
}

# Returns a stable process: a causes itself and b one step later, b causes itself.
process <- function(n, seed = 1) {
  set.seed(seed)
  a <- as.vector(stats::arima.sim(list(ar = 0.6), n))
  b <- numeric(n)
  for (t in seq_len(n)[-1L]) {
    b[t] <- 0.5 * b[t - 1L] + 0.8 * a[t - 1L] + stats::rnorm(1)
  }
  data.frame(a, b)
}

# Returns the edges of a result as text.
edges_said <- function(fit) with(edge_table(fit), paste(from, kind, to))

values <- function(x) unname(as.matrix(as.data.frame(x)))

test_that("the columns are those of embed(), with the largest lag first", {
  x <- process(50)
  for (most in 1:4) {
    found <- lagged(x, most)
    # embed() has the present first.
    wanted <- stats::embed(as.matrix(x), most + 1L)[, as.vector(matrix(seq_len(2 * (most + 1L)), 2)[, (most + 1L):1])]
    expect_equal(values(found), wanted)
    expect_identical(names(found)[1:2], paste0(c("a", "b"), ".lag", most))
    expect_identical(tail(names(found), 2), c("a", "b"))
    expect_identical(unname(attr(found, "tiers")), rep(seq_len(most + 1L), each = 2))
    expect_identical(names(attr(found, "tiers")), names(found))
    expect_identical(row.names(found), as.character((most + 1):50))
  }
})

test_that("several lags are these alone, in any order", {
  x <- process(30)
  found <- lagged(x, c(7, 1))
  expect_identical(names(found), c("a.lag7", "b.lag7", "a.lag1", "b.lag1", "a", "b"))
  expect_identical(found$a.lag7, x$a[1:23])
  expect_identical(found$b.lag1, x$b[7:29])
  expect_identical(found$b, x$b[8:30])
  expect_identical(lagged(x, c(1, 7)), found)
})

test_that("no lag leads from one series into another, wherever its rows are", {
  x <- process(40)
  id <- rep(c("u", "v", "w"), c(20, 19, 1))
  parts <- rbind(values(lagged(x[1:20, ], 2)), values(lagged(x[21:39, ], 2)))
  found <- lagged(cbind(x, firm = id), 2, id = "firm")
  expect_equal(values(found), parts)
  expect_identical(names(found), names(lagged(x, 2)))
  expect_identical(lagged(x, 2, id = id), found)
  expect_identical(lagged(x, 2, id = factor(id)), found)
  firms <- data.frame(firm = id, x)
  fixed <- suppressMessages(pc(found, alpha = 0.05, id = firms[row.names(found), "firm"], numCores = 1))
  by_hand <- suff_gauss(found, id = id[as.integer(row.names(found))])
  expect_identical(
    edge_table(fixed),
    edge_table(pc(by_hand, gaussCItest, 0.05, tiers = attr(found, "tiers"), maj.rule = TRUE, numCores = 1))
  )
  mixed <- order(rep_len(1:3, 40))
  shuffled <- lagged(x[mixed, ], 2, id = id[mixed], time = mixed)
  expect_equal(as.data.frame(shuffled)[row.names(found), ], as.data.frame(found), ignore_attr = TRUE)
})

test_that("`time` orders the rows, and a step is the smallest difference", {
  x <- process(30)
  at <- sample(30)
  found <- lagged(cbind(x, year = 1990 + 2 * (1:30))[at, ], 2, time = "year")
  expect_equal(as.data.frame(found)[as.character(3:30), ], as.data.frame(lagged(x, 2)), ignore_attr = TRUE)
  expect_identical(row.names(found), as.character(at[at > 2]))
  hours <- as.POSIXct("2020-01-01", tz = "UTC") + 3600 * 1:30
  for (time in list(as.Date("2020-01-01") + 1:30, hours, 2000 + (1:30) / 12)) {
    expect_identical(lagged(x, 2, time = time), lagged(x, 2))
  }
  stocks <- datasets::EuStockMarkets
  expect_equal(values(lagged(stocks, 2, time = time(stocks))), stats::embed(unclass(stocks), 3)[, c(9:12, 5:8, 1:4)])
})

test_that("rows whose lags fall into gaps of `time` are left out, with a message", {
  x <- process(12)
  time <- c(1:5, 8:14)
  told <- expect_message(found <- lagged(x, 2, time = time), "Left out 2 rows", class = "pcgpu_message_gaps")
  expect_identical(told$rows, 6:7)
  expect_identical(row.names(found), as.character(c(3:5, 8:12)))
  expect_equal(values(found), rbind(values(lagged(x[1:5, ], 2)), values(lagged(x[6:12, ], 2))))
  # Lag 4 of time 8 is time 4, beyond the gap.
  far <- quiet(x, c(1, 4), time = time)
  expect_identical(far["7", "a.lag4"], x$a[5])
  # The ends of other series are no gaps.
  expect_silent(lagged(x, 2, id = rep(1:2, each = 6), time = rep(c(1:6), 2) + rep(c(0, 100), each = 6)))
})

test_that("missing values, factors and text stay", {
  x <- data.frame(
    f = factor(c("u", "v", NA, "v", "u"), levels = c("v", "u", "w")),
    t = c("x", "y", "x", "y", "x"),
    l = c(TRUE, NA, FALSE, TRUE, TRUE),
    n = c(1, NA, 3, 4, 5)
  )
  found <- lagged(x)
  expect_identical(found$f.lag1, x$f[1:4])
  expect_identical(found$t, x$t[2:5])
  expect_identical(found$l.lag1, x$l[1:4])
  expect_identical(found$n.lag1, x$n[1:4])
  unnamed <- lagged(matrix(1:6, 3))
  expect_identical(names(unnamed), c("V1.lag1", "V2.lag1", "V1", "V2"))
})

test_that("bad input is refused by name", {
  x <- process(10)
  bad("data", "is 1, 2, 3", 1:3)
  bad("data", "no column of a variable", data.frame(t = 1:5), time = "t")
  bad("data", "a column \"a.lag1\"", cbind(x, a.lag1 = 1))
  bad("data", "no name of its own for column 2", stats::setNames(x, c("a", "a")))
  for (lags in list(0, -1, 1.5, NA, "1", Inf, numeric(), c(1, 0), TRUE, NULL)) {
    bad("lags", "use the largest lag", x, lags)
  }
  bad("lags", "give each lag once", x, c(2, 2))
  bad("lags", "smaller than the number of rows, 10", x, 10)
  bad("lags", "smaller than the number of rows, 10", x, 1e9)
  bad("lags", "smaller than the number of rows, 1", x[1, ])
  bad("lags", "because no row has all of them in its series", x, 5, id = rep(1:2, each = 5))
  bad("lags", "a gap in `time`", x, 2, time = c(1, 2, 4, 5, 7, 8, 10, 11, 13, 14))
  bad("id", "one value for each of the 10 rows", x, id = 1:9)
  bad("id", "unknown variable", x, id = "firm")
  bad("id", "missing value", x, id = c(NA, 1:9))
  bad("data", "1 missing value in column \"b\"", within(x, b[3] <- NA), id = "b")
  bad("time", "one value for each of the 10 rows", x, time = 1:11)
  bad("time", "use finite numbers, dates or times", x, time = letters[1:10])
  bad("time", "use finite numbers, dates or times", x, time = c(Inf, 1:9))
  bad("time", "the value 3 twice in one series", x, time = c(1:3, 3:9))
  months <- seq(as.Date("2020-01-01"), by = "month", length.out = 10)
  bad("time", "unequal steps, such as 29 and 31", x, time = months)
})

test_that("parts of the data keep the tiers of their columns", {
  x <- lagged(process(20), 2)
  expect_identical(attr(x[1:5, ], "tiers"), attr(x, "tiers"))
  expect_identical(attr(subset(x, a > 0), "tiers"), attr(x, "tiers"))
  expect_identical(attr(x[-1], "tiers"), attr(x, "tiers")[-1])
  expect_identical(attr(x[, c("b", "a.lag1")], "tiers"), attr(x, "tiers")[c("a.lag1", "b")])
  expect_identical(x[, "a"], x$a)
  expect_identical(x[3, "a"], x$a[3])
  expect_identical(class(x[, "a", drop = FALSE]), class(x))
  expect_identical(class(as.data.frame(x)), "data.frame")
})

test_that("a search uses the tiers, says so, and no arrow points back in time", {
  x <- lagged(process(1000), 2)
  tiers <- attr(x, "tiers")
  told <- expect_message(
    fit <- pc(x, alpha = 0.01, numCores = 1),
    "Using the 3 tiers of lagged()",
    class = "pcgpu_message_tiers"
  )
  expect_identical(told$tiers, tiers + 0)
  table <- edge_table(fit)
  expect_true(all(tiers[table$from] <= tiers[table$to]))
  expect_setequal(edges_said(fit)[table$to %in% c("a", "b")], c("a.lag1 --> a", "a.lag1 --> b", "b.lag1 --> b"))
  asked <- function(search, ...) edges_said(suppressMessages(search(..., alpha = 0.01, numCores = 1)))
  stat <- suff_gauss(x)
  expect_identical(asked(pc, x, gaussCItest), asked(pc, stat, gaussCItest, tiers = tiers))
  for (search in list(skeleton, fci, rfci, fciPlus)) {
    expect_identical(asked(search, x, gaussCItest), asked(search, stat, gaussCItest, tiers = tiers))
  }
  expect_identical(asked(pc, x, tiers = rep(1, 6)), asked(pc, as.data.frame(x)))
  expect_no_message(pc(x, gaussCItest, 0.01, tiers = tiers, numCores = 1), class = "pcgpu_message_tiers")
  known <- pc_control(tiers = rep(1, 6))
  expect_identical(asked(pc, x, control = known), asked(pc, as.data.frame(x)))
})

test_that("other labels are taken in the order of the columns, and columns without a tier are refused", {
  x <- lagged(process(300), 1)
  quietly <- function(...) suppressWarnings(suppressMessages(pc(..., alpha = 0.01, numCores = 1)))
  own <- quietly(x, gaussCItest)
  other <- quietly(x, gaussCItest, labels = LETTERS[1:4])
  expect_identical(match(edge_table(other)$to, LETTERS), match(edge_table(own)$to, names(x)))
  expect_identical(match(edge_table(quietly(x, gaussCItest, p = 4))$from, 1:4), match(edge_table(own)$from, names(x)))
  renamed <- stats::setNames(x, c("A1", "B1", "A", "B"))
  e <- expect_error(quietly(renamed), class = "pcgpu_error_argument")
  expect_identical(e$argument, "tiers")
  expect_error(quietly(structure(x, tiers = NULL)), "a column that lagged() did not make", fixed = TRUE)
  x$season <- rep_len(1:4, 299)
  expect_error(quietly(x), "\"season\", a column that lagged() did not make", fixed = TRUE)
  expect_identical(nrow(edge_table(quietly(x, adjust = "season"))), nrow(edge_table(own)))
  expect_s4_class(quietly(x, tiers = c(attr(x, "tiers"), season = 1)), "pcAlgo")
})

test_that("stability() and cstar() use the tiers, too", {
  x <- lagged(process(300), 1)
  tiers <- attr(x, "tiers")
  given <- as.data.frame(x)
  drawn <- function(...) stability(..., alpha = 0.01, replicates = 10, seed = 1, numCores = 1)
  expect_message(found <- drawn(x, gaussCItest), class = "pcgpu_message_tiers")
  expect_identical(found$counts, drawn(given, gaussCItest, tiers = tiers)$counts)
  expect_true(all(found$counts$backward == 0 | tiers[found$counts$x] == tiers[found$counts$y]))
  numbered <- suppressMessages(drawn(x, gaussCItest, p = 4))
  expect_identical(numbered$counts, found$counts)
  made <- suppressMessages(drawn(x, gaussCItest, make = suff_gauss))
  expect_identical(made$counts, found$counts)
  ranked <- function(...) suppressMessages(cstar(..., alpha = 0.01, y = "b", replicates = 10, seed = 1, numCores = 1))
  expect_identical(as.data.frame(ranked(x)), as.data.frame(ranked(given, tiers = tiers)))
})

test_that("lags of independent series seldom have edges into the present", {
  set.seed(7)
  series <- function() as.vector(stats::arima.sim(list(ar = 0.9), 300))
  is_false <- replicate(100, {
    x <- lagged(data.frame(a = series(), b = series()), 2)
    table <- edge_table(suppressMessages(pc(x, alpha = 0.01, numCores = 1)))
    crosses <- substr(table$from, 1, 1) != substr(table$to, 1, 1)
    c(now = any(crosses & !grepl("lag", table$to)), past = any(crosses & grepl("lag", table$to)))
  })
  expect_lte(sum(is_false["now", ]), 6)
  expect_gte(sum(is_false["past", ]), 20)
})

test_that("local_pc() does not forget the order of time silently", {
  x <- lagged(as.data.frame(simulate(3, 60)), lags = 1)
  expect_error(local_pc(x, "v1", 0.01), "lagged", class = "pcgpu_error_argument")
  expect_s4_class(local_pc(as.data.frame(x), "v1", 0.01), "pcAlgo")
})
