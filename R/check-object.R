# Objects of this package that come back from a user: saved, sent, or edited by hand. Functions check the whole object
# by the description of its class, because an edited object would otherwise give R's own error, or a silently wrong
# answer.

# Describes a class: the function that makes its objects, and a condition for each part, in terms of all parts. No code
# reads parts that are not listed here.
described <- function(.made, ...) list(made = .made, parts = as.list(substitute(list(...)))[-1L])

# Names that are not parts stand for several parts. Conditions are checked in this order, so that later ones may rely on
# earlier ones. If a condition about several parts fails, its value may be the name of the wrong part.
shapes <- list(
  pcgpu_device = described(
    "cpu_device() or cuda_device()",
    kind = is_one_of(kind, c("auto", "cpu", "cuda")),
    ordinal = if (kind == "cuda") length(ordinal) > 0L && is_whole(ordinal, 0, 9999) else is.null(ordinal),
    options = is.list(options) && (!length(options) || is_texts(names(options))) && all(vapply(options, is_option, NA)),
    cpu = is_flag(cpu)
  ),
  pcgpu_moments = described(
    "gauss_moments()",
    mean = is_numbers(mean) && is.double(mean) && length(mean) > 0L,
    n = is_count(n),
    left_out = is_count(left_out),
    least = is.double(least) && length(least) == length(mean) && !anyNA(least),
    largest = is.double(largest) && length(largest) == length(mean) && !anyNA(largest),
    missing = is_whole(missing, 0, 2^53) && length(missing) == length(mean),
    power = is.integer(power) && length(power) == length(mean),
    origin = is.double(origin) && length(origin) == length(mean),
    products = is.double(products) && length(products) == length(mean) * (length(mean) + 1) / 2,
    names = is.null(names) || is.character(names) && length(names) == length(mean)
  ),
  pcgpu_file = described(
    "pcgpu_file()",
    path = is_text(path) && nzchar(path),
    digest = is_text(digest) && grepl("^[0-9a-f]{32}$", digest),
    n = is_whole(n, 1, .Machine$integer.max, 1L),
    p = is_whole(p, 1, .Machine$integer.max, 1L),
    content = is_one_of(content, c("values", "centred")),
    names = is.null(names) || is_texts(names, p)
  ),
  pcgpu_plink = described(
    "plink_bed()",
    path = is_text(path) && nzchar(path),
    n = is_whole(n, 1, .Machine$integer.max, 1L),
    p = is_whole(p, 1, .Machine$integer.max, 1L),
    samples = is.character(samples) && length(samples) == n,
    markers = is.character(markers) && length(markers) == p,
    variables = is.null(variables) ||
      is.matrix(variables) && is.double(variables) && nrow(variables) == n && is_texts(colnames(variables))
  ),
  pcgpu_gauss_data = described(
    "suff_gauss(keep = \"data\")",
    data = is_file(data) &&
      is_unedited(data) &&
      data$content == "centred" ||
      is.matrix(data) && is.double(data) && !is.object(data) && nrow(data) > 0L,
    n = is_number(n) && is.finite(n) && n >= 1,
    made = is.environment(made) &&
      (is.null(made$C) || is_numbers(made$C) && identical(dim(made$C), rep(ncol(data), 2L)))
  ),
  pcgpu_graph = described(
    "random_dag() or cpdag_of()",
    labels = is_texts(labels) && !anyDuplicated(labels),
    from = is_whole(from, 1, length(labels)),
    to = is_whole(to, 1, length(labels), length(from)),
    directed = is_flags(directed, length(from)) && all(from != to),
    weight = is.null(weight) || is_numbers(weight, length(from)) && all(is.finite(weight))
  ),
  pcgpu_effects = described(
    "causal_effects()",
    labels = is_texts(labels),
    x = is_whole(x, 1, length(labels)) && !anyDuplicated(x),
    y = is_whole(y, 1, length(labels)) && !anyDuplicated(y),
    method = is_text(method),
    type = is_text(type),
    valid = is_flag(valid),
    smallest = is.null(smallest) || is_numbers(smallest) && identical(dim(smallest), c(length(y), length(x))),
    columns = !is.null(smallest) || is_whole(columns, 1, Inf, length(x)) && is.integer(columns),
    values = !is.null(smallest) || is_numbers(values, sum(columns) * length(y)) && is.double(values),
    own = !is.null(smallest) ||
      is.list(own) &&
        is_whole(own$x, 1, length(x)) &&
        is.integer(own$x) &&
        is_whole(own$y, 1, length(y), length(own$x)) &&
        is.integer(own$y) &&
        is_whole(own$count, 1, Inf, length(own$x)) &&
        is.integer(own$count) &&
        is_numbers(own$values, sum(own$count)) &&
        is.double(own$values)
  ),
  pcgpu_joint_effects = described(
    "causal_effects()",
    labels = is_texts(labels),
    x = is_whole(x, 1, length(labels)) && !anyDuplicated(x),
    y = is_whole(y, 1, length(labels)) && !anyDuplicated(y),
    effects = is_numbers(effects) &&
      length(dim(effects)) == 3L &&
      identical(dim(effects)[c(1L, 3L)], c(length(x), length(y))) &&
      dim(effects)[2L] > 0L,
    method = is_text(method),
    type = is_text(type),
    valid = is_flag(valid),
    technique = is.null(technique) || is_text(technique)
  ),
  pcgpu_stability = described(
    "stability()",
    labels = is_texts(labels),
    replicates = is_count(replicates, 1) && replicates <= 1e5,
    counts = is_table(counts, c("x", "y", "forward", "backward", "undirected", "bidirected")) &&
      identical(names(counts)[3:6], c("forward", "backward", "undirected", "bidirected")) &&
      is_whole(counts$x, 1, length(labels)) &&
      is_whole(counts$y, 1, length(labels)) &&
      all(counts$x < counts$y) &&
      all(vapply(counts[3:6], is_whole, NA, 0, replicates)) &&
      all(rowSums(counts[3:6]) >= 1 & rowSums(counts[3:6]) <= replicates),
    fit = is_fit(fit, labels),
    how = is_one_of(how, c("bootstrap", "subsample")),
    unit = is_one_of(unit, c("rows", "groups")),
    n = is_count(n, 1),
    size = is_count(size, 1) && size <= n,
    unit = is_text(unit),
    seed = is_count(seed),
    alpha = is_number(alpha),
    test = is_text(test),
    q = is_number(q),
    tested = is_count(tested),
    valid = is_count(valid) && valid <= replicates,
    constants = is_count(constants),
    knowledge = is_flag(knowledge),
    threshold = is_threshold(threshold),
    average = is.list(average) &&
      is_flags(average$kept, nrow(counts)) &&
      is_whole(average$mark, 1, 4, nrow(counts)) &&
      (identical(average$false_edges, NA_real_) || is_number(average$false_edges)) &&
      is_flag(average$valid)
  ),
  pcgpu_pag_stability = described(
    "stability()",
    labels = is_texts(labels),
    method = is_one_of(method, c("fci", "rfci", "fciPlus")),
    replicates = is_count(replicates, 1) && replicates <= 1e5,
    counts = is_table(counts, c("x", "y", kinds_of_pair)) &&
      identical(names(counts), c("x", "y", kinds_of_pair)) &&
      is_whole(counts$x, 1, length(labels)) &&
      is_whole(counts$y, 1, length(labels)) &&
      all(counts$x < counts$y) &&
      all(vapply(counts[-(1:2)], is_whole, NA, 0, replicates)) &&
      all(rowSums(counts[-(1:2)]) >= 1 & rowSums(counts[-(1:2)]) <= replicates),
    fit = is_fci(fit) && is_unedited(fit) && identical(labels_of_pag(attr(fit, "amat")), labels),
    how = is_one_of(how, c("bootstrap", "subsample")),
    n = is_count(n, 1),
    size = is_count(size, 1) && size <= n,
    unit = is_text(unit),
    seed = is_count(seed),
    alpha = is_number(alpha),
    test = is_text(test),
    threshold = is_threshold(threshold),
    kept = is_flags(kept, nrow(counts))
  ),
  pcgpu_cstar = described(
    "cstar()",
    labels = is_texts(labels),
    q = is_numbers(q) && length(q) > 0L && !anyNA(q),
    pairs = is_table(pairs, c("x", "y", "rank", "frequency", "effect", "all_rows", "pcer")) &&
      is_whole(pairs$x, 1, length(labels)) &&
      is_whole(pairs$y, 1, length(labels)) &&
      all(vapply(pairs[-(1:2)], is_numbers, NA)),
    frequency = is_numbers(frequency) && identical(dim(frequency), c(nrow(pairs), length(q))),
    replicates = is_count(replicates, 1),
    how = is_text(how),
    n = is_count(n, 1),
    size = is_count(size, 1) && size <= n,
    seed = is_count(seed),
    alpha = is_number(alpha),
    standardize = is_flag(standardize)
  ),
  pcgpu_selection = described(
    "select_features()",
    features = is_count(features, 1),
    target = is.null(target) || is_count(target, 1) && target <= features + 1,
    index = is_whole(index, 1, features + length(target)),
    left_out = is.null(left_out) || is_whole(left_out, 1, Inf),
    names = is.character(names) && length(names) == length(index),
    score = is_numbers(score, length(index)),
    relevance = is_numbers(relevance, length(index)),
    levels = is_numbers(levels, length(index)),
    criterion = is_texts(criterion),
    observations = is_count(observations, 1),
    classes = is_count(classes, 1),
    ensemble = is.null(ensemble) ||
      is.list(ensemble) &&
        is_count(ensemble$replicates, 1) &&
        is.matrix(ensemble$index) &&
        is_flag(ensemble$replace) &&
        is_count(ensemble$seed) &&
        is_count(ensemble$size, 1) &&
        ensemble$size <= observations &&
        is_whole(ensemble$draw, 0, Inf, ensemble$replicates) &&
        is_numbers(ensemble$stability, 3L) &&
        identical(names(ensemble$stability), c("estimate", "lower", "upper")),
    frequency = is.null(ensemble) || is_numbers(frequency, length(index)),
    rank = is.null(ensemble) || is_numbers(rank, length(index))
  ),
  pcgpu_ensemble = described(
    "selection_ensemble()",
    replicates = is_count(replicates, 1) && replicates <= 1e5,
    replace = is_flag(replace),
    size = is_number(size) && size > 0 && (replace || size != 1),
    aggregate = is_one_of(aggregate, c("frequency", "mean-rank")),
    seed = is.null(seed) || is_count(seed) && seed <= .Machine$integer.max
  ),
  pcgpu_plan = described(
    "plan_search()",
    levels = is_table(levels, c("level", "edges", "tests", "seconds", "done")) &&
      all(vapply(levels, is_numbers, NA)) &&
      is_whole(levels$level, -1, Inf) &&
      !anyNA(levels$done),
    max_level = is.integer(max_level) && length(max_level) == 1L,
    ended = is_flag(ended),
    memory = is_numbers(memory) && !anyNA(memory) && is_texts(names(memory)),
    variables = is_count(variables, 1),
    test = is.character(test) && length(test) == 1L,
    alpha = is.null(alpha) || is_number(alpha),
    device = is.null(device) || is_texts(device)
  ),
  pcgpu_details = described(
    "run_details()",
    version = is.null(version) || is_text(version),
    device = is.null(device) || is_texts(device),
    exact_tests = is.null(exact_tests) || is_numbers(exact_tests, 1L),
    test = is.null(test) || is_text(test),
    alpha = is.null(alpha) || is_numbers(alpha, 1L),
    samples = is.null(samples) || is_numbers(samples, 1L),
    ended = is.null(ended) || is_text(ended),
    level = is.null(level) || is_numbers(level, 1L),
    algorithm = is.null(algorithm) || is_text(algorithm),
    seconds = is.null(seconds) || is_numbers(seconds, 1L),
    times = is.null(times) || is_table(times, c("level", "seconds")) && is_numbers(times$seconds),
    valid_cpdag = is.null(valid_cpdag) || is_flag(valid_cpdag),
    advice = is.null(advice) || is.character(advice),
    knowledge = is.null(knowledge) || is_flag(knowledge),
    n.edgetests = is.null(n.edgetests) || is_whole(n.edgetests, 0, 2^53),
    memory = is.null(memory) ||
      (is.list(memory) || is_numbers(memory)) && is_texts(names(memory)) && all(vapply(memory, is_number, NA)),
    local = is.null(local) ||
      is.list(local) &&
        is_text(local$target) &&
        is_number(local$order) &&
        is_count(local$variables, 1) &&
        is_whole(local$distance, 0, 2^31) &&
        is_texts(names(local$distance)) &&
        is_texts(local$scanned),
    phase = is.null(phase) ||
      is.list(phase) &&
        is_numbers(phase$tests) &&
        !anyNA(phase$tests) &&
        (is.null(phase$ended) || is_numbers(phase$ended, 1L)),
    levels = is.null(levels) ||
      is_table(levels, c("level", "shards", "variables", "bytes_to", "bytes_from")) &&
        all(vapply(levels[c("level", "shards", "variables", "bytes_to", "bytes_from")], is_numbers, NA)) &&
        is_phase(levels$phase),
    team = is.null(team) ||
      is_table(team, c("level", "device", "shards", "bytes_to", "bytes_from", "seconds", "busy")) &&
        is_texts(team$device) &&
        all(vapply(team[c("level", "shards", "bytes_to", "bytes_from", "seconds", "busy")], is_numbers, NA)) &&
        is_phase(team$phase)
  ),
  pcgpu_info = described(
    "pcgpu_info()",
    pcgpu = is_text(pcgpu),
    core = is_text(core),
    simd = is_text(simd),
    cores = is_count(cores),
    threads = is_count(threads),
    cuda = is_flag(cuda),
    kernels = is_text(kernels),
    devices = inherits(devices, "pcgpu_devices") && is_unedited(devices),
    R = is_text(R),
    os = is.null(os) || is_text(os),
    platform = is_text(platform),
    graph = is.character(graph) && length(graph) == 1L,
    pcalg = is.character(pcalg) && length(pcalg) == 1L
  ),
  pcgpu_devices = described(
    "pcgpu_devices()",
    device = is.character(device),
    name = is.character(name) && length(name) == length(device),
    memory_total = is_numbers(memory_total, length(device)),
    memory_free = is_numbers(memory_free, length(device)),
    compute_capability = is.character(compute_capability) && length(compute_capability) == length(device),
    driver = is.character(driver) && length(driver) == length(device)
  ),
  pcgpu_markov = described(
    "markov_check()",
    labels = is_texts(labels),
    given = is_one_of(given, c("parents", "blanket")),
    alpha = is_number(alpha),
    replicates = is_count(replicates),
    size = is_number(size),
    extension = is_one_of(extension, c("none", names(extension_words))),
    summary = is_table(summary, c("implied", "tests", "answered", "below", "ks", "ad")) &&
      nrow(summary) == 2L &&
      all(vapply(summary[-1L], is_numbers, NA)),
    available = is_numbers(available, 2L),
    constants = is.null(constants) || is_count(constants),
    questions = is.list(questions) &&
      identical(names(questions), c("independence", "dependence")) &&
      all(vapply(questions, are_questions, NA, length(labels)))
  ),
  pcCompact = described(
    "pc(result = \"compact\")",
    call = is.call(call),
    labels = is_texts(labels) && length(labels) > 0L,
    n.edgetests = is_numbers(n.edgetests),
    max.ord = is.integer(max.ord) && length(max.ord) == 1L,
    type = is_one_of(type, c("skeleton", "CPDAG")),
    method = is_one_of(method, c("stable", "stable.fast", "original")),
    alpha = is_numbers(alpha, 1L),
    test = is_text(test) && (!nzchar(test) || exists(test, topenv(), mode = "function", inherits = FALSE)),
    extendable = is_flag(extendable),
    edges = is.list(edges),
    sets = is.list(sets),
    gaps = is.list(gaps),
    rows = check_rust(rust_check_flat(list(
      p = length(labels),
      method = method,
      edges = edges,
      sets = sets,
      gaps = gaps
    )))
  ),
  pcAlgo = described(
    "pc() or skeleton()",
    nodes = is_texts(graph@nodes),
    graph = is_graph(graph),
    call = is.call(call),
    n = is.integer(n),
    n.edgetests = is_whole(n.edgetests, 0, 2^53),
    max.ord = is.integer(max.ord) && length(max.ord) == 1L,
    sepset = are_sepsets(sepset, length(graph@nodes)),
    pMax = is.matrix(pMax) && is_numbers(pMax) && identical(dim(pMax), rep(length(graph@nodes), 2L)),
    zMin = is.matrix(zMin)
  ),
  fciAlgo = described(
    "fci()",
    square = is_numbers(amat) && is.matrix(amat) && nrow(amat) == ncol(amat) && are_dimnames(dimnames(amat)),
    amat = all(amat %in% 0:3) && all((amat != 0) == (t(amat) != 0)),
    call = is.call(call),
    n = is.integer(n),
    n.edgetests = is_whole(n.edgetests, 0, 2^53),
    max.ord = is.integer(max.ord) && length(max.ord) == (length(n.edgetests) > 0L),
    sepset = !length(sepset) && is.list(sepset) || are_sepsets(sepset, nrow(amat)),
    pMax = is.matrix(pMax) && (!length(max.ord) || is_numbers(pMax) && identical(dim(pMax), dim(amat))),
    allPdsep = is.list(allPdsep),
    n.edgetestsPDSEP = is_numbers(n.edgetestsPDSEP),
    max.ordPDSEP = is.integer(max.ordPDSEP) && length(max.ordPDSEP) <= 1L
  )
)

