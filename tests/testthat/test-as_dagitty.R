test_that("the text has a line for each variable and edge, in dagitty's language", {
  fit <- small_fit()
  expect_identical(as_dagitty(fit, text = TRUE), "pdag {\na\nb\nc\nd\na -> c\nb -> c\nc -> d\n}\n")
  lines <- strsplit(as_dagitty(odd_graph(), text = TRUE), "\n", fixed = TRUE)[[1]]
  expect_identical(
    lines[2:7],
    c("plain", "\"a b\"", "\"q\\\"uote\"", "\"<&> &amp;\"", "\"back\\slash\"", "\"\u00fcml\u00e4ut \u03b2\"")
  )
  expect_identical(lines[9:12], c("\"x->y\"", "\"-5\"", "\"1e5\"", "\"a--b\""))
  expect_setequal(
    lines[13:19],
    c(
      "plain -> \"a b\"",
      "plain <-> \"x->y\"",
      "\"a b\" -- \"back\\slash\"",
      "\"<&> &amp;\" -> \"q\\\"uote\"",
      "\"q\\\"uote\" -- \"\u00fcml\u00e4ut \u03b2\"",
      "\"back\\slash\" <-> \"semi;co,lon\"",
      "\"-5\" -> \"1e5\""
    )
  )
  expect_length(lines, 20)
})

test_that("a DAG becomes a DAG there, and other graphs do not", {
  dag <- random_dag(5, seed = 1)
  expect_match(as_dagitty(dag, text = TRUE), "^dag \\{")
  expect_match(as_dagitty(as.matrix(dag), text = TRUE), "^pdag \\{")
  for (result in c("pcAlgo", "compact")) {
    none <- pc(list(C = diag(2), n = 30), gaussCItest, 0.01, labels = c("a", "b"), result = result)
    expect_identical(as_dagitty(none, text = TRUE), "pdag {\na\nb\n}\n")
  }
  fits <- mixed_fits()
  expect_identical(as_dagitty(fits$full, text = TRUE), as_dagitty(fits$compact, text = TRUE))
})

test_that("names that the language does not have are refused by name", {
  for (name in c("new\nline", "tab\t", "ends in \\", "\u007f")) {
    m <- matrix(0, 2, 2, dimnames = list(c("a", name), c("a", name)))
    error <- expect_error(
      as_dagitty(m, text = TRUE),
      "dagitty does not allow",
      class = "pcgpu_error_argument",
      info = name
    )
    expect_identical(error$argument, "x")
  }
  expect_identical(expect_error(as_dagitty(small_fit(), text = NA), class = "pcgpu_error_argument")$argument, "text")
})

test_that("dagitty reads it", {
  if (!requireNamespace("dagitty", quietly = TRUE)) {
    expect_identical(expect_error(as_dagitty(small_fit()), class = "pcgpu_error_package")$package, "dagitty")
    skip("dagitty is not installed")
  }
  graph <- as_dagitty(odd_graph())
  expect_setequal(names(graph), odd_names)
  found <- dagitty::edges(graph)
  expect_identical(
    sorted_edges(data.frame(
      from = found$v,
      to = found$w,
      kind = c("->" = "-->", "--" = "---", "<->" = "<->")[as.character(found$e)]
    )),
    sorted_edges(odd_edges())
  )
})
