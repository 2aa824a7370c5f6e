letters5 <- letters[1:5]

test_that("numbers become a scale: light to dark, or both ways from 0", {
  one <- pcgpu:::node_colours(1:5, letters5)
  light <- colSums(grDevices::col2rgb(one$fill))
  expect_true(all(diff(light) < 0))
  expect_identical(one$key$ends, c(1, 5))
  both <- pcgpu:::node_colours(c(-1, 0, 2, NA, -Inf), letters5)
  expect_identical(both$key$ends, c(-2, 2))
  expect_true(all(grDevices::col2rgb(both$fill[2]) > 230))
  expect_identical(both$fill[4], pcgpu:::no_value)
  expect_true(both$key$missing)
  expect_length(unique(pcgpu:::node_colours(rep(3, 5), letters5)$fill), 1)
  expect_identical(pcgpu:::node_colours(rep(NA_real_, 5), letters5)$fill, rep(pcgpu:::no_value, 5))
})

test_that("factors, words and logical values have a colour each; colours are drawn as they are", {
  found <- pcgpu:::node_colours(list(kind = c("x", "y", NA, "x", "y")), letters5)
  expect_identical(
    found$key[c("title", "labels", "missing")],
    list(title = "kind", labels = c("x", "y"), missing = TRUE)
  )
  expect_identical(found$fill[1:2], found$key$colours)
  expect_length(unique(pcgpu:::node_colours(c(TRUE, FALSE, TRUE, NA, TRUE), letters5)$fill), 3)
  plain <- pcgpu:::node_colours(c("red", "#00FF00", NA, "blue", "red"), letters5)
  expect_identical(plain, list(fill = c("red", "#00FF00", pcgpu:::no_value, "blue", "red")))
  expect_identical(pcgpu:::node_colours("red", letters5)$fill, rep("red", 5))
  expect_length(unique(pcgpu:::node_colours(factor(1:30), as.character(1:30))$fill), 30)
})

test_that("values are matched by names if they have names", {
  expect_identical(pcgpu:::values_of_nodes(c(e = 5, a = 1), letters5, "colour")$values, c(1, NA, NA, NA, 5))
  for (bad in list(1:4, list(1:5, 1:5), matrix(1:5), mean, NULL)) {
    expect_error(pcgpu:::values_of_nodes(bad, letters5, "colour"), "`colour`", class = "pcgpu_error_argument")
  }
})

test_that("areas follow the values", {
  found <- pcgpu:::node_sizes(c(0, 1, 2, 4, NA), letters5, NULL)
  expect_equal(found$size^2, 1 + 8 * c(0, 1, 2, 4, 0) / 4)
  expect_identical(pcgpu:::node_sizes("degree", letters5, c(0, 0, 0, 2, 2))$key$ends, c(0, 2))
  expect_identical(pcgpu:::node_sizes(rep(0, 5), letters5, NULL)$size, rep(1, 5))
  for (bad in list(-1:3, c(1, 2, 3, 4, Inf), letters5, "radius", 1:4)) {
    expect_error(pcgpu:::node_sizes(bad, letters5, 1:5), "`size`", class = "pcgpu_error_argument")
  }
})

test_that("labels can be read on their colour", {
  expect_identical(
    pcgpu:::label_colours(c("white", "navy", "black", "yellow", "transparent")),
    c("black", "white", "white", "black", "black")
  )
})

test_that("values of nodes with names are matched by them, and other names give a warning", {
  labels <- c("a", "b", "d")
  expect_identical(in_order_of_nodes(c(d = 3, a = 1, b = 2), labels, "labels"), c(a = 1, b = 2, d = 3))
  expect_identical(in_order_of_nodes(3:1, labels, "labels"), 3:1)
  expect_error(
    in_order_of_nodes(c(d = 3, a = 1, z = 2), labels, "labels"),
    "others that are: \"z\"",
    class = "pcgpu_error_argument"
  )
  for (of in list(in_order_of_nodes, values_of_nodes)) {
    expect_warning(
      of(c(x = 1, y = 2, z = 3), labels, "size"),
      "`size`, such as \"x\", match no node: its values are assigned by position",
      class = "pcgpu_warning_names"
    )
    expect_no_warning(of(c(x = 1, y = 2, z = 3), c("1", "2", "3"), "size"))
  }
})

test_that("plot() gives labels, fills and places to the nodes that their names give", {
  chain <- matrix(0, 3, 3, dimnames = list(c("a", "b", "d"), c("a", "b", "d")))
  chain["a", "b"] <- chain["b", "d"] <- 1
  asked <- function(...) asked_graph(drawn_edges_of(chain), ..., wish = list(order = 1, layout = "stress"))
  expect_identical(asked(c(d = "D", a = "A", b = "B"))$listed$labels, c("A", "B", "D"))
  given <- of_drawn_nodes(list(node_fill = c(d = "red", a = "blue", b = "green"), main = "x"), asked(NULL))
  expect_identical(given, list(node_fill = c(a = "blue", b = "green", d = "red"), main = "x"))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_warning(
    plot_cpdag(chain, layout = matrix(1:6, 3, dimnames = list(c("x", "y", "z"), NULL))),
    "`layout`, such as \"x\", match no node",
    class = "pcgpu_warning_names"
  )
})
