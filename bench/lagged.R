# Counts false edges between independent, autocorrelated series: into the present and within the past. Prints the table
# behind the figures of ?lagged.
#
#   Rscript lagged.R [--replicates=400] [--n=300] [--alpha=0.01]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
settings(replicates = 400L, n = 300L, alpha = 0.01)
options(pcgpu.threads = 1)

# Returns the shares of graphs with a false edge into the present, and within the past.
false_edges <- function(coefficients, lags) {
  set.seed(7)
  series <- function() as.vector(stats::arima.sim(list(ar = coefficients), n))
  found <- replicate(replicates, {
    x <- suppressMessages(lagged(data.frame(a = series(), b = series()), lags))
    edges <- edge_table(suppressMessages(pc(x, alpha = alpha)))
    is_false <- sub("[.].*", "", edges$from) != sub("[.].*", "", edges$to)
    is_present <- edges$to %in% c("a", "b")
    c(any(is_false & is_present), any(is_false & !is_present))
  })
  rowMeans(found)
}

cat(head_text("coefficients of the series", "lags", "false edge into the present", "within the past"))
for (case in list(list(0, 2), list(0.5, 2), list(0.9, 2), list(c(0.3, 0.6), 2), list(c(0.3, 0.6), 1))) {
  shares <- false_edges(case[[1L]], case[[2L]])
  cat(row_text(toString(case[[1L]]), case[[2L]], sprintf("%.1f %%", 100 * shares)))
}
