test_that("an edited object works or is refused with an error of ours, in every use, and never ends R", {
  skip_on_os("windows")
  objects <- objects_in_use()
  found <- parallel::mclapply(objects, misuses, mc.cores = 2L, mc.preschedule = FALSE)
  # A process that died has no answer.
  expect_true(all(vapply(found, is.list, NA)), info = names(found)[!vapply(found, is.list, NA)])
  expect_gt(sum(vapply(found, function(of) of$count, 0)), 10000)
  expect_identical(as.character(unlist(lapply(found, function(of) utils::head(of$bad, 5L)))), character())
})
