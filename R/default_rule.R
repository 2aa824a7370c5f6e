# Chooses the rule that decides v-structures if data are given without a test, pc(data, alpha = ), a call that pcalg does not have.
#
# It is the majority rule: ?pc has the figures, `Rscript bench/recovered.R rules` makes them. Adding u2pd = "valid" would make all of these graphs valid. It
# would find 4 % fewer of the true arrows, and the same share of its arrows would be right. That is left to the user. The majority rule tests all subsets of a
# variable's neighbours, 2^degree tests. If these are too many, pcalg's rule decides.

# Returns a further argument for such a call, or none if the call chooses a rule, or a `u2pd` that requires pcalg's rule. `given`: the names of its arguments.
rule_of_data <- function(given, u2pd) {
  chooses <- any(c("conservative", "maj.rule") %in% given) || !pmatch(u2pd[1L], c("relaxed", "rand", "retry", "valid"), 0L) %in% c(1L, 4L)
  if (chooses) list() else list(maj.rule = structure(TRUE, if_few = TRUE))
}

# Adds to `orient` the bound on the number of tests, if the user did not choose the rule: a number of tests, and a divisor of the skeleton's number of tests. A
# single Gaussian test takes about 50 times as long as one in a search, where neighbouring tests share their work. Other tests take as long as in a search.
with_bound <- function(orient, test) {
  if (isTRUE(orient$if_few)) orient$bound <- if (test$kind == "gauss") c(2^22, 20) else c(2^14, 1)
  orient
}
