# What a checkpoint knows of `suffStat` and `indepTest`.

known <- function(x) pcgpu:::known_bytes(x, "suffStat", "a file")
env <- function(...) list2env(list(...), parent = emptyenv())

# Each makes an object of the value v, of which the data of two such objects are the same where v is.
makers <- list(
  environment = function(v) env(s = v),
  "in lists" = function(v) list(a = list(env(b = env(c = v)))),
  attribute = function(v) structure(1:3, where = env(v = v)),
  "attribute of a list" = function(v) structure(list(1), where = env(v = v)),
  closure = function(v) function(x) x + v,
  "closure whose argument is not evaluated yet" = function(v) list(function(x) x + v),
  "closure that calls another" = function(v) {
    helper <- function() v
    function(x) x + helper()
  },
  "variable by name" = function(v) function(x) do.call("v", x),
  "variable by get()" = function(v) function(x) get(paste0("v", "")),
  "argument that is missing" = function(v, w) function(x) if (missing(w)) v,
  dots = function(...) function(x) list(...),
  code = function(v) eval(bquote(function(x) x + .(v))),
  "last digit of a number in code" = function(v) eval(bquote(function(x) x + .(1 + v * 1e-15))),
  default = function(v) eval(bquote(function(x = .(v)) x)),
  "argument left out" = function(v) eval(bquote(function(m) m[1, .(v)])),
  formula = function(v) y ~ x + v,
  expression = function(v) as.expression(bquote(a + .(v))),
  "active binding" = function(v) {
    made <- env()
    makeActiveBinding("a", function() v, made)
    made
  },
  cycle = function(v) {
    made <- env(v = v)
    made$self <- made
    made$list <- list(made, function() made)
    made
  },
  time = function(v) as.POSIXlt(v, origin = "2020-01-01", tz = "UTC"),
  primitive = function(v) if (v == 1) sum else max
)

expect_known <- function(makers) {
  for (kind in names(makers)) {
    make <- makers[[kind]]
    expect_identical(known(make(1)), known(make(1)), info = kind)
    expect_false(identical(known(make(1)), known(make(2))), info = kind)
  }
}

test_that("data behind references are compared by their values", {
  expect_known(makers)
})

test_that("slots, reference classes and R6 objects are compared by their values", {
  here <- environment()
  methods::setClass("pcgpuTestSlots", representation(a = "environment", b = "numeric"), where = here)
  methods::setClass("pcgpuTestNumbers", representation(a = "environment"), contains = "numeric", where = here)
  reference <- methods::setRefClass(
    "pcgpuTestReference",
    fields = list(x = "numeric", y = "list", twice = function(value) if (missing(value)) x * 2),
    methods = list(get_x = function() x),
    where = here
  )
  on.exit({
    methods::removeClass("pcgpuTestSlots", where = here)
    methods::removeClass("pcgpuTestNumbers", where = here)
    reference$methods()
  })
  expect_known(list(
    slot = function(v) methods::new("pcgpuTestSlots", a = env(v = v), b = 1),
    "slot of numbers" = function(v) methods::new("pcgpuTestNumbers", 1:3, a = env(v = v)),
    reference = function(v) reference$new(x = v),
    "field with an environment" = function(v) reference$new(x = 1, y = list(env(v = v))),
    method = function(v) reference$new(x = v)$get_x
  ))
  # R puts methods into an object as they are used.
  used <- reference$new(x = 1)
  before <- known(used)
  used$get_x()
  expect_identical(known(used), before)
  skip_if_not_installed("R6")
  counted <- R6::R6Class(
    "counted",
    public = list(get = function() private$kept, initialize = function(v) private$kept <- v),
    private = list(kept = 0),
    active = list(twice = function() private$kept * 2)
  )
  expect_known(list(private = function(v) counted$new(v), method = function(v) counted$new(v)$get))
})

