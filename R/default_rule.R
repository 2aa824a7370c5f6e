# How v-structures are decided where data alone are given, pc(data, alpha = ), a call that pcalg does not have.
#
# By the majority rule: ?pc has the figures, `Rscript bench/recovered.R rules` makes them. (u2pd = "valid" as well would make all of these graphs valid, and
# find 4 % fewer of the true arrows, as many of its arrows being right: that is left to the user.) The rule asks for all subsets of a variable's neighbours, 2^degree tests; where these
# are too many, pcalg's rule decides.

# A further argument of such a call, of which those named in `given` are given; none where it chooses a rule, or a `u2pd` that goes with pcalg's alone.
rule_of_data <- function(given, u2pd) {
  chooses <- any(c("conservative", "maj.rule") %in% given) || !pmatch(u2pd[1L], c("relaxed", "rand", "retry", "valid"), 0L) %in% c(1L, 4L)
  if (chooses) list() else list(maj.rule = structure(TRUE, if_few = TRUE))
}

# How to orient, with the bound on the tests of a rule that nobody asked for, in the terms of its test: so many tests, or one for each so many of the skeleton's.
# A question of its own takes a Gaussian test some 50 times as long as one of a search, in which neighbouring tests share their work, and other tests as long.
with_bound <- function(orient, test) {
  if (isTRUE(orient$if_few)) orient$bound <- if (test$kind == "gauss") c(2^22, 20) else c(2^14, 1)
  orient
}