is_text <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

is_texts <- function(x, size = length(x)) is.character(x) && !is.object(x) && length(x) == size && !anyNA(x)

is_one_of <- function(x, words) is_text(x) && x %in% words

is_flag <- function(x) isTRUE(x) || isFALSE(x)

is_flags <- function(x, size) is.logical(x) && length(x) == size && !anyNA(x)

# Returns whether `x` is numbers, some of which may be NA, like the p-values of tests without an answer.
is_numbers <- function(x, size = length(x)) is.numeric(x) && !is.object(x) && length(x) == size

is_whole <- function(x, least, most, size = length(x)) {
  is_numbers(x, size) && !anyNA(x) && all(x >= least & x <= most & x == trunc(x))
}

is_count <- function(x, least = 0) is_whole(x, least, 2^53, 1L) && is.null(names(x))

is_table <- function(x, columns) is.data.frame(x) && all(columns %in% names(x)) && all(lengths(unclass(x)) == nrow(x))

is_option <- function(x) is_text(x) || is_number(x) && !is.object(x)

is_phase <- function(x) is.null(x) || is.character(x)

is_threshold <- function(x) {
  is.list(x) &&
    is_number(x$value) &&
    is_one_of(x$rule, c("significance", "halves", "false_edges", "given")) &&
    is_flag(x$strict)
}

