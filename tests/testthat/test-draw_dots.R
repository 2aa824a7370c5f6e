sparse <- function(n, seed = 1) random_dag(n, min(1.5, n - 1), seed = seed)

# Returns the layout of the picture. The device is open.
placed <- function(x, ..., labels = NULL, page = c(7, 6)) {
  wish <- utils::modifyList(
    list(around = NULL, order = 1, isolated = NULL, components = NULL, colour = NULL, size = NULL, layout = "stress"),
    list(...)
  )
  asked <- pcgpu:::asked_graph(pcgpu:::edges_of(x), labels, wish)
  grDevices::pdf(NULL, page[1], page[2])
  on.exit(grDevices::dev.off())
  pcgpu:::new_page(NULL, asked$remark)
  c(pcgpu:::place_on_page(asked$listed, wish = asked$wish), list(labels = asked$listed$labels))
}

# Returns character(0) if dots and labels are apart, above the legend and on the page, else the faults.
wrong_of <- function(place) {
  if (!nrow(place$xy)) {
    return(character())
  }
  half <- place$size / 2
  xy <- place$xy
  floor <- place$keys_at + if (is.null(place$keys)) 0 else (place$keys$rows - 0.5) * place$keys$high
  if (!is.null(place$legend)) {
    floor <- max(floor, place$legend$height)
  }
  tags <- place$tags
  low <- cbind(tags$x - tags$wide / 2, tags$y - tags$high / 2)
  high <- cbind(tags$x + tags$wide / 2, tags$y + tags$high / 2)
  over <- FALSE
  if (length(tags$x) > 1) {
    over <- outer(low[, 1], high[, 1], `<`) &
      outer(high[, 1], low[, 1], `>`) &
      outer(low[, 2], high[, 2], `<`) &
      outer(high[, 2], low[, 2], `>`)
    over <- any(over[upper.tri(over)])
  }
  little <- 1e-9
  names(which(c(
    dots = length(pcgpu:::near_pairs(xy, place$size, 0, most = 0)$a) > 0,
    left = any(xy - half < -little),
    right = any(xy[, 1] + half[, 1] > place$page[1] + little),
    top = any(xy[, 2] + half[, 2] > place$page[2] + little),
    legend = any(xy[, 2] - half[, 2] < floor - little),
    tags_on_legend = any(low[, 2] < floor - little),
    tags_off = any(low < -little | high[, 1] > place$page[1] + little | high[, 2] > place$page[2] + little),
    tags = over
  )))
}

test_that("dots lie apart, on the page and above the legend, and so do labels, at every size", {
  for (n in c(1, 2, 11, 50, 300, 1190)) {
    values <- factor(rep_len(c("kinase", "receptor", "transcription factor", NA), n))
    for (page in list(c(7, 6), c(3, 3), c(12, 4))) {
      place <- placed(
        sparse(n),
        isolated = TRUE,
        size = seq_len(n) - 1,
        colour = list("kind of protein" = values),
        page = page
      )
      expect_true(place$dots)
      expect_identical(wrong_of(place), character(), info = paste(n, page[1]))
    }
  }
})

test_that("boxes become dots if they lack room, and hubs are labelled", {
  expect_false(placed(sparse(11))$dots)
  expect_false(placed(sparse(300), labels = TRUE)$dots)
  large <- placed(sparse(1500))
  expect_true(large$dots)
  expect_identical(wrong_of(large), character())
  degree <- tabulate(c(large$edges$from, large$edges$to), nrow(large$xy))
  # Labels at places that others took are missing, but not many.
  expect_gt(min(degree[large$tags$node]), stats::quantile(degree, 0.95) - 1)
  expect_gt(nrow(large$tags), 10)
  expect_null(placed(sparse(50), labels = FALSE)$tags)
  few <- placed(sparse(50), labels = "hubs")
  expect_true(few$dots && nrow(few$tags) < 50)
  # All labels are there if they are asked for, whatever they cover.
  expect_equal(
    nrow(placed(sparse(300), labels = TRUE, size = "degree")$tags),
    nrow(placed(sparse(300), labels = TRUE, size = "degree")$xy)
  )
})

