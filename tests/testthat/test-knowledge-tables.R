# Forms of `required`, `forbidden` and `tiers`: whatever the form, the graph is that of the plain one.

three <- local({
  set.seed(1)
  dose <- rnorm(500)
  effect <- dose + rnorm(500)
  data.frame(dose, effect, other = rnorm(500))
})
searched <- function(...) suppressMessages(pc(three, alpha = 0.01, ...))
arrows <- function(fit) {
  table <- edges(fit)
  paste(table$from, table$kind, table$to)
}
labels3 <- names(three)
ends <- function(given, labels = labels3, argument = "required") {
  found <- pcgpu:::arrow_ends(pcgpu:::check_arrows(given, argument, labels))
  sort(paste(labels[found$from], labels[found$to]))
}
refused <- function(given, message, labels = labels3, argument = "required") {
  e <- expect_error(pcgpu:::check_arrows(given, argument, labels), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
}

test_that("columns named from and to are read by name, in any order and every form", {
  known <- data.frame(to = c("effect", "other"), from = c("dose", "dose"))
  right <- c("dose effect", "dose other")
  forms <- list(
    known,
    known[2:1],
    as.matrix(known),
    as.list(known),
    cbind(weight = 1:2, known, note = "x"),
    as.matrix(cbind(known, note = "x")),
    list(c(to = "effect", from = "dose"), c(from = "dose", to = "other")),
    list(c(to = "effect", from = "dose"), c("dose", "other")),
    data.frame(to = factor(known$to), from = factor(known$from)),
    data.frame(to = 2:3, from = 1),
    cbind(to = 2:3, from = 1),
    stats::setNames(known, c("To", "FROM")),
    stats::setNames(known, c("target", "source")),
    stats::setNames(known, c("effect", "cause")),
    stats::setNames(known, c("child", "parent")),
    stats::setNames(known[2:1], c("x", "y")),
    unname(as.matrix(known[2:1]))
  )
  for (form in forms) {
    expect_identical(ends(form), right)
  }
  expect_identical(ends(c(to = "effect", from = "dose")), right[1])
  expect_identical(ends(c("dose", "effect")), right[1])
  expect_identical(ends(list(to = "effect", from = "dose")), right[1])
  if (requireNamespace("tibble", quietly = TRUE)) {
    expect_identical(ends(tibble::as_tibble(known)), right)
  }
  if (requireNamespace("data.table", quietly = TRUE)) expect_identical(ends(data.table::as.data.table(known)), right)
})

test_that("every function that takes arrows reads them by name", {
  known <- data.frame(to = "effect", from = "dose")
  right <- "dose --> effect"
  expect_identical(arrows(searched(required = known)), right)
  expect_identical(arrows(searched(forbidden = data.frame(to = "dose", from = "effect"))), right)
  expect_identical(arrows(searched(control = pc_control(required = known))), right)
  expect_identical(arrows(add_knowledge(searched(), required = known)), right)
  expect_identical(arrows(suppressMessages(fci(three, alpha = 0.01, required = known, selectionBias = FALSE))), right)
  expect_identical(arrows(suppressMessages(rfci(three, alpha = 0.01, required = known))), right)
  expect_identical(arrows(suppressMessages(fciPlus(three, alpha = 0.01, required = known))), right)
  skel <- suppressMessages(skeleton(three, alpha = 0.01, required = known))
  expect_identical(arrows(suppressMessages(orient(skel, required = known))), right)
  expect_identical(
    arrows(suppressMessages(stability(three, alpha = 0.01, required = known, replicates = 3, seed = 1))$fit),
    right
  )
})

test_that("rows of edges() can be given back, if they have a direction", {
  fit <- searched(required = c("dose", "effect"))
  table <- edges(fit)
  expect_identical(arrows(searched(required = table)), arrows(fit))
  expect_identical(arrows(searched(required = table[1, ])), arrows(fit))
  expect_identical(arrows(searched(required = as.data.frame(fit))), arrows(fit))
  expect_identical(arrows(searched(required = unlist(table[1, 1:3]))), arrows(fit))
  undirected <- edges(searched())
  expect_identical(undirected$kind, "---")
  refused(undirected, "has a row dose --- effect, an edge without a single direction")
  # As in a matrix, it is an arrow each way.
  expect_identical(ends(undirected, argument = "forbidden"), c("dose effect", "effect dose"))
  expect_identical(nrow(edges(searched(forbidden = undirected))), 0L)
  for (kind in c("o->", "o-o", "o--")) {
    for (argument in c("required", "forbidden")) {
      refused(
        data.frame(from = "dose", to = "other", kind = kind),
        sprintf("has a row dose %s other, whose direction a PAG", kind),
        argument = argument
      )
    }
  }
  # A column of this name that says something else.
  expect_identical(ends(data.frame(from = "dose", to = "other", kind = "expert")), "dose other")
})

test_that("the attribute type decides how an adjacency matrix is read", {
  set.seed(2)
  a <- rnorm(800)
  b <- rnorm(800)
  c <- a + b + rnorm(800)
  data <- data.frame(a, b, c, d = c + rnorm(800))
  fit <- suppressMessages(pc(data, alpha = 0.01))
  right <- c("a c", "b c", "c d")
  plain <- as(fit@graph, "matrix")
  amat <- as(fit, "amat")
  for (m in list(
    plain,
    plain == 1,
    amat,
    structure(t(plain), type = "cpdag"),
    structure(plain, type = "other"),
    unname(plain)
  )) {
    expect_identical(ends(m, names(data)), right)
    expect_identical(ends(m, names(data), "forbidden"), right)
  }
  small <- suppressMessages(pc(data[1:60, ], alpha = 0.01, required = amat))
  expect_identical(arrows(small), sub(" ", " --> ", right))
  refused(structure(amat, type = "amat.pag"), "`required` is a PAG", names(data))
  refused(structure(diag(4), type = "amat.cpdag"), "has an arrow from \"a\" to itself", names(data))
  # Two variables: 0 and 1 are cells, anything else is a pair of numbers; names from and to make a table of it.
  expect_identical(ends(matrix(c(0, 0, 1, 0), 2), c("x", "y")), "x y")
  expect_identical(ends(rbind(c(1, 2), c(2, 1)), c("x", "y")), c("x y", "y x"))
  expect_identical(ends(matrix(c(0, 0, 1, 0), 2, dimnames = rep(list(c("to", "from")), 2)), c("to", "from")), "to from")
  refused(cbind(from = 0:1, to = 1:0), "two columns", c("x", "y"))
})

test_that("tables that may mean the reverse, and objects that are no table, are refused", {
  refused(data.frame(effect = "effect", from = "dose"), "has columns named \"effect\", \"from\"")
  refused(data.frame(to = "effect", x = "dose"), "has columns named \"to\", \"x\"")
  refused(data.frame(a = "effect", b = "dose", c = 1), "two columns")
  refused(list(from = c("dose", "effect"), to = "other"), "two columns")
  refused(list("dose", "effect"), "two columns")
  refused(mean, "two columns")
  refused(searched(), "two columns")
  refused(data.frame(from = "dose", to = "dose"), "has an arrow from \"dose\" to itself")
})

tiered <- local({
  set.seed(1)
  c <- rnorm(1000)
  a <- c + rnorm(1000)
  data.frame(a, b = a + c + rnorm(1000), c)
})
tiers_of <- function(given, labels = letters[1:3]) pcgpu:::check_tiers(given, labels)

test_that("a number for each variable means the same in every form", {
  named <- c(a = 2, b = 3, c = 1)
  table <- data.frame(variable = c("b", "a", "c"), tier = c(3, 2, 1))
  forms <- list(
    named,
    rev(named),
    as.list(named),
    as.list(rev(named)),
    as.data.frame(as.list(rev(named))),
    t(rev(named)),
    as.matrix(rev(named)),
    as.matrix(named),
    unname(named),
    t(unname(named)),
    data.frame(tier = rev(named)),
    data.frame(tier = unname(named)),
    table,
    table[3:1, 2:1],
    as.list(table),
    as.matrix(table),
    cbind(table, note = "x"),
    stats::setNames(table, c("x", "y")),
    stats::setNames(table, c("Variable", "Tier")),
    data.frame(variable = c(2, 1, 3), tier = c(3, 2, 1)),
    data.frame(variable = factor(table$variable), tier = factor(c("z", "y", "x"), c("x", "y", "z"), ordered = TRUE)),
    list("c", "a", "b"),
    list(3, "a", "b"),
    list(first = 3, second = 1, third = 2),
    list(c = "c", a = "a", b = "b")
  )
  for (form in forms) {
    expect_identical(tiers_of(form), c(2, 3, 1))
  }
  expect_identical(tiers_of(list(a = 2, b = 2, c = 1)), c(2, 2, 1))
  expect_identical(tiers_of(data.frame(x = c("a", "b"), y = c("c", "d")), letters[1:4]), c(1, 1, 2, 2))
  right <- arrows(suppressMessages(pc(tiered, alpha = 0.01, tiers = named)))
  expect_identical(right, c("a --> b", "c --> a", "c --> b"))
  expect_identical(arrows(suppressMessages(pc(tiered, alpha = 0.01, tiers = as.list(named)))), right)
  complete <- 1 - diag(3)
  dimnames(complete) <- list(letters[1:3], letters[1:3])
  expect_identical(add_knowledge(complete, tiers = as.list(named)), add_knowledge(complete, tiers = named))
})

test_that("tiers that cannot be distinguished are refused", {
  no <- function(given, message) {
    e <- expect_error(tiers_of(given), class = "pcgpu_error_argument")
    expect_identical(e$argument, "tiers")
    expect_match(conditionMessage(e), message, fixed = TRUE)
  }
  no(list(2, 3, 1), "such as c(2, 3, 1)")
  no(list(a = 2, b = 3), "no tier for \"c\"")
  no(list(a = 2, bb = 3, c = 1), "an unknown variable, \"bb\"")
  no(list(a = 2, b = 3, c = 1:2), "elements that are not a single number")
  no(data.frame(x = 2, y = 3, z = 1), "unknown variables, ")
  no(data.frame(a = 1:2, b = 1:2, c = 1:2), "elements that are not a single number")
  no(
    data.frame(variable = c("a", "b", "c"), tier = c("early", "early", "late")),
    "a column of tiers that is not numeric"
  )
  no(data.frame(variable = c("a", "b"), tier = 1:2), "no tier for \"c\"")
  no(data.frame(variable = c("a", "b", "b"), tier = 1:3), "duplicated names, \"b\"")
})

test_that("a kind that no table of edges has is refused, and words are not kinds", {
  x <- random_data(random_dag(3, 2, seed = 1), 200, seed = 1)
  arrow <- data.frame(from = colnames(x)[1], to = colnames(x)[2])
  for (argument in c("required", "forbidden")) {
    call <- function(kind) {
      suppressMessages(do.call(
        pc,
        c(list(x, alpha = 0.01), stats::setNames(list(cbind(arrow, kind = kind)), argument))
      ))
    }
    expect_error(call("<--"), "a kind that edge_table", class = "pcgpu_error_argument")
    expect_identical(edge_table(call("expert")), edge_table(call("-->")))
  }
})

test_that("numbers that name a list of tiers decide their order", {
  x <- random_data(random_dag(3, 2, seed = 1), 200, seed = 1)
  v <- colnames(x)
  with_tiers <- function(tiers) suppressMessages(pc(x, alpha = 0.01, tiers = tiers))@graph
  expect_identical(with_tiers(split(v, c("10", "2", "9"))), with_tiers(stats::setNames(c(10, 2, 9), v)))
})
