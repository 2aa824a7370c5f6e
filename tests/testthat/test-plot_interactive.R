asked <- function(x, ...) {
  wish <- utils::modifyList(
    list(around = NULL, order = 1, isolated = NULL, components = NULL, colour = NULL, size = NULL, layout = "stress"),
    list(...)
  )
  pcgpu:::asked_graph(pcgpu:::drawn_edges_of(x), NULL, wish)
}

page_of <- function(x, ...) pcgpu:::page_of_graph(x, asked(x, ...), list())

# Returns the data in the page of plot_cpdag(), read as a browser reads them.
data_of <- function(x, ...) {
  skip_if_not_installed("jsonlite")
  html <- plot_cpdag(x, interactive = TRUE, ...)$html
  at <- match("<script type=\"application/json\" id=\"data\">", html)
  jsonlite::fromJSON(html[at + 1L], simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
}

# Returns the separating set in the data of a page: list(set, p); NULL if there is none.
set_in <- function(data, a, b) {
  at <- sort(match(c(a, b), data$names)) - 1L
  entry <- unlist(data$sets[[at[2L] * (at[2L] - 1L) / 2L + at[1L] + 1L]])
  if (!is.null(entry)) list(set = c(data$names, unlist(data$others))[entry[-1L] + 1L], p = entry[1L])
}

test_that("the page has every node and edge, with kinds and p-values of both classes", {
  suffStat <- suff(p = 9, n = 60, degree = 3)
  for (result in c("pcAlgo", "compact")) {
    fit <- pc(suffStat, gaussCItest, 0.2, p = 9, solve.confl = TRUE, result = result)
    table <- edges(fit)
    page <- page_of(fit)
    expect_identical(page$nodes$name, as.character(1:9))
    found <- page$edges
    expect_identical(page$nodes$name[found$from], table$from)
    expect_identical(page$nodes$name[found$to], table$to)
    expect_identical(unname(c(directed = "-->", undirected = "---", conflict = "<->")[found$kind]), table$kind)
    expect_identical(page$values$p, table$p)
    # Positions are ours, and no two nodes are on one spot.
    for (xy in page[c("wide", "tall")]) {
      expect_identical(dim(xy), c(9L, 2L))
      expect_false(anyDuplicated(xy) > 0)
    }
    part <- page_of(fit, around = 1, order = 1)
    expect_lt(nrow(part$nodes), 9)
    name <- part$nodes$name
    expect_true(all(paste(name[part$edges$from], name[part$edges$to]) %in% paste(table$from, table$to)))
  }
})

test_that("the page has the separating sets of sepset() and their p-values", {
  x <- simulate(9, 80, degree = 3)
  colnames(x) <- letters[1:9]
  suffStat <- suff_gauss(x)
  search <- function(how, ...) how(suffStat, gaussCItest, alpha = 0.1, labels = letters[1:9], ...)
  fits <- list(search(pc), search(pc, result = "compact"), search(skeleton), search(fci), search(rfci))
  for (fit in fits) {
    data <- data_of(fit)
    for (b in 2:9) {
      for (a in seq_len(b - 1L)) {
        found <- set_in(data, letters[a], letters[b])
        want <- sepset(fit, a, b)
        expect_identical(is.null(found), is.null(want))
        if (!is.null(want)) {
          expect_setequal(found$set, want)
          p <- tryCatch(p_value(fit, a, b), pcgpu_error_level0 = function(e) -1)
          expect_equal(found$p, p, tolerance = 0.01)
        }
      }
    }
  }
  # A separating set may contain variables that are not drawn.
  data <- data_of(small_fit(), around = c("a", "d"), order = 0)
  expect_identical(data$names, c("a", "d"))
  expect_identical(set_in(data, "a", "d")$set, "c")
  expect_null(data_of(fciPlus(suffStat, gaussCItest, alpha = 0.1, labels = letters[1:9]))$sets)
  expect_null(data_of(random_dag(5, seed = 1))$sets)
})

test_that("a page with more than 200 nodes says where the separating sets are", {
  C <- diag(201)
  C[1, 2] <- C[2, 1] <- 0.9
  for (result in c("pcAlgo", "compact")) {
    fit <- pc(list(C = C, n = 100), gaussCItest, 0.01, p = 201, result = result)
    data <- data_of(fit, isolated = TRUE)
    expect_length(data$names, 201)
    expect_null(data$sets)
    expect_match(data$no_sets, "sepset(fit, a, b)", fixed = TRUE)
    expect_length(data_of(fit)$sets, 1)
  }
})

test_that("filters use p-values, strengths and coefficients", {
  filters <- function(data) vapply(data$values, function(value) value$filter %||% "none", "")
  named <- function(data) vapply(data$values, `[[`, "", "name")
  data <- data_of(small_fit())
  expect_identical(named(data), "p")
  expect_identical(filters(data), "most")
  dag <- random_dag(8, 2, seed = 1)
  data <- data_of(dag)
  expect_identical(named(data), "weight")
  expect_identical(filters(data), "size")
  expect_equal(data$values[[1]]$numbers, edges(dag)$weight, tolerance = 1e-5)
  shares <- stability(simulate(5, 100), gaussCItest, 0.1, replicates = 10, seed = 1)
  data <- data_of(shares)
  expect_identical(named(data), c("strength", "direction"))
  expect_identical(filters(data), c("least", "none"))
  expect_identical(named(data_of(averaged_cpdag(shares))), c("strength", "direction"))
  # An edge without a test has no p-value, and stays.
  fixed <- matrix(FALSE, 4, 4)
  fixed[1, 2] <- fixed[2, 1] <- TRUE
  fit <- pc(list(C = diag(4), n = 100), gaussCItest, 0.1, p = 4, fixedEdges = fixed)
  expect_identical(data_of(fit)$values[[1]]$numbers, NA)
})

test_that("up to 60 nodes are boxes, and ends of a PAG have their marks", {
  expect_true(data_of(random_dag(60, seed = 1), isolated = TRUE)$boxes)
  expect_false(data_of(random_dag(61, seed = 1), isolated = TRUE)$boxes)
  expect_false(data_of(random_dag(6, seed = 1), size = "degree")$boxes)
  amat <- structure(matrix(0, 4, 4, dimnames = list(letters[1:4], letters[1:4])), type = "amat.pag")
  amat["a", "b"] <- 2
  amat["b", "a"] <- 1
  amat["c", "d"] <- amat["d", "c"] <- 1
  data <- data_of(amat)
  expect_identical(
    lapply(data$kinds, `[`, c("said", "tail", "head")),
    list(
      list(said = "cause or common cause", tail = "circle", head = "arrow"),
      list(said = "unknown", tail = "circle", head = "circle")
    )
  )
  expect_identical(data$kind, 0:1)
  expect_match(data$kinds[[1]]$words, "{b} is not a cause of {a}.", fixed = TRUE)
})

test_that("colours and widths of single edges reach the page", {
  skip_if_not_installed("jsonlite")
  dag <- random_dag(6, 2, seed = 1)
  page <- page_of(dag)
  page$edges$colour <- rep_len(c("red", "#0000FF80"), nrow(page$edges))
  page$edges$width <- seq_len(nrow(page$edges)) / 2
  data <- jsonlite::fromJSON(pcgpu:::page_json(page, asked(dag)), simplifyDataFrame = FALSE)
  expect_identical(data$edge_colour[1:2], c("#ff0000", "rgba(0,0,255,0.502)"))
  expect_equal(data$edge_width[1:2], c(0.5, 1))
})

test_that("labels cannot write into the page", {
  odd <- c("</script><b>", "a&\"\\", "\u00e9\n\t\u2028")
  m <- matrix(0, 3, 3, dimnames = list(odd, odd))
  m[1, 2] <- m[2, 3] <- 1
  data <- data_of(m, colour = list("<i>" = 1:3))
  expect_identical(data$names, odd)
  expect_identical(data$said, paste0("<i>: ", 1:3))
  expect_length(data$values, 0)
  html <- plot_cpdag(m, interactive = TRUE, main = "<u>", colour = list("<i>" = 1:3))$html
  expect_false(any(grepl("<b><|<i>|<u>|</script><b>", html)))
  expect_true(any(grepl("<h1>&lt;u&gt;</h1>", html, fixed = TRUE)))
  expect_true(all(validUTF8(html)))
})

test_that("the page is one small file that needs nothing else", {
  file <- tempfile(fileext = ".html")
  on.exit(unlink(file))
  page <- plot(small_fit(), interactive = TRUE, file = file)
  html <- readLines(file, encoding = "UTF-8")
  expect_identical(html, page$html)
  expect_false(any(grepl("https?://|src=|href=|@import|@[A-Z]+@", html)))
  expect_lt(file.size(file), 50000)
  expect_output(print(page), "An interactive page with 4 nodes and 3 edges.", fixed = TRUE)
  empty <- plot_cpdag(matrix(0, 0, 0), interactive = TRUE)
  expect_output(print(empty), "0 nodes and 0 edges", fixed = TRUE)
  skip_if_not_installed("knitr")
  shown <- knitr::knit_print(page)
  expect_match(shown, "^<iframe srcdoc=\"&lt;!DOCTYPE html&gt;&#10;")
  expect_no_match(shown, "\n")
})

test_that("a file that is none gives an error", {
  m <- matrix(c(0, 0, 1, 0), 2)
  for (bad in list("a.pdf", 1, NA_character_, c("a.html", "b.html"), file.path(tempdir(), "nowhere", "a.html"))) {
    expect_error(plot_cpdag(m, interactive = TRUE, file = bad), "`file`", class = "pcgpu_error_argument")
  }
})

# Returns what `script` says in Chromium, with a page of plot_cpdag(). The script has click(name), panel() and say().
in_chromium <- function(x, script, ...) {
  chromium <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
  chromium <- chromium[nzchar(chromium)][1]
  skip_if(is.na(chromium), "no Chromium is installed")
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "page.html")
  html <- plot_cpdag(x, interactive = TRUE, file = file, ...)$html
  helpers <- "const canvas = document.querySelector('canvas'); canvas.setPointerCapture = () => {};
    const press = (x, y) => ['pointerdown', 'pointerup'].forEach(type => canvas.dispatchEvent(
      new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, pointerType: 'mouse' })));
    const click = name => press(...pcgpu.at(name));
    const panel = () => document.querySelector('aside').innerText.replace(/\\n+/g, ' | ');
    const set = (id, value, event) => { const field = document.getElementById(id);
      field.value = value; field.dispatchEvent(new Event(event)); };
    const said = []; const say = text => said.push(typeof text === 'string' ? text : JSON.stringify(text));"
  probe <- c(
    "<script>window.addEventListener('load', () => setTimeout(() => {",
    helpers,
    "try {",
    script,
    "} catch (error) { say('error ' + error); }",
    "document.title = said.map(text => '[' + text + ']').join(''); }, 500));</script></body>"
  )
  writeLines(c(utils::head(html, -2L), probe, "</html>"), file, useBytes = TRUE)
  dom <- suppressWarnings(system2(
    chromium,
    c(
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--window-size=1400,800",
      "--virtual-time-budget=3000",
      paste0("--user-data-dir=", shQuote(folder)),
      "--dump-dom",
      shQuote(paste0("file://", file))
    ),
    stdout = TRUE,
    stderr = FALSE
  ))
  title <- grep("<title>", dom, value = TRUE)[1]
  strsplit(sub(".*<title>\\[", "", sub("\\]</title>.*", "", title)), "][", fixed = TRUE)[[1]]
}

