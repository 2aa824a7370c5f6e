knowledge_like <- function(tier = NA, edges = NULL) {
  labels <- c("b", "a", "c")
  list(
    vars = data.frame(var = labels, tier = rep_len(tier, 3)),
    tiers = data.frame(label = c("young", "old")),
    edges = edges %||% data.frame(status = character(), from = character(), to = character())
  )
}

test_that("knowledge becomes arguments of a search", {
  read <- pcgpu:::knowledge_of_disco
  expect_identical(read(knowledge_like()), list(tiers = NULL, forbidden = NULL, required = NULL))
  expect_identical(read(knowledge_like(c("old", "young", "old")))$tiers, c(b = 2L, a = 1L, c = 2L))
  edges <- data.frame(status = c("required", "forbidden"), from = c("a", "b"), to = c("b", "c"))
  found <- read(knowledge_like(edges = edges))
  expect_identical(found$forbidden, data.frame(from = "b", to = "c"))
  expect_identical(found$required, data.frame(from = "a", to = "b"))
})

test_that("causalDisco's names of tests are known", {
  expect_identical(pcgpu:::disco_test("Fisher_z"), list(indepTest = "gaussCItest"))
  expect_identical(pcgpu:::disco_test("g_square_twd"), list(indepTest = "disCItwd"))
  expect_identical(pcgpu:::disco_test("rcot"), list(indepTest = "rcot"))
  expect_identical(pcgpu:::disco_test(gaussCItest), list(indepTest = gaussCItest))
  expect_null(pcgpu:::disco_test(NULL))
  expect_true(all(pcgpu:::disco_tests %in% getNamespaceExports("pcgpu")))
})

test_that("arguments are checked, and causalDisco is required", {
  expect_identical(expect_error(disco_search("ges"), class = "pcgpu_error_argument")$argument, "alg")
  expect_error(disco_search("pc", core = 2), "`core`", class = "pcgpu_error_argument")
  error <- expect_error(disco_search("pc", tiers = 1), class = "pcgpu_error_argument")
  expect_identical(error$argument, "tiers")
  skip_if(requireNamespace("causalDisco", quietly = TRUE), "causalDisco is installed")
  expect_identical(expect_error(disco_search("pc"), class = "pcgpu_error_package")$package, "causalDisco")
})

skip_without_disco <- function() {
  skip_if_not_installed("causalDisco")
  skip_if_not("as_disco" %in% getNamespaceExports("causalDisco"), "causalDisco has no as_disco()")
}

test_that("disco() gives the graphs of causalDisco's engines", {
  skip_without_disco()
  data <- get(utils::data("tpc_example", package = "causalDisco", envir = environment()))
  known <- causalDisco::knowledge(
    data,
    tier(child ~ child_x1 + child_x2, youth ~ youth_x3 + youth_x4, old ~ oldage_x5 + oldage_x6)
  )
  run <- function(method, knowledge = NULL) causalDisco::disco(data, method, knowledge)
  same <- function(ours, theirs) {
    expect_s3_class(ours, "Disco")
    expect_identical(sorted_edges(edge_table(ours)), sorted_edges(edge_table(theirs)))
  }
  ours <- function(alg, ...) disco_search(alg, "fisher_z", alpha = 0.05, numCores = 2, ...)
  same(run(ours("pc")), run(causalDisco::pc("pcalg", "fisher_z", 0.05)))
  same(run(ours("fci")), run(causalDisco::fci("pcalg", "fisher_z", 0.05)))
  same(run(ours("rfci")), run(causalDisco::rfci("pcalg", "fisher_z", 0.05)))
  same(run(ours("pc"), known), run(causalDisco::tpc("causalDisco", "fisher_z", 0.05), known))
  expect_error(run(disco_search("pc", "fisher", numCores = 2)), class = "pcgpu_error_argument")
})

test_that("required and forbidden arrows, and tiers of some variables, hold", {
  skip_without_disco()
  data <- get(utils::data("tpc_example", package = "causalDisco", envir = environment()))
  known <- causalDisco::knowledge(
    data,
    tier(1 ~ child_x1, 2 ~ oldage_x6),
    child_x2 %-->% child_x1,
    youth_x3 %!-->% oldage_x5
  )
  found <- suppressMessages(causalDisco::disco(data, disco_search("pc", "fisher_z", numCores = 2), known))
  table <- edge_table(found)
  arrows <- paste(table$from, table$kind, table$to)
  expect_true("child_x2 --> child_x1" %in% arrows)
  expect_false("youth_x3 --> oldage_x5" %in% arrows)
})

test_that("the engine is registered", {
  skip_without_disco()
  skip_if_not("register_engine" %in% getNamespaceExports("causalDisco"))
  expect_true("pcgpu" %in% causalDisco::list_registered_engines())
  runner <- causalDisco::make_runner("pcgpu", "pc", test = "fisher_z", alpha = 0.05, numCores = 2)
  found <- runner$run(as.data.frame(simulate(5, 100, seed = 1)))
  expect_identical(
    sorted_edges(edge_table(found)),
    sorted_edges(edge_table(pc(simulate(5, 100, seed = 1), gaussCItest, 0.05, numCores = 2)))
  )
  expect_error(causalDisco::make_runner("pcgpu", "ges"), class = "pcgpu_error_argument")
})
