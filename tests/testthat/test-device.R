chosen <- function(device, kind = "gauss", method = "stable", pays = TRUE) {
  pcgpu:::choose_device(pcgpu:::check_device(device), list(kind = kind), 100, method, pays)
}

# Returns a test in the form that Rust receives.
mixed_test <- function(n, holes = "testwise", levels = 3L) {
  list(kind = "mixed", n = n, sets = 1, holes = holes, columns = list(list(levels = 0L), list(levels = levels)))
}

test_that("names of GPUs are read", {
  expect_identical(pcgpu:::check_device("cuda")$ordinal, 0L)
  expect_identical(pcgpu:::check_device("cuda:0")$ordinal, 0L)
  expect_identical(pcgpu:::check_device("cuda:12")$ordinal, 12L)
  expect_identical(pcgpu:::device_name(pcgpu:::check_device("cuda:3")), "cuda:3")
})

test_that("several devices are read", {
  several <- pcgpu:::check_device(c("cuda:1", "cuda", "cuda:1", "cpu"))
  expect_identical(several$ordinal, c(1L, 0L))
  expect_true(several$cpu)
  expect_identical(pcgpu:::device_name(several), "cpu + cuda:1 + cuda:0")
  expect_identical(pcgpu:::engine_list(several, 2)$ordinals, c(1L, 0L))
  expect_output(print(cuda_device(c("cuda:0", "cuda:1"), memory = 1e9)), "cuda:0 [+] cuda:1")
  for (bad in list(
    c("cpu", "auto"),
    c("cpu", "cpu"),
    c("cuda", NA),
    character(),
    c("cuda:0", "cuda:x"),
    list("cuda")
  )) {
    expect_error(pcgpu:::check_device(bad), "`device`.*cuda:all", class = "pcgpu_error_argument")
  }
  if (nrow(pcgpu_devices()) == 0) {
    expect_error(pcgpu:::check_device("cuda:all"), "there is no GPU", class = "pcgpu_error_argument")
  } else {
    expect_identical(length(pcgpu:::check_device("cuda:all")$ordinal), nrow(pcgpu_devices()))
  }
})

test_that("run_details() reports the work of each machine", {
  team <- list(
    machine = c("cuda:0", "cuda:0", "cuda:1"),
    level = c(1, NA, 1),
    shards = c(3, 0, 2),
    rows = c(0, 0, 0),
    to = c(8e6, 0, 1e6),
    from = c(0, 1234, 5),
    busy = c(1, 0, 0),
    elapsed = c(2, 0, 0)
  )
  call <- pcgpu:::with_details(quote(pc()), c("cuda:0", "cuda:1"), 1e5, NULL, NULL, NULL, team)
  found <- attr(call, "pcgpu")$team
  expect_identical(found$device, c("cuda:0", "cuda:1", "cuda:0"))
  expect_identical(found$level, c(1L, 1L, NA))
  expect_identical(found$bytes_to, c(8e6, 1e6, 0))
  expect_identical(found$busy, c(0.5, 0, 0))
  fit <- small_fit()
  fit@call <- call
  said <- capture.output(print(run_details(fit)))
  expect_match(said, "on cuda:0 + cuda:1", fixed = TRUE, all = FALSE)
  expect_match(said, "100,000", fixed = TRUE, all = FALSE)
  expect_match(said, "^ +1 +cuda:0 +3 +8.00 MB +0 B +2.000 +50 %$", all = FALSE)
  expect_match(said, "^ *answer +cuda:0 +0 B +1.23 kB *$", all = FALSE)
  expect_message(
    pcgpu:::tell_lost(list(machine = "cuda:1", reason = "it fell out")),
    "cuda:1 failed.*it fell out",
    class = "pcgpu_message_lost"
  )
  expect_silent(pcgpu:::tell_lost(list(machine = character(), reason = character())))
  m <- tryCatch(
    pcgpu:::tell_lost(list(machine = "cuda:1", reason = "cuda:0 runs the search alone", failed = FALSE)),
    pcgpu_message_lost = identity
  )
  expect_identical(
    conditionMessage(m),
    "cuda:1 has too little memory and takes no further part: cuda:0 runs the search alone.\n"
  )
  expect_false(m$failed)
})

test_that("a message reports that a CPU named along with GPUs is idle in tests that GPUs run alone", {
  for (kind in c("gauss", "discrete")) {
    m <- expect_message(
      device <- chosen(c("cpu", "cuda:1"), kind),
      "takes no part.*mixed data",
      class = "pcgpu_message_cpu_idle"
    )
    expect_identical(m$device, c("cpu", "cuda:1"))
    expect_identical(pcgpu:::device_names(device), "cuda:1")
  }
  expect_silent(chosen(c("cuda:0", "cuda:1")))
  expect_silent(device <- pcgpu:::choose_device(pcgpu:::check_device(c("cpu", "cuda:1")), mixed_test(100), 100))
  expect_identical(pcgpu:::device_names(device), c("cpu", "cuda:1"))
  expect_silent(chosen(c("cpu", "cuda"), "knn"))
})

