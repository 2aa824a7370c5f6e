asked <- function(x, ...) {
  wish <- utils::modifyList(
    list(around = NULL, order = 1, isolated = NULL, components = NULL, colour = NULL, size = NULL, layout = "stress"),
    list(...)
  )
  pcgpu:::asked_graph(pcgpu:::edges_of(x), NULL, wish)
}

test_that("the page has every node and edge, with kinds and p-values of both classes", {
  suffStat <- suff(p = 9, n = 60, degree = 3)
  for (result in c("pcAlgo", "compact")) {
    fit <- pc(suffStat, gaussCItest, 0.2, p = 9, solve.confl = TRUE, result = result)
    table <- edges(fit)
    page <- pcgpu:::page_of_graph(fit, asked(fit), list())
    expect_identical(page$nodes$name, as.character(1:9))
    found <- page$edges
    at <- match(paste(table$from, table$to), paste(page$nodes$name[found$from], page$nodes$name[found$to]))
    back <- is.na(at)
    at[back] <- match(paste(table$to, table$from), paste(page$nodes$name[found$from], page$nodes$name[found$to]))[back]
    expect_setequal(at, seq_len(nrow(table)))
    p <- sub(".*p = ", "", found$title[at])
    expect_equal(as.numeric(p), table$p, tolerance = 0.01)
    expect_identical(found$arrows[at], unname(c("-->" = "to", "---" = "", "<->" = "to;from")[table$kind]))
    # Positions are ours, and no two nodes are on one spot.
    expect_false(anyDuplicated(page$nodes[c("x", "y")]) > 0)
    expect_identical(page$nodes$name, pcgpu:::edges_of(fit)$labels)
    part <- pcgpu:::page_of_graph(fit, asked(fit, around = 1, order = 1), list())
    expect_lt(nrow(part$nodes), 9)
    expect_true(all(part$edges$title %in% found$title))
  }
})

test_that("labels cannot write into the page", {
  m <- matrix(c(0, 0, 1, 0), 2, dimnames = list(c("<b>", "a&\""), c("<b>", "a&\"")))
  page <- pcgpu:::page_of_graph(m, asked(m, colour = list("<i>" = 1:2)), list())
  expect_false(any(grepl("<b><b>|<i>|a&\"", page$nodes$title)))
  expect_match(page$nodes$title[1], "&lt;b&gt;", fixed = TRUE)
  expect_no_match(page$edges$title, "p =", fixed = TRUE)
})

test_that("a page without visNetwork, and a file that is none, give an error", {
  m <- matrix(c(0, 0, 1, 0), 2)
  if (!requireNamespace("visNetwork", quietly = TRUE)) {
    expect_error(plot_cpdag(m, interactive = TRUE), "visNetwork", class = "pcgpu_error_package")
  }
  for (bad in list("a.pdf", 1, NA_character_, c("a.html", "b.html"), file.path(tempdir(), "nowhere", "a.html"))) {
    expect_error(pcgpu:::check_page(bad), "`file`", class = "pcgpu_error_argument")
  }
})

test_that("Chromium opens the page with all nodes, and finds one that is searched for", {
  skip_if_not_installed("visNetwork")
  chromium <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
  chromium <- chromium[nzchar(chromium)][1]
  skip_if(is.na(chromium), "no Chromium is installed")
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "page.html")
  dag <- random_dag(300, 3, labels = paste0("gene", 1:300), seed = 1)
  expect_s3_class(plot(dag, interactive = TRUE, isolated = TRUE, file = file), "htmlwidget")
  # Writes what the network holds, before and after a search, into the page.
  page <- readLines(file, warn = FALSE)
  probe <- "<script>window.addEventListener('load', function() { setTimeout(function() {
    var el = document.querySelector('.visNetwork'); var find = document.getElementById('search' + el.id);
    find.value = 'GENE17'; find.onchange(); var chart = document.getElementById('graph' + el.id).chart;
    document.title = 'nodes ' + chart.body.data.nodes.length + ' edges ' + chart.body.data.edges.length + ' found ' + chart.getSelectedNodes().join();
  }, 1000); });</script>"
  writeLines(sub("</body>", paste0(probe, "</body>"), page, fixed = TRUE), file)
  dom <- suppressWarnings(system2(
    chromium,
    c(
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--virtual-time-budget=6000",
      paste0("--user-data-dir=", shQuote(dirname(file))),
      "--dump-dom",
      shQuote(paste0("file://", file))
    ),
    stdout = TRUE,
    stderr = FALSE
  ))
  title <- regmatches(dom, regexpr("<title>[^<]*</title>", dom))[1]
  expect_identical(title, sprintf("<title>nodes 300 edges %d found 17</title>", length(dag$from)))
})