test_that("Chromium opens the page with all nodes, and finds one that is searched for", {
  dag <- random_dag(300, 3, labels = paste0("gene", 1:300), seed = 1)
  said <- in_chromium(
    dag,
    "say(pcgpu.state()); set('find', 'GENE17', 'change'); say(pcgpu.state().chosen);",
    isolated = TRUE
  )
  expect_match(said[1], sprintf("\"nodes\":300,\"edges\":%d,\"boxes\":false", length(dag$from)), fixed = TRUE)
  # The labels of hubs are there at first sight, but not all.
  labels <- as.numeric(sub(".*\"labels\":(\\d+).*", "\\1", said[1]))
  expect_gte(labels, 10)
  expect_lte(labels, 60)
  expect_identical(said[2], "gene17")
})

test_that("in Chromium, a click explains a node, a pair and an edge, and filters hide edges", {
  fit <- small_fit()
  p <- edges(fit)$p
  said <- in_chromium(
    fit,
    c(
      "say(pcgpu.state().boxes); click('c'); say(panel()); click('d'); say(panel()); click('a'); say(panel());",
      "document.getElementById('close').click(); say(document.querySelector('aside').hidden);",
      "const p = pcgpu.at('c'), q = pcgpu.at('d'); press((p[0] + q[0]) / 2, (p[1] + q[1]) / 2); say(panel());",
      sprintf("set('field-p', '%s', 'change'); say(pcgpu.state());", format(min(p) * 2)),
      "say(document.getElementById('count').textContent);",
      "set('field-p', 'x', 'change'); say(document.getElementById('field-p').className);",
      "set('field-p', '', 'change'); say(pcgpu.state().edges);",
      "set('slider-p', 0, 'input'); say(pcgpu.state().edges);"
    )
  )
  expect_identical(said[1], "true")
  expect_match(said[2], "\\| c \\| Parents \\(2\\) \\| a p = .* \\| b p = .* \\| Children \\(1\\) \\| d p = ")
  expect_match(said[3], "| d | c \u2192 d | Directed: c is a direct cause of d. | p = ", fixed = TRUE)
  expect_match(said[4], "| a | d and a | No edge. Independent given c (p = ", fixed = TRUE)
  expect_identical(said[5], "true")
  expect_match(said[6], "| c \u2192 d | Directed: c is a direct cause of d. | p = ", fixed = TRUE)
  expect_match(said[7], "\"edges\":2,.*\"faded\":1")
  expect_match(said[8], "4 nodes, 2 of 3 edges", fixed = TRUE)
  expect_identical(said[9:10], c("wrong", "3"))
  expect_identical(said[11], as.character(sum(p == min(p))))
})

test_that("the page has bent edges, tiers and their names", {
  x <- simulate(6, 300, degree = 3)
  fit <- pc(suff_gauss(x), gaussCItest, 0.2, p = 6, tiers = list(early = 1:2, later = 3:4, last = 5:6))
  html <- paste(plot(fit, interactive = TRUE)$html, collapse = "\n")
  expect_match(html, "\"tier\":[1,1,2,2,3,3]", fixed = TRUE)
  expect_match(html, "\"heads\":[\"early\",\"later\",\"last\"]", fixed = TRUE)
  bends <- attr(
    pcgpu:::own_layout("tiers", c(1, 1, 2, 2, 3, 3))(
      6,
      pcgpu:::table_of(pcgpu:::edges_of(fit)),
      cbind(rep(1.6, 6), 1.8),
      1.6
    ),
    "bends"
  )
  expect_identical(grepl("\"bend_edge\":[", html, fixed = TRUE), nrow(bends) > 0)
  plain <- paste(plot(fit, interactive = TRUE, layout = "stress")$html, collapse = "\n")
  expect_false(grepl("\"(bend_edge|tier|heads)\":\\[", plain))
})