test_that("the driver of a cluster reports an idle CPU, and workers get a device without it", {
  without <- pcgpu:::without_idle_cpu
  gauss <- list(kind = "gauss")
  for (device in list(c("cpu", "cuda:all"), c("cuda:0", "cpu", "cuda:1"), c("cpu", "cuda"))) {
    m <- expect_message(left <- without(device, gauss), class = "pcgpu_message_cpu_idle")
    expect_identical(m$device, device)
    expect_identical(left, setdiff(device, "cpu"))
    expect_silent(same <- without(device, list(kind = "knn")))
    expect_identical(same, device)
    expect_silent(without(left, gauss))
  }
  for (device in list("auto", "cpu", "cuda", cpu_device(), c("cpu", "tpu", "cuda"), 1, NULL)) {
    expect_silent(same <- without(device, gauss))
    expect_identical(same, device)
  }
})

test_that("GPUs that are too old are not chosen", {
  gpus <- data.frame(compute_capability = c("7.0", "9.0", "10.0", "7.5"))
  expect_identical(pcgpu:::usable_gpus(gpus), c(1L, 2L, 3L) + 0L)
  expect_length(pcgpu:::usable_gpus(gpus[0, , drop = FALSE]), 0)
})

test_that("several GPUs pay from a certain amount of work", {
  pays <- pcgpu:::gpus_pay
  expect_true(pays(list(kind = "gauss"), pcgpu:::auto_team_variables))
  expect_false(pays(list(kind = "gauss"), pcgpu:::auto_team_variables - 1))
  expect_false(pays(list(kind = "discrete", dm = matrix(0L, 10, 100), p = 100), 100))
  expect_false(pays(list(kind = "knn", data = matrix(0, 10, 11), p = 11, permutations = 99), 11))
  expect_false(pays(mixed_test(1000), 100))
  expect_false(pays(list(kind = "features", form = "rcot", n = 1e6), 1000))
  expect_false(pays(list(kind = "function"), 1e5))
})

test_that("the automatic choice is a GPU for many variables and a native test, and the CPU otherwise", {
  expect_identical(chosen("auto")$kind, "cuda")
  expect_true(chosen("auto")$automatic)
  expect_identical(chosen("auto", pays = FALSE)$kind, "cpu")
  expect_identical(chosen("auto", method = "original")$kind, "cpu")
  expect_identical(chosen("cpu")$kind, "cpu")
})

test_that("a GPU pays from a certain amount of work", {
  pays <- pcgpu:::gpu_pays
  expect_true(pays(list(kind = "gauss"), pcgpu:::auto_variables))
  expect_false(pays(list(kind = "gauss"), pcgpu:::auto_variables - 1))
  discrete <- function(n) pays(list(kind = "discrete", dm = matrix(0L, n, 100), p = 100), 100)
  expect_true(discrete(ceiling(pcgpu:::auto_counts / 4950)))
  expect_false(discrete(floor(pcgpu:::auto_counts / 4951)))
  knn <- function(n) pays(list(kind = "knn", data = matrix(0, n, 11), p = 11, permutations = 99), 11)
  expect_true(knn(ceiling(sqrt(pcgpu:::auto_neighbours / 5500))))
  expect_false(knn(floor(sqrt(pcgpu:::auto_neighbours / 5501))))
  expect_true(pays(mixed_test(ceiling(pcgpu:::auto_cells / 4950)), 100))
  expect_false(pays(mixed_test(floor(pcgpu:::auto_cells / 4951)), 100))
  expect_false(pays(mixed_test(pcgpu:::auto_cells, "imputed", 0L), 100))
  expect_false(pays(mixed_test(pcgpu:::auto_cells, levels = 0L), 100))
  expect_false(pays(mixed_test(pcgpu:::auto_cells_rows - 1), 1e5))
  features <- function(n, form = "rcot") pays(list(kind = "features", form = form, n = n), 100)
  expect_true(features(ceiling(pcgpu:::auto_features / 4950)))
  expect_false(features(floor(pcgpu:::auto_features / 4951)))
  expect_false(features(1e6, "kci.gamma"))
  expect_false(pays(list(kind = "function"), 1e5))
})

test_that("tiers exclude a GPU for tests whose kernels do not support tiers", {
  order <- function(kind, tiers) {
    pcgpu:::order_of_tests(list(kind = kind), list(method = "stable", knowledge = list(tiers = tiers)))
  }
  expect_identical(order("gauss", NULL), "stable")
  for (kind in c("gauss", "discrete")) {
    expect_identical(order(kind, 1:3), "original")
  }
  for (kind in c("knn", "mixed")) {
    expect_identical(order(kind, 1:3), "stable")
  }
})