# Returns whether `x` is an unedited result with these variables.
is_fit <- function(x, labels) {
  (is_compact(x) || is_result(x)) && is_unedited(x) && identical(labels_of_result(x), labels)
}

are_questions <- function(x, p) {
  is.list(x) &&
    is_whole(x$x, 1, p) &&
    is_whole(x$y, 1, p, length(x$x)) &&
    is_numbers(x$p, length(x$x)) &&
    is_whole(x$members, 1, p) &&
    is_whole(x$start, 0, length(x$members), length(x$x) + 1L) &&
    !is.unsorted(x$start) &&
    x$start[1L] == 0 &&
    x$start[length(x$start)] == length(x$members)
}

# Returns whether `x` looks like separating sets. Their members are checked when they are used, because there may be
# millions.
are_sepsets <- function(x, p) is.list(x) && length(x) == p && all(vapply(x, is.list, NA)) && all(lengths(x) == p)

are_dimnames <- function(x) {
  is.null(x) || is.list(x) && all(vapply(x, function(names) is.null(names) || is_texts(names), NA))
}

is_graph <- function(x) {
  if (!isS4(x) || !methods::is(x, "graphNEL")) {
    return(isS4(x) && methods::is(x, "graph"))
  }
  of <- attributes(x)
  p <- length(of$nodes)
  edges <- function(node) is.null(node) || is.list(node) && (is.null(node$edges) || is_whole(node$edges, 1, p))
  is_texts(of$nodes) &&
    !anyDuplicated(of$nodes) &&
    is.list(of$edgeL) &&
    length(of$edgeL) == p &&
    (is.null(names(of$edgeL)) || identical(names(of$edgeL), of$nodes)) &&
    all(vapply(of$edgeL, edges, NA)) &&
    methods::is(of$edgeData, "attrData") &&
    methods::is(of$nodeData, "attrData") &&
    methods::is(of$renderInfo, "renderInfo") &&
    is.list(attr(of$edgeData, "data")) &&
    is.list(attr(of$edgeData, "defaults")) &&
    all(vapply(
      c(list(attr(of$edgeData, "defaults")), attr(of$edgeData, "data")),
      function(record) is.list(record) && is_weight(record$weight),
      NA
    )) &&
    is.list(of$graphData) &&
    is_one_of(of$graphData$edgemode, c("directed", "undirected"))
}

