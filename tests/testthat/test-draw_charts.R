test_that("graphical arguments of the user come before ours", {
  picture <- drawn(pcgpu:::draw_with(
    graphics::plot,
    list(x = 1:3, y = 1:3, xlab = "ours", ylab = "kept"),
    list(xlab = "theirs")
  ))
  expect_true(all(c("theirs", "kept") %in% picture$texts$label) && !"ours" %in% picture$texts$label)
})

test_that("long labels of rows leave half of the page", {
  grDevices::pdf(NULL, 7, 6)
  on.exit(grDevices::dev.off())
  graphics::plot.new()
  pcgpu:::label_margins(strrep("long ", 60), NULL)
  expect_gt(graphics::par("pin")[1], 3)
  pcgpu:::label_margins(c("a", "b"), "Title")
  expect_gt(graphics::par("pin")[1], 5.5)
})