test_that("parts that do not belong to a value are not compared", {
  makes_counter <- function(v) {
    count <- v
    function(x) {
      count <<- count + 1
      x
    }
  }
  expect_identical(known(makes_counter(1)), known(makes_counter(2)))
  # The frame in which such a function was made continues.
  named <- function(v) {
    other <- v
    function(x, suffStat) get("s", suffStat)
  }
  expect_identical(known(named(1)), known(named(2)))
  in_workspace <- function(x) x + some_variable
  environment(in_workspace) <- globalenv()
  for (large in list(globalenv(), asNamespace("stats"), baseenv(), in_workspace)) {
    expect_lt(length(known(large)), 2000)
  }
  parsed <- function(text, keep) eval(parse(text = text, keep.source = keep)[[1]])
  expect_identical(
    known(parsed("function(x) { function(y) y }", TRUE)),
    known(parsed("function(x)  {\n function(y)   y # a\n }", FALSE))
  )
  unused <- function(v) function(x) x
  expect_identical(known(unused(1)), known(unused(2)))
  # The matrix that such an object makes for itself.
  kept <- suff_gauss(matrix(stats::rnorm(100), 20), keep = "data")
  before <- known(kept)
  kept$C
  expect_identical(known(kept), before)
  skip_if_not_installed("data.table")
  expect_known(list(table = function(v) data.table::data.table(a = v)))
})

test_that("data that R cannot read are refused by name, before the search", {
  pointer <- methods::new("externalptr")
  deep <- NULL
  for (i in 1:20000) {
    deep <- env(x = deep)
  }
  asked <- 0
  test <- function(x, y, S, suffStat) {
    asked <<- asked + 1
    1
  }
  file <- no_file()
  says <- list(
    "contains an object of type \"externalptr\"",
    "is nested too deeply",
    "contains \"a\", which cannot be evaluated [(]gone[)]"
  )
  broken <- env()
  delayedAssign("a", stop("gone"), assign.env = broken)
  wrong <- list(list(a = list(pointer)), deep, broken)
  for (i in seq_along(wrong)) {
    e <- expect_error(
      skeleton(wrong[[i]], test, 0.2, p = 4, checkpoint = file),
      says[[i]],
      class = "pcgpu_error_checkpoint"
    )
    expect_identical(e$reason, "unreadable")
    expect_match(conditionMessage(e), "`suffStat`.*leave out `checkpoint`")
    expect_match(e$hint, "leave out `checkpoint`")
  }
  expect_error(
    skeleton(1, function(x, y, S, suffStat) pointer, 0.2, p = 4, checkpoint = file),
    "`indepTest` contains",
    class = "pcgpu_error_checkpoint"
  )
  expect_identical(asked, 0)
  expect_false(file.exists(file))
  expect_s4_class(skeleton(wrong[[1]], test, 0.2, p = 4), "pcAlgo")
})

test_that("a search of some data does not continue with others", {
  on.exit(options(pcgpu_test_limit = NULL))
  left <- 0
  test <- function(x, y, S, suffStat) {
    left <<- left + 1
    if (left == getOption("pcgpu_test_limit")) {
      stop("the machine is gone")
    }
    gaussCItest(x, y, S, get("s", suffStat))
  }
  of <- function(seed) env(s = small(seed = seed))
  # The data of the test itself.
  holding <- function(s) {
    function(x, y, S, suffStat) {
      if (identical(S, getOption("pcgpu_test_set"))) {
        stop("the machine is gone")
      }
      gaussCItest(x, y, S, s)
    }
  }
  for (search in list(skeleton, pc, fci, rfci, fciPlus)) {
    file <- no_file()
    options(pcgpu_test_limit = left + 30)
    expect_error(search(of(1), test, 0.2, p = 9, checkpoint = file), class = "pcgpu_error_test")
    options(pcgpu_test_limit = Inf)
    e <- expect_error(
      search(of(2), test, 0.2, p = 9, checkpoint = file),
      "`suffStat` differs",
      class = "pcgpu_error_checkpoint"
    )
    expect_identical(e$reason, "arguments")
    found <- while_resumed(search(of(1), test, 0.2, p = 9, checkpoint = file))
    expect_s3_class(found$resumed_from, "pcgpu_message_resumed")
    expect_identical(parts(found$value), parts(search(of(1), test, 0.2, p = 9)))
    options(pcgpu_test_set = 3L)
    expect_error(search(NULL, holding(small(seed = 1)), 0.2, p = 9, checkpoint = file), class = "pcgpu_error_test")
    options(pcgpu_test_set = NULL)
    expect_error(
      search(NULL, holding(small(seed = 2)), 0.2, p = 9, checkpoint = file),
      "`indepTest` differs",
      class = "pcgpu_error_checkpoint"
    )
    found <- while_resumed(search(NULL, holding(small(seed = 1)), 0.2, p = 9, checkpoint = file))
    expect_s3_class(found$resumed_from, "pcgpu_message_resumed")
  }
})
