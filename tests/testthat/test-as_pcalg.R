test_that("as_pcalg() makes an object of pcalg's class", {
  skip_without_pcalgs_class()
  fit <- small_fit()
  # What a session without pcalg leaves behind: the same slots, another package on the class.
  foreign <- fit
  attr(foreign, "class") <- structure("pcAlgo", package = "pcgpu")
  made <- as_pcalg(foreign)
  expect_identical(made, fit)
  expect_identical(attr(class(made), "package"), "pcalg")
  expect_identical(pcalg::getGraph(made), fit@graph)
})

test_that("without pcalg a result that was saved with it is readable again", {
  skip_with_pcalg()
  fit <- small_fit()
  foreign <- fit
  attr(foreign, "class") <- structure("pcAlgo", package = "pcalg")
  expect_identical(as_pcalg(foreign), fit)
  expect_output(print(as_pcalg(foreign)), "Total number of edges:       3")
})

test_that("only results are accepted", {
  expect_error(as_pcalg(1), class = "pcgpu_error_argument")
})
