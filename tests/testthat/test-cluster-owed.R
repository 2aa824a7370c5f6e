# What a driver keeps about its workers, without workers: the time is the test's.

test_that("an answer settles the earlier calls of its worker, and only known tags count", {
  owed <- pcgpu:::owed_answers(2, function() 0)
  for (tag in c("a", "b", "c")) {
    owed$call(1, tag)
  }
  owed$call(2, "d")
  expect_identical(owed$late(), 1:2)
  expect_false(owed$settle(1, "d"))
  expect_false(owed$settle(1, NULL))
  expect_true(owed$settle(1, "b"))
  # The call before it will not be answered any more.
  expect_false(owed$settle(1, "a"))
  expect_identical(owed$late(), 1:2)
  expect_true(owed$settle(1, "c"))
  expect_identical(owed$late(), 2L)
})

test_that("a worker is overdue from its first open call or its last answer on", {
  time <- 0
  owed <- pcgpu:::owed_answers(2, function() time)
  owed$call(1, "a")
  time <- 5
  owed$call(1, "b")
  owed$call(2, "c")
  time <- 8
  expect_identical(owed$overdue(7), 1L)
  expect_true(owed$settle(1, "a"))
  expect_identical(owed$overdue(2), 2L)
  time <- 11
  expect_identical(owed$overdue(2), 1:2)
  owed$settle(1, "b")
  owed$settle(2, "c")
  time <- 100
  expect_identical(owed$overdue(0), integer())
  # Nobody owed an answer from 11 to 100.
  owed$call(1, "d")
  expect_identical(owed$overdue(0), integer())
  expect_identical(owed$slowest(), 8)
  owed$forget_slowest()
  time <- 103
  owed$settle(1, "d")
  expect_identical(owed$slowest(), 3)
})

test_that("a lost worker owes nothing, is reported once and keeps its first reason", {
  owed <- pcgpu:::owed_answers(3, function() 0)
  for (i in 1:3) {
    owed$call(i, "a")
  }
  owed$lose(3L, "first")
  owed$lose(3L, "second")
  owed$lose(1L, "other")
  expect_identical(owed$why(), c("other", NA, "first"))
  expect_identical(owed$late(), 2L)
  expect_false(owed$settle(3, "a"))
  expect_true(owed$any_lost())
  expect_identical(owed$take_lost(), c(3L, 1L))
  expect_false(owed$any_lost())
  expect_identical(owed$take_lost(), integer())
})

# Returns the mail of `count` jobs whose files are in a new folder. The test writes the jobs' files. `state$time`: the
# time in seconds.
mail_of_jobs <- function(count, silence = 10, env = parent.frame()) {
  folder <- tempfile()
  for (i in seq_len(count)) {
    dir.create(file.path(folder, i), recursive = TRUE)
  }
  do.call(on.exit, list(bquote(unlink(.(folder), recursive = TRUE)), add = TRUE), envir = env)
  state <- new.env()
  state$time <- 0
  place <- function(rank, name) file.path(folder, rank, name)
  c(pcgpu:::job_mail(count, place, silence, function() .POSIXct(state$time)), list(place = place, state = state))
}

running <- function(ranks) rep(TRUE, length(ranks))

test_that("messages with jobs are numbered by job, and answers are taken in their order, once", {
  mail <- mail_of_jobs(2)
  mail$send(1, "first")
  mail$send(2, "other")
  mail$send(1, "second")
  expect_identical(
    lapply(c(mail$place(1, c("to-1", "to-2")), mail$place(2, "to-1")), readRDS),
    list("first", "second", "other")
  )
  expect_length(mail$take(), 0)
  # The second answer waits for the first.
  saveRDS(as.raw(2), mail$place(1, "from-2"))
  expect_length(mail$take(), 0)
  saveRDS(as.raw(1), mail$place(1, "from-1"))
  saveRDS(as.raw(3), mail$place(2, "from-1"))
  expect_identical(mail$take(), list(list(rank = 1L, value = as.raw(1)), list(rank = 2L, value = as.raw(3))))
  expect_identical(mail$take(), list(list(rank = 1L, value = as.raw(2))))
  expect_identical(list.files(mail$place(1, ".")), c("to-1", "to-2"))
})

test_that("a job that reports an error, or whose answer cannot be read, is gone", {
  mail <- mail_of_jobs(2)
  saveRDS("it failed", mail$place(1, "from-1"))
  writeLines("no answer", mail$place(2, "from-1"))
  found <- suppressWarnings(mail$take())
  expect_identical(found[[1]], list(rank = 1L, value = "it failed"))
  expect_match(found[[2]]$value, pcgpu:::unreadable, fixed = TRUE)
  saveRDS(as.raw(1), mail$place(1, "from-2"))
  expect_length(mail$take(), 0)
  expect_length(mail$lost(function(ranks) rep(FALSE, length(ranks))), 0)
})

test_that("a silent job is lost unless it waits for a message", {
  mail <- mail_of_jobs(3, silence = 10)
  for (rank in 1:3) {
    mail$send(rank, "work")
  }
  # The first works, the second has read its message and waits, the third waits but did not see its message.
  for (rank in 1:2) {
    unlink(mail$place(rank, "to-1"))
  }
  for (rank in 2:3) {
    file.create(mail$place(rank, "waiting"))
  }
  mail$state$time <- 10
  expect_length(mail$lost(running), 0)
  mail$state$time <- 11
  found <- mail$lost(running)
  expect_identical(vapply(found, `[[`, 0L, "rank"), c(1L, 3L))
  expect_match(found[[1]]$value, pcgpu:::silent_for(10), fixed = TRUE)
  expect_length(mail$lost(running), 0)
})

test_that("a job that ended is lost after its last answer was taken", {
  mail <- mail_of_jobs(2)
  saveRDS(as.raw(1), mail$place(2, "from-1"))
  ended <- function(ranks) rep(FALSE, length(ranks))
  expect_identical(mail$lost(ended), list(list(rank = 1L, value = "its job has ended")))
  expect_identical(mail$take(), list(list(rank = 2L, value = as.raw(1))))
  expect_identical(mail$lost(ended), list(list(rank = 2L, value = "its job has ended")))
})
