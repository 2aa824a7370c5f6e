#' Sufficient statistic for Gaussian data
#'
#' Checks the data and computes `list(C = cor(x), n = nrow(x))` for [gaussCItest()]. It also computes robust, rank and
#' polychoric correlations, and takes weights, covariates and groups of rows into account. For many variables it can return
#' an object that holds the data instead of their correlations.
#'
#' # Sparse, file-backed and streamed data
#'
#' - A **sparse matrix** of the package Matrix (class `dgCMatrix`, or one that Matrix converts to it) stays sparse for
#'   `"pearson"`, `"spearman"` and `"npn"`. Sums and products are computed from its entries, and means are subtracted at
#'   the end. Columns with entries in most rows are centred first, some rows at a time. The matrix is made dense in
#'   these cases: other correlations; `weights`, `adjust` or `id`; pairwise correlations of data with missing values; a
#'   GPU that you name; `keep = "data"` without `file`.
#' - Bioconductor's **`DelayedMatrix`** (also HDF5Array's), bigmemory's **`big.matrix`**, genotypes of
#'   [plink_bed()], and a **function** are read once, one block of rows at a time. A function returns the next rows
#'   at each call, and `NULL` at the end. Other blocks have 100 MB, or `DelayedArray::getAutoBlockSize()` bytes. Only Pearson's correlations are available, on the
#'   CPU, equal to `cor()` to 1e-12, without `weights`, `adjust` and `id`, and not pairwise for data with missing values.
#'   [gauss_moments()] reads the same data and also combines rows from several sources.
#' - A **file** from [write_pcgpu_file()] is mapped into memory. All results equal those for the matrix that was
#'   written, to the last bit. Write the other kinds of data to a file first for computations that need whole columns,
#'   such as rank and pairwise correlations.
#'
#' With `keep = "data"` and `file`, the data are kept in such a file, from which searches compute correlations.
#' Processes on one machine share it in memory. Write the rows of a function to a file first, because their number must
#' be known.
#'
#' # Kinds of correlation
#'
#' Fisher's test is derived for Pearson's correlations of normal variables. The others estimate correlations of normal
#' variables from other data. "Part of n" is the part of the sample size that `n` in the result has, so that tests keep
#' their level.
#'
#' | `correlation` | for | estimate | part of n |
#' |:--|:--|:--|:--|
#' | `"pearson"` | normal variables | [stats::cor()] | 1 |
#' | `"npn"` | increasing functions of normal variables, outliers | Pearson's of normal scores, `qnorm(rank / (n + 1))` (Liu, Lafferty and Wasserman 2009) | 1 |
#' | `"spearman"` | the same | `2 * sin(pi * rho / 6)` (Harris and Drton 2013) | 0.91 |
#' | `"kendall"` | the same, with ties | `sin(pi * tau / 2)` of tau-b (Harris and Drton 2013) | 0.91 |
#' | `"polychoric"` | ordered factors, also with numbers | see below | by levels |
#' | `"Qn"`, `"QnStable"`, `"ogkQn"`, `"ogkScaleTau2"`, `"shrink"` | outliers in some cells or rows | [mcor()] | 0.82 for Qn, else 1 |
#'
#' The parts hold for correlations near 0. For partial correlations given a strong cause they are smaller: about 0.8 for
#' `"spearman"` and `"kendall"`, and 0.4 to 0.7 for `"Qn"`, in the simulations of `bench/correlations.R`. `"npn"` keeps
#' nearly all of n, runs on GPUs and with `keep = "data"`, and is the best choice for large data that are not normal.
#'
#' **Polychoric correlations** are those of the normal variables behind ordered factors, in two steps (Olsson 1979): the
#' shares of the levels give cuts, and then each pair's table the likeliest correlation. A pair of a factor and a number
#' has the polyserial correlation of Olsson, Drasgow and Dorans (1982), two numbers Pearson's. Logicals and factors with
#' two levels count as ordered. The variance that the levels keep determines the part of n for each pair; `n` has the mean.
#' Every level needs some observations: `"polychoric"` is unreliable if tables have cells below five, and a warning of
#' class `pcgpu_warning_bound` reports correlations of 0.9999, the largest value.
#'
#' **Matrices that are not positive semi-definite** occur with all kinds except `"pearson"`, `"npn"`, `"ogkQn"` and
#' `"ogkScaleTau2"`, and for pairwise rows. A warning of class `pcgpu_warning_indefinite` gives the least eigenvalue, and
#' so does the element `least_eigenvalue` of the result.
#'
#' # Rows that count differently, belong together, or need adjusting
#'
#' - **`weights`**, such as the inverse of sampling probabilities, give weighted correlations, as [stats::cov.wt()]. `n` is
#'   Kish's number, `sum(w)^2 / sum(w^2)`. This accounts for uneven weights, not for strata or clusters of a design, and
#'   replicate weights are not weights in this sense.
#' - **`adjust`** removes covariates, such as batch and age, from all variables. The tests are exactly those of
#'   [gaussCItest()] with the covariates in every conditioning set; `n` is smaller by the number of covariates. Adjust for
#'   causes of the variables. Adjusting for a common effect of two variables makes them dependent.
#' - **`id`**, such as the patient or the site of each row, compares rows within groups only: each variable is centred by
#'   the mean of its group (fixed effects), and `n` is smaller by the number of groups minus 1. This removes everything
#'   that is constant within groups. It assumes that rows of a group are independent given their group, and that
#'   dependences are the same in all groups. Variables that are constant within groups cannot be used.
#'
#' # Linearly dependent columns
#'
#' Two columns that are linear functions of each other have correlation 1 or -1. They are allowed, and [pc()] gives
#' pcalg's answer. But each separates the other from everything else, and rounding errors decide which edges remain.
#' Drop one of them.
#'
#' @param x Observations in rows, variables in columns. One of:
#'   - a numeric matrix or data frame (see the section "Data" of [pc()]);
#'   - a Bioconductor `ExpressionSet` or `SummarizedExperiment` (its first assay), whose samples are the observations;
#'   - a sparse matrix, a `DelayedMatrix`, a `big.matrix`, a [pcgpu_file()], [plink_bed()], a function, or
#'     [gauss_moments()], see below.
#' @param use Treatment of missing values, as in [stats::cor()]:
#'   - `"everything"` (the default) and `"all.obs"`: an error if there are any;
#'   - `"complete.obs"` and `"na.or.complete"`: use the complete rows only; `n` is their number;
#'   - `"pairwise.complete.obs"`: compute each correlation from the rows with both variables. `n` is then the smallest
#'     of these numbers of rows, which makes the tests conservative, unless `sizes = "each"`.
#' @param correlation The kind of correlation: `"pearson"` (the default), `"spearman"`, `"kendall"`, `"npn"`, `"Qn"`,
#'   `"QnStable"`, `"ogkQn"`, `"ogkScaleTau2"`, `"shrink"` or `"polychoric"`. See *Kinds of correlation*.
#' @param device Where to compute the correlations:
#'   - `"cpu"`: on all cores, see [pcgpu-package];
#'   - `"cuda"`, `"cuda:1"` or a [cuda_device()]: `"pearson"` and `"npn"` only, and not pairwise for data with missing values. With
#'     several GPUs, such as `c("cuda:0", "cuda:1")`, the first computes them. If it fails, the next does, with a
#'     message of class `pcgpu_message_lost`;
#'   - `"auto"`: a GPU if there is one and the matrix is large.
#'
#'   With `keep = "data"`, `suff_gauss()` computes no correlations.
#' @param keep What the sufficient statistic holds: `"correlations"` (the default) or `"data"`. With `"data"`, [pc()],
#'   [skeleton()] and [orient()] compute the correlations on the device of the search and discard them at the end. Use
#'   it for many variables: the correlations of 55,572 variables take 24.7 GB, 3,189 observations of them 1.4 GB. On the
#'   CPU, a [cpu_device()] limits this memory. On a GPU, the correlations never leave the GPU. Available for `"pearson"` and
#'   `"npn"`, but not for pairwise correlations of data with missing values.
#' @param progress Show a progress bar if the correlations take more than a second? As in [pc()].
#' @param file With `keep = "data"`: the path of a new file for the data. The object then refers to the file instead of
#'   holding the data.
#' @param weights `NULL`, or a weight for each row: n numbers of at least 0, or the name of a column of `x`, which is then
#'   no variable. With Pearson's correlations.
#' @param adjust `NULL`, or covariates: a formula such as `~ batch + age` of columns of `x`, which are then no variables,
#'   or of other variables; names of columns; or a table or vector with n rows. Factors become indicators of their levels. For
#'   other kinds of correlation than `"pearson"`, covariates are correlated in the same way.
#' @param id `NULL`, or the group of each row: n values, or the name of a column of `x`, which is then no variable. With
#'   `"pearson"` and `"npn"`. For a `SummarizedExperiment` or `ExpressionSet`, `weights`, `adjust` and `id` can also name
#'   columns of its table of samples.
#' @param sizes `"one"` (the default): `n` is one number for all pairs. `"each"`: `n` is a p x p matrix, with pairwise rows or
#'   polychoric correlations. A test then has the mean size of all pairs of its variables, and the search runs on the
#'   CPU. Numbers without missing values have one size in any case.
#' @param nearest Replace a matrix that is not positive semi-definite by the nearest one that is (Higham 2002)? The element
#'   `repaired` of the result then says so. It takes the package Matrix.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return A list of `C`, a p x p correlation matrix with the column names as dimnames, and `n`, the number of
#'   observations, or of independent ones that they are worth. Pearson's correlations equal `cor(x, use = use)` to 1e-12.
#'   The last digits of `C` are the same for any number of threads. They may differ between kinds of processors, and on a GPU. Columns that are equal up to their sign have
#'   a correlation of exactly 1 or -1. A search is exact given `C`.
#'
#'   With `keep = "data"`, an object of class `pcgpu_gauss_data`: a list of `data`, the n x p matrix of the centred
#'   values (or their ranks), or a [pcgpu_file()] of it, and `n`, which you may replace. A search gives the same answer,
#'   to the last bit, as with the correlations that `suff_gauss()` computes on the same device.
#'
#'   `$C` computes the correlations on the CPU at its first use and then keeps them with the object. Functions that read
#'   `suffStat$C`, such as pcalg's, therefore accept the object like the list. An exception is pcalg's own
#'   `"stable.fast"`, which needs `list(C = suff$C, n = suff$n)`. Only `$C`, `[["C"]]` and `["C"]` compute them:
#'   `names()` and [with()] do not show `C`.
#'
#'   Data that cannot be used are an error of class `pcgpu_error_argument`. So is a constant column.
#' @references
#' N. Harris and M. Drton (2013). PC algorithm for nonparanormal graphical models. *Journal of Machine Learning
#' Research* 14, 3365-3383.
#'
#' N. J. Higham (2002). Computing the nearest correlation matrix. *IMA Journal of Numerical Analysis* 22, 329-343.
#'
#' H. Liu, J. Lafferty and L. Wasserman (2009). The nonparanormal. *Journal of Machine Learning Research* 10, 2295-2328.
#'
#' U. Olsson (1979). Maximum likelihood estimation of the polychoric correlation coefficient. *Psychometrika* 44, 443-460.
#'
#' U. Olsson, F. Drasgow and N. J. Dorans (1982). The polyserial correlation coefficient. *Psychometrika* 47, 337-347.
#' @seealso [gaussCItest()], the test that uses it; [mcor()]; [gauss_moments()] and [pcgpu_file()] for data that do not fit into
#'   R; [suff_discrete()], [suff_knn()]; [pc()].
#' @examples
#' suff <- suff_gauss(iris[1:4])
#' pc(suff, gaussCItest, alpha = 0.01, labels = colnames(suff$C), numCores = 2)
#'
#' # airquality has missing values
#' suff <- suff_gauss(airquality[1:4], use = "complete.obs")
#' suff$n
#'
#' # Adjusted for a factor, whose column is then no variable
#' suff_gauss(iris, adjust = ~Species)$n
#'
#' # Increasing functions of normal variables
#' suff <- suff_gauss(exp(iris[1:4]), correlation = "npn")
#'
#' # Keep the data instead of a p x p matrix, for many variables
#' suff <- suff_gauss(iris[1:4], keep = "data")
#' suff
#'
#' pc(suff, gaussCItest, alpha = 0.01, labels = colnames(suff$data), numCores = 2)
#'
#' # Rows in parts
#' parts <- split(iris[1:4], iris$Species)
#'
#' following <- local({
#'   at <- 0
#'   function() if (at < 3) parts[[at <<- at + 1]]
#' })
#' suff_gauss(following)$n
#'
#' # Data in a file, which several processes may share
#' path <- tempfile(fileext = ".pcgpu")
#' suff <- suff_gauss(iris[1:4], keep = "data", file = path)
#'
#' pc(suff, gaussCItest, alpha = 0.01, labels = colnames(suff$data), numCores = 2)
#' unlink(path)
#' @export
suff_gauss <- function(
  x,
  use = c("everything", "all.obs", "complete.obs", "na.or.complete", "pairwise.complete.obs"),
  correlation = correlation_kinds,
  device = "auto",
  keep = c("correlations", "data"),
  progress = NULL,
  file = NULL,
  weights = NULL,
  adjust = NULL,
  id = NULL,
  sizes = c("one", "each"),
  nearest = FALSE,
  ...
) {
  if (!is.null(taught <- taught_call(of = "suff_gauss"))) {
    return(eval(taught, parent.frame()))
  }
  use <- check_choice(use, c("everything", "all.obs", "complete.obs", "na.or.complete", "pairwise.complete.obs"), "use")
  correlation <- check_choice(correlation, correlation_kinds, "correlation")
  keep <- check_choice(keep, c("correlations", "data"), "keep")
  sizes <- check_choice(sizes, c("one", "each"), "sizes")
  nearest <- check_flag(nearest, "nearest")
  device <- check_device(device)
  check_kind(correlation, keep, device, sizes, weights, id, use)
  file <- check_kept_file(file, keep)
  bar <- progress_reporter(progress)
  on.exit(bar$close())
  if (inherits(x, "pcgpu_moments")) {
    check_for_moments(use, correlation, keep, device, list(weights = weights, adjust = adjust, id = id))
    check_room(device, length(x$mean))
    return(suff_of_moments(list(x), x$names))
  }
  given <- with_samples_of(x, list(weights = weights, adjust = adjust, id = id))
  design <- split_design(
    if (is.function(x)) x else read_data(x, "x", all = FALSE),
    given$weights,
    given$adjust,
    given$id
  )
  x <- design$x
  has_few <- function(column) length(unique(column)) < 10L
  if (correlation %in% kinds_of_many_values && any(vapply(design$covariates, has_few, NA))) {
    refuse_indicators()
  }
  levels <- NULL
  if (correlation == "polychoric" && !is.function(x)) {
    latent <- latent_columns(x)
    x <- latent$x
    # Covariates are numbers: that a factor is a normal variable that was cut would be an assumption of its own.
    levels <- c(latent$levels, integer(length(design$covariates)))
  }
  x <- if (is.function(x)) x else check_numeric_data(x)
  if (is_read_by_blocks(x) && keep == "correlations") {
    check_for_moments(use, correlation, keep, device, design[c("weights", "covariates", "groups")])
    if (!is.function(x)) {
      check_room(device, ncol(x))
    }
    come <- run_blocks(x, use, bar)
    return(suff_of_moments(come$state, come$names))
  }
  if (keep == "data" && !is.null(row_source(x)) && !is_file(x)) {
    if (is.null(file)) {
      x <- in_memory(refuse_function(x), "x")
    } else {
      # The columns are read twice, as a whole, which needs a file.
      values <- tempfile("values", dirname(file), ".part")
      on.exit(unlink(values), add = TRUE)
      x <- write_file(refuse_function(x), values, NULL, bar)
    }
  }
  if (is_file(x) && x$content == "centred") {
    return(suff_of_centred(x, correlation, keep, device, bar, list(weights = weights, adjust = adjust, id = id)))
  }
  if (nrow(x) == 0L) {
    check_usable(x, 0L)
  }
  columns <- correlation %in% c(product_kinds, "spearman")
  if (is_sparse(x) && (!columns || device$kind == "cuda" || length(design) > 1L)) {
    x <- as.matrix(x)
  }
  threads <- resolve_threads()
  device <- if (keep == "data") new_device("cpu") else correlation_device(device, x, correlation)
  check_room(device, ncol(x))
  look_at <- function(rows) {
    found <- if (!is.null(file)) {
      write_centred(x, rows, correlation, threads, bar, file, design)
    } else {
      correlations_of(correlation, x, rows, device, threads, keep = keep, bar = bar, design = design, levels = levels)
    }
    constant <- found$covariates$constant
    if (!any(constant) || rows == "all" && found$covariates$missing) {
      return(found)
    }
    # Without variation in these rows, they adjust nothing.
    levels <<- levels[c(rep(TRUE, ncol(x)), !constant)]
    design$covariates <<- design$covariates[!constant]
    look_at(rows)
  }
  found <- look_at("all")
  check_infinite(found, x)
  if (isTRUE(found$covariates$missing) && use %in% c("everything", "all.obs")) {
    abort_argument(
      "adjust",
      adjust,
      "drop these rows, or call suff_gauss() with use = \"complete.obs\".",
      has = "missing values"
    )
  }
  missing <- any(found$missing > 0) || isTRUE(found$covariates$missing)
  pairwise <- missing && use == "pairwise.complete.obs"
  if (missing) {
    if (use %in% c("everything", "all.obs")) {
      check_missing(found, x)
    }
    if (any(found$missing == nrow(x))) {
      check_usable(x, 0L)
    }
    check_pairwise(pairwise, keep, design, correlation)
    if (pairwise && device$kind == "cuda") {
      device <- instead_of_gpu(device)
    }
    if (pairwise && is_sparse(x)) {
      x <- as.matrix(x)
    }
    found <- look_at(if (pairwise) "pairwise" else "complete")
  }
  check_usable(x, found$n)
  check_constant(found, x)
  if (keep == "data") {
    if (!all(found$varies)) {
      without_correlation(x, !found$varies, design)
    }
    n <- sample_size(found$size, correlation, "one", NULL, NULL)
    return(new_kept(if (is.null(file)) found$data else new_file(found$file, file), check_size(n, x)))
  }
  check_correlations(found$C, pairwise, design, correlation)
  kept <- if (!is.null(levels)) kept_by_levels(x, levels[seq_len(ncol(x))])
  if (!is.null(levels)) {
    warn_bound(found$C)
  }
  made <- if (pairwise || !correlation %in% c(product_kinds, "shrink", ogk_kinds)) {
    with_definite(found$C, paste0(if (pairwise) "pairwise ", kind_said(correlation)), nearest)
  } else {
    list(C = found$C)
  }
  pairs <- if (pairwise && sizes == "each") crossprod(!is.na(as.matrix(x)))
  n <- check_size(sample_size(found$size, correlation, sizes, pairs, kept, found$adjusted %||% 0), x)
  if (is.matrix(n)) {
    dimnames(n) <- dimnames(made$C)
  }
  c(list(C = made$C, n = n), made[names(made) != "C"])
}