test_that("a GPU that is named is used, or refused if it cannot do the work", {
  for (pays in c(TRUE, FALSE)) {
    device <- chosen("cuda:1", pays = pays)
    expect_identical(device$kind, "cuda")
    expect_false(device$automatic)
  }
  expect_error(chosen("cuda", kind = "function"), "`device` is .cuda:0.*R function", class = "pcgpu_error_argument")
  expect_identical(chosen("cuda", method = "original")$kind, "cuda")
  gpus <- pcgpu:::check_device("cuda")
  expect_identical(pcgpu:::choose_device(gpus, mixed_test(100), 2)$kind, "cuda")
  expect_identical(pcgpu:::choose_device(gpus, mixed_test(100, "imputed"), 2)$kind, "cuda")
  expect_error(
    pcgpu:::choose_device(gpus, mixed_test(100, "imputed", 0L), 2),
    "`device`.*imputed numeric data",
    class = "pcgpu_error_argument"
  )
  wrapped <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  expect_error(pc(suff(), wrapped, 0.05, p = 8, device = "cuda"), class = "pcgpu_error_argument")
})

# Mocks a boundary whose GPU fails in some way.
broken <- function(class, message = "it is broken: fix it") {
  asked <- character()
  list(
    run = function(engine) {
      asked <<- c(asked, engine$kind)
      if (engine$kind == "cuda") list(error = list(class = class, message = message)) else list(device = "cpu")
    },
    asked = function() asked
  )
}

forget <- function() assign("reported", list(), envir = pcgpu:::session)

test_that("a GPU that fails is replaced by the CPU, with one message per session", {
  forget()
  for (class in c(
    "device_old_driver",
    "device_old_device",
    "device_busy",
    "device_out_of_memory",
    "device_failed",
    "device_forked"
  )) {
    rust <- broken(class)
    said <- expect_message(
      answer <- pcgpu:::on_device(chosen("auto"), 2L, rust$run),
      "uses the CPU.*it is broken",
      class = "pcgpu_message_fallback"
    )
    expect_identical(said$reason, sub("device_", "", class))
    expect_identical(answer$device, "cpu")
    expect_identical(rust$asked(), c("cuda", "cpu"))
    expect_silent(pcgpu:::on_device(chosen("auto"), 2L, rust$run))
  }
  forget()
})

test_that("a machine without a GPU gives no message", {
  for (class in c("device_no_driver", "device_no_device")) {
    rust <- broken(class)
    expect_silent(answer <- pcgpu:::on_device(chosen("auto"), 2L, rust$run))
    expect_identical(answer$device, "cpu")
  }
})

test_that("a GPU that was named is not replaced, and its error is classed", {
  rust <- broken("device_out_of_memory")
  answer <- pcgpu:::on_device(chosen("cuda"), 2L, rust$run)
  expect_identical(rust$asked(), "cuda")
  e <- expect_error(pcgpu:::check_rust(answer), "fix it", class = "pcgpu_error_device")
  expect_s3_class(e, "pcgpu_error_device_out_of_memory")
  expect_s3_class(e, "pcgpu_error")
})

test_that("other failures are not attributed to the device", {
  rust <- broken("numeric")
  answer <- pcgpu:::on_device(chosen("auto"), 2L, rust$run)
  expect_identical(rust$asked(), "cuda")
  expect_error(pcgpu:::check_rust(answer), class = "pcgpu_error_numeric")
})

test_that("without a GPU, device = \"auto\" is the CPU, silently, and \"cuda\" gives an error with a remedy", {
  skip_with_gpu()
  p <- pcgpu:::auto_variables
  expect_silent(skel <- skeleton(list(C = diag(p), n = 100), gaussCItest, 0.05, p = p, numCores = 2))
  expect_identical(run_details(skel)$device, "cpu")
  e <- expect_error(pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda"), class = "pcgpu_error_device")
  expect_match(conditionMessage(e), "device = \"cpu\"", fixed = TRUE)
  expect_error(
    orient(
      skeleton(suff(), gaussCItest, 0.05, p = 8),
      maj.rule = TRUE,
      suffStat = suff(),
      indepTest = gaussCItest,
      alpha = 0.05,
      device = "cuda:1"
    ),
    class = "pcgpu_error_device"
  )
  expect_s4_class(pc(suff(), gaussCItest, 0.05, p = 8), "pcAlgo")
})

test_that("an error reports a missing driver", {
  skip_with_gpu()
  skip_if(nzchar(Sys.which("nvidia-smi")), "this machine has an NVIDIA driver")
  expect_error(pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda"), "driver", class = "pcgpu_error_device_no_driver")
})
