# summary() of a result with many variables, which fits on one screen.

# Up to this many variables summary() prints in pcalg's format, with the adjacency matrix.
most_in_matrix <- 50L

is_large <- function(labels) length(labels) > most_in_matrix

print_overview <- function(x) {
  network <- network_of(x)
  told <- overview(x, network)
  # A tilde stands for a non-breaking space.
  say <- function(...) cat(chartr("~", " ", strwrap(paste0(...), getOption("width"), exdent = 2L)), sep = "\n")
  call <- deparse(x@call, width.cutoff = 100L)
  cat("Object of class '", class(x), "', from Call:\n", paste(shortened(utils::head(call, 3L), 100L), collapse = "\n"), if (length(call) > 3L) " ...", "\n\n", sep = "")
  say(overview_edges(told))
  search <- c(
    if (!is.na(told$test)) told$test, if (!is.na(told$alpha)) paste("alpha =", format(told$alpha, digits = 7L)), if (!is.na(told$samples)) counted(told$samples, "sample"),
    if (!is.na(told$device)) paste("on", told$device), if (!is.na(told$seconds)) paste(format(told$seconds, digits = 3L), "seconds")
  )
  if (length(search)) say("Search: ", paste(search, collapse = ", "))
  # fciPlus() counts no tests.
  if (length(told$tests)) say("Tests: ", tests_by_level(told$tests))
  phase <- run_details(x)$phase$tests
  if (sum(phase) > 0) say("Possible-d-sep phase: ", tests_by_level(phase, "by size of sets"))
  degree <- tabulate(c(network$edges$from, network$edges$to), told$variables)
  say(overview_degrees(degree))
  say(overview_components(tabulate(components(told$variables, network$edges))))
  hubs <- utils::head(order(-degree), 5L)
  hubs <- hubs[degree[hubs] > 0L]
  if (length(hubs)) say("Most neighbours: ", paste0(gsub("[ ~]", "_", shortened(network$labels[hubs], 30L)), "~(", degree[hubs], ")", collapse = ", "))
  print_note(x)
}

tests_by_level <- function(tests, by = "by level") paste0(in_words(sum(tests)), "; ", by, ": ", paste0(seq_along(tests) - 1L, ":~", in_words(tests), collapse = ", "))

# Shortens names, because long ones would fill the screen.
shortened <- function(words, most) ifelse(nchar(words, "width", allowNA = TRUE) %in% c(NA, 0:most), words, paste0(strtrim(words, most - 3L), "..."))

overview_edges <- function(told) {
  if (identical(names(told$kinds), kinds_of_pag)) {
    there <- told$kinds[told$kinds > 0L]
    shown <- if (length(there)) paste0(": ", paste0(names(there), "~", in_words(there), collapse = ", ")) else ""
    return(sprintf("%s, %s%s", counted(told$variables, "variable"), counted(sum(told$kinds), "edge"), shown))
  }
  parts <- c("-->" = "directed", "---" = "undirected", "<->" = "in conflict")
  parts <- paste(in_words(told$kinds), parts[names(told$kinds)])[told$kinds > 0L | names(told$kinds) != "<->"]
  sprintf("%s, %s: %s", counted(told$variables, "variable"), counted(sum(told$kinds), "edge"), paste(parts, collapse = ", "))
}

overview_degrees <- function(degree) {
  at <- stats::quantile(degree, c(0, 0.25, 0.5, 0.75, 0.95, 1), names = FALSE, type = 1L)
  sprintf(
    "Neighbours per variable: mean %s, minimum %s, quartiles %s, %s and %s, 95th percentile %s, maximum %s", format(mean(degree), digits = 3L),
    in_words(at[1L]), in_words(at[2L]), in_words(at[3L]), in_words(at[4L]), in_words(at[5L]), in_words(at[6L])
  )
}

overview_components <- function(sizes) {
  joined <- sort(sizes[sizes > 1L], decreasing = TRUE)
  alone <- sum(sizes == 1L)
  paste0(
    "Connected components: ", in_words(length(joined)), if (length(joined)) {
      sprintf(" (largest: %s variables)", paste(in_words(utils::head(joined, 3L)), collapse = ", "))
    }, ", and ", counted(alone, "variable"), " without an edge"
  )
}
