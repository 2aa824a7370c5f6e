# Draws the table "How the time grows" that gpu.R writes, as a PNG file: time against variables, observations and density.
#
#   Rscript growth.R bench.md growth.png
arguments <- commandArgs(trailingOnly = TRUE)
lines <- readLines(arguments[1])
head <- grep("^\\| p \\| n \\| parents a variable", lines)[1]
if (is.na(head)) stop("no table with columns p, n, parents a variable in ", arguments[1])
rest <- lines[-seq_len(head + 1L)]
rows <- rest[seq_len(match(FALSE, startsWith(rest, "|"), nomatch = length(rest) + 1L) - 1L)]
cells <- do.call(rbind, lapply(strsplit(rows, "|", fixed = TRUE), trimws))[, -1]
number <- function(x) as.numeric(gsub(",", "", sub(" /.*", "", x)))
found <- data.frame(p = number(cells[, 1]), n = number(cells[, 2]), parents = number(cells[, 3]),
                    tests = number(cells[, 4]), seconds = number(cells[, 8]))

png(arguments[2], width = 1350, height = 480, res = 150, pointsize = 10, type = "cairo")
par(mfrow = c(1, 3), mar = c(4.6, 5, 2, 1), mgp = c(3.6, 0.8, 0), las = 1)
# The two other sizes are those of the first row.
base <- found[1, ]
panel <- function(name, label, guide) {
  others <- setdiff(c("p", "n", "parents"), name)
  same <- found[[others[1]]] == base[[others[1]]] & found[[others[2]]] == base[[others[2]]]
  part <- found[same, ][order(found[[name]][same]), ]
  plot(part[[name]], part$seconds, log = "xy", type = "b", pch = 19, ylim = range(part$seconds, part$seconds * 2, part$seconds / 2), xlab = label, ylab = "skeleton(), s")
  if (guide) {
    lines(part$p, part$seconds[1] * (part$p / part$p[1])^2, lty = 2)
    legend("topleft", c("measured", "as p squared"), lty = 1:2, bty = "n")
  }
  title(paste(sprintf("%s = %g", others, unlist(base[others])), collapse = ", "))
}
panel("p", "variables p", TRUE)
panel("n", "observations n", FALSE)
panel("parents", "parents a variable", FALSE)
invisible(dev.off())