is_weight <- function(x) is.null(x) || is.vector(x) && length(x) == 1L && (is.numeric(x) || is.logical(x))

parts_of <- function(x) if (isS4(x)) attributes(x) else unclass(x)

class_described <- function(x) intersect(class(x), names(shapes))[1L]

# Returns the name of the first part whose condition fails, NULL for an intact object, and "" for one without parts.
broken_part <- function(x, only = names(shapes[[class_described(x)]]$parts)) {
  about <- shapes[[class_described(x)]]
  parts <- parts_of(x)
  if (!is.list(parts) || is.null(names(parts))) {
    return("")
  }
  # Without this, eval() would look for a missing part among functions, and further parts could mask functions.
  parts <- stats::setNames(lapply(names(about$parts), function(name) parts[[name]]), names(about$parts))
  for (name in intersect(names(about$parts), only)) {
    holds <- tryCatch(suppressWarnings(eval(about$parts[[name]], parts, topenv())), error = function(e) FALSE)
    if (!isTRUE(holds)) {
      return(if (is_text(holds)) holds else name)
    }
  }
  NULL
}

is_unedited <- function(x) is.null(broken_part(x))

# Stops if an object of one of these classes was edited; anything else passes. only: the parts to check, if checking all
# would take much longer than the work itself.
check_object <- function(x, argument = "x", only = NULL) {
  class <- class_described(x)
  if (is.na(class)) {
    return(invisible(x))
  }
  name <- if (is.null(only)) broken_part(x) else broken_part(x, only)
  if (!is.null(name)) {
    part <- if (nzchar(name)) parts_of(x)[[name]]
    said <- tryCatch(describe(part), error = function(e) "something else")
    abort_argument(
      argument,
      x,
      sprintf("use the result of %s without changes.", shapes[[class]]$made),
      is = sprintf(
        "an object of class %s %s",
        class,
        if (nzchar(name)) {
          sprintf("whose `%s` was changed (it is %s, which does not fit the rest)", name, said)
        } else {
          "without its parts"
        }
      )
    )
  }
  invisible(x)
}