test_that("an empty graph draws nothing, a single edge is drawn, and so are nodes without an edge", {
  expect_identical(wrong_of(placed(matrix(0, 0, 0), labels = "hubs")), character())
  expect_identical(wrong_of(placed(matrix(c(0, 0, 1, 0), 2), labels = "hubs")), character())
  alone <- placed(matrix(0, 500, 500))
  expect_equal(nrow(alone$xy), 500)
  expect_identical(wrong_of(alone), character())
  expect_silent(drawn(plot_cpdag(matrix(0, 3, 3), isolated = FALSE)))
})

test_that("edges of a picture that would be black let others through", {
  kinds <- pcgpu:::edge_look()
  dense <- placed(random_dag(1000, 40, seed = 1))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  alpha <- grDevices::col2rgb(pcgpu:::thinned("#333333", dense), alpha = TRUE)[4]
  expect_lt(alpha, 200)
  expect_identical(pcgpu:::thinned("#333333", placed(sparse(11))), "#333333")
})

test_that("places of the user's are kept, at one scale", {
  m <- matrix(c(0, 1, 0, 0, 0, 1, 0, 0, 0), 3, dimnames = list(letters[1:3], letters[1:3]))
  given <- rbind(a = c(0, 0), b = c(4, 0), c = c(0, 2))
  for (labels in list(NULL, "hubs")) {
    for (layout in list(given, given[3:1, ], unname(given))) {
      xy <- placed(m, layout = layout, labels = labels)$xy
      expect_equal((xy[2, 1] - xy[1, 1]) / (xy[3, 2] - xy[1, 2]), 2)
      expect_equal(xy[1, 2], xy[2, 2])
    }
  }
  skip_if_not_installed("igraph")
  xy <- placed(m, layout = function(graph) given[igraph::V(graph)$name, ])$xy
  expect_equal((xy[2, 1] - xy[1, 1]) / (xy[3, 2] - xy[1, 2]), 2)
  for (bad in list(
    "spiral",
    given[1:2, , drop = FALSE][1, ],
    matrix(0, 5, 2),
    matrix(0, 3, 3),
    rbind(given[1:2, ], c = c(NA, 1)),
    function(graph) 1
  )) {
    expect_error(plot_cpdag(m, layout = bad), "`layout`", class = "pcgpu_error_argument")
  }
})

test_that("Rgraphviz reports what it cannot do, and a page is not for a picture", {
  m <- matrix(c(0, 0, 1, 0), 2)
  asked <- list(colour = 1:2, size = 1:2, layout = matrix(0, 2, 2))
  for (argument in names(asked)) {
    expect_error(
      do.call(plot_cpdag, c(list(m, engine = "Rgraphviz"), asked[argument])),
      sprintf("`%s`", argument),
      class = "pcgpu_error_argument"
    )
  }
  expect_error(plot_cpdag(m, engine = "Rgraphviz", labels = "hubs"), "`labels`", class = "pcgpu_error_argument")
  expect_error(plot_cpdag(m, file = "a.html"), "`file`", class = "pcgpu_error_argument")
})

test_that("a random DAG, a CPDAG and an averaged graph are drawn by plot()", {
  dag <- random_dag(8, 2, seed = 1)
  expect_graph_drawn(drawn(plot(dag)), dag)
  expect_graph_drawn(drawn(plot(cpdag_of(dag))), cpdag_of(dag))
})

test_that("igraph draws colours, sizes and dots as well", {
  skip_if_not_installed("igraph")
  dag <- random_dag(8, 2, seed = 1)
  for (engine in c("base", "igraph")) {
    picture <- drawn(plot_cpdag(
      dag,
      engine = engine,
      isolated = TRUE,
      size = "degree",
      colour = list(z = factor(rep(c("low", "high"), 4)))
    ))
    expect_true(all(c(dag$labels, "z:", "low", "high", "degree:") %in% picture$texts$label))
    fills <- vapply(picture$shapes, `[[`, "", "fill")
    expect_gte(sum(fills == pcgpu:::level_colours(2)[1]), 5)
  }
})


test_that("each end of a legend has three digits of its own", {
  expect_identical(pcgpu:::format_ends(c(0.002068, 4.0812)), c("0.00207", "4.08"))
  expect_identical(pcgpu:::format_ends(c(-12345, 12345)), c("-12,300", "12,300"))
})
