# Returns a random graph with labels of 1 to 60 characters.
random_graph <- function(seed) {
  set.seed(seed)
  n <- sample.int(60L, 1L)
  m <- matrix(stats::rbinom(n * n, 1L, min(1, stats::runif(1L, 0, 4) / n)), n)
  diag(m) <- 0
  longest <- sample(c(1L, 8L, 25L, 60L), 1L)
  words <- vapply(
    seq_len(n),
    function(i) {
      paste(sample(c(letters, LETTERS, " "), sample.int(longest, 1L), replace = TRUE), collapse = "")
    },
    ""
  )
  dimnames(m) <- list(words, words)
  m
}

# Returns the faults of the places of the boxes, character(0) if there are none. The device is open.
misplaced <- function(m, cex, main) {
  listed <- pcgpu:::edges_of(m)
  pcgpu:::new_page(main)
  place <- pcgpu:::place_on_page(listed, cex)
  page <- graphics::par("pin")
  xy <- place$xy
  half <- place$size / 2
  floor <- if (is.null(place$legend)) 0 else place$legend$height
  wide <- mapply(function(label, cex) graphics::strwidth(label, units = "inches", cex = cex), listed$labels, place$cex)
  high <- mapply(function(label, cex) graphics::strheight(label, units = "inches", cex = cex), listed$labels, place$cex)
  apart <- pmax(
    abs(outer(xy[, 1], xy[, 1], `-`)) - outer(half[, 1], half[, 1], `+`),
    abs(outer(xy[, 2], xy[, 2], `-`)) - outer(half[, 2], half[, 2], `+`)
  )
  little <- 1e-9
  names(which(c(
    number = !all(is.finite(xy)) || nrow(xy) != nrow(m),
    left = any(xy[, 1] - half[, 1] < -little),
    right = any(xy[, 1] + half[, 1] > page[1] + little),
    top = any(xy[, 2] + half[, 2] > page[2] + little),
    bottom = any(xy[, 2] - half[, 2] < floor - little),
    text = any(wide > 2 * half[, 1] | high > 2 * half[, 2]),
    legend = !is.null(place$legend) && (place$legend$width > page[1] + little || floor > page[2] / 2),
    cex = !is.null(cex) && any(place$cex > cex + little),
    overlap = is.null(cex) && any(apart[upper.tri(apart)] < 0)
  )))
}

test_that("every box lies on the page, above the legend, apart from the others, and holds its label", {
  pages <- list(c(7, 6), c(3, 3), c(12, 3), c(3, 12), c(1, 1), c(0.4, 2), c(2, 0.4))
  devices <- list(pdf = function(page) grDevices::pdf(NULL, page[1], page[2]), png = function(page) {
    grDevices::png(tempfile(fileext = ".png"), page[1], page[2], units = "in", res = 72)
  })
  for (device in c("pdf", if (capabilities("png")) "png")) {
    for (seed in seq_len(if (device == "pdf") 84 else 21)) {
      m <- random_graph(seed)
      page <- pages[[seed %% length(pages) + 1]]
      main <- if (seed %% 3 == 0) "A title"
      cex <- if (seed %% 4 == 0) stats::runif(1, 0.2, 5)
      devices[[device]](page)
      wrong <- tryCatch(misplaced(m, cex, main), finally = grDevices::dev.off())
      expect_identical(wrong, character(), info = paste(device, seed, paste(page, collapse = " x "), cex))
    }
  }
})

test_that("large graphs and nodes without edges are placed as well", {
  grDevices::pdf(NULL, 10, 9)
  on.exit(grDevices::dev.off())
  alone <- matrix(0, 300, 300)
  complete <- matrix(1, 30, 30)
  star <- matrix(0, 200, 200)
  star[1, -1] <- 1
  chain <- matrix(0, 400, 400)
  chain[cbind(1:399, 2:400)] <- 1
  for (m in list(connected(600), connected(1643), alone, complete, star, chain, matrix(0, 1, 1))) {
    expect_identical(misplaced(m, NULL, "A title"), character(), info = nrow(m))
  }
})

test_that("one cex per node is kept, and the text of the legend and the title shrink with the page", {
  grDevices::pdf(NULL, 7, 6)
  on.exit(grDevices::dev.off())
  m <- matrix(c(0, 1, 0, 0, 0, 1, 0, 1, 0), 3)
  pcgpu:::new_page(NULL)
  place <- pcgpu:::place_on_page(pcgpu:::edges_of(m), c(0.5, 1, 2))
  expect_identical(place$cex, c(0.5, 1, 2))
  expect_true(all(diff(place$size[, 2]) > 0))
  large <- place$legend$cex
  grDevices::dev.off()
  grDevices::pdf(NULL, 1, 1)
  pcgpu:::new_page(NULL)
  expect_lt(pcgpu:::place_on_page(pcgpu:::edges_of(m))$legend$cex, large)

  small <- drawn(plot_cpdag(m, engine = "base", main = strrep("A long title ", 6)), 2, 2)
  title <- small$texts[grepl("title", small$texts$label), ]
  expect_gt(title$x, 0)
  expect_lt(title$size, 12)
})

test_that("box_reach() is the distance to the edge of a box with rounded corners", {
  reach <- function(angle, size, radius) {
    pcgpu:::box_reach(cbind(cos(angle), sin(angle)), matrix(size, length(angle), 2, byrow = TRUE), radius) - 0.01
  }
  right <- pi / 2 * 0:3
  expect_equal(reach(right, c(4, 2), 1), c(2, 1, 2, 1))
  expect_equal(reach(right, c(2, 4), 0.5), c(1, 2, 1, 2))
  # A circle, and a corner: the centre of its circle is (1.5, 0.5), and its radius 0.5.
  expect_equal(reach(seq(0, 6, 0.1), c(2, 2), 1), rep(1, 61))
  to <- c(1.5, 0.5) + 0.5 * c(cos(1), sin(1))
  expect_equal(reach(atan2(to[2], to[1]), c(4, 2), 0.5), sqrt(sum(to^2)))
})

test_that("no polygon is drawn if no edge has a head", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  expect_silent(pcgpu:::draw_heads(cbind(0, 0), cbind(1, 0), "black", 0.1, FALSE))
})