# Checks what kinds of correlations can be combined with.
check_kind <- function(correlation, keep, device, sizes, weights, id, use) {
  wants <- sprintf("use correlation = %s.", paste(dQuote(product_kinds, FALSE), collapse = " or "))
  if (keep == "data" && !correlation %in% product_kinds) {
    abort_argument(
      "keep",
      keep,
      paste(
        "these correlations cannot be computed from kept data; use keep = \"correlations\", or",
        sub("^use ", "", wants)
      )
    )
  }
  if (device$kind == "cuda" && !correlation %in% product_kinds) {
    abort_argument(
      "device",
      device_name(device),
      "these correlations run on the CPU; use device = \"cpu\" or \"auto\"."
    )
  }
  if (!is.null(weights) && correlation != "pearson") {
    hint <- "use correlation = \"pearson\". Ordered factors need as.integer() then."
    abort_argument("weights", weights, hint, is = unusable_with(correlation))
  }
  if (!is.null(id) && !correlation %in% product_kinds) {
    abort_argument("id", id, paste(wants, "Ordered factors need as.integer() then."), is = unusable_with(correlation))
  }
  if (sizes == "each" && correlation != "polychoric" && use != "pairwise.complete.obs") {
    abort_argument(
      "sizes",
      sizes,
      paste(
        "pairs have sizes of their own only with use = \"pairwise.complete.obs\" or correlation = \"polychoric\";",
        "use \"one\"."
      )
    )
  }
  if (sizes == "each" && keep == "data") {
    abort_argument("sizes", sizes, "kept data have one sample size; use \"one\", or keep = \"correlations\".")
  }
}

unusable_with <- function(correlation) sprintf("not available for %s correlations", kind_said(correlation))

check_pairwise <- function(pairwise, keep, design, correlation) {
  if (!pairwise) {
    return(invisible())
  }
  if (keep == "data") {
    abort_argument(
      "keep",
      keep,
      paste(
        "with missing values, pairwise correlations use different rows for each pair;",
        "set keep = \"correlations\", or use = \"complete.obs\"."
      )
    )
  }
  rows <- c(weights = !is.null(design$weights), id = !is.null(design$groups))
  if (any(rows) || correlation %in% c(ogk_kinds, "shrink")) {
    abort_argument(
      "use",
      "pairwise.complete.obs",
      sprintf(
        "%s needs one set of rows; use \"complete.obs\".",
        if (any(rows)) paste0("`", names(rows)[rows][1L], "`") else paste("correlation =", dQuote(correlation, FALSE))
      )
    )
  }
}
