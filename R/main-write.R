# Writes the results of the command line.

formats_graph <- names(format_of_end)
formats_picture <- c("pdf", "png", "svg")
formats_table <- c("csv", "tsv", "rds")

# read: what `convert` has read, if it has.
formats_of <- function(command, read = NULL) {
  if (!is.null(read) && is_data(read)) {
    return(c(formats_table, "pcgpu"))
  }
  c(
    if (command %in% c("pc", "fci", "stability", "convert")) formats_graph,
    if (command %in% c("pc", "fci", "convert")) "html",
    if (command != "plan") formats_picture,
    formats_table,
    if (command == "convert") "pcgpu"
  )
}

# Refuses outputs that could not be written, before any work.
check_outputs <- function(given, command, args, formats = formats_of(command)) {
  outputs <- given[intersect(c("out", "edges", "summary"), names(given))]
  if (!length(outputs)) {
    abort_usage("give --out, --edges or --summary, or nothing is written", command = command)
  }
  allowed <- list(out = formats, edges = c("csv", "tsv"), summary = NULL)
  for (name in names(outputs)[outputs != "-"]) {
    file <- outputs[[name]]
    check_new_path(file, paste0("--", name), TRUE)
    if (!is.null(allowed[[name]]) && !extension_of(file) %in% allowed[[name]]) {
      abort_argument(
        paste0("--", name),
        file,
        paste0("use the extension ", paste0(".", allowed[[name]], collapse = ", "), "."),
        is = sprintf("%s, a format that pcgpu %s does not write", dQuote(file, FALSE), command)
      )
    }
  }
  # The same file may be written in two ways.
  path_of <- function(files) normalizePath(sub("^@", "", files), mustWork = FALSE)
  written <- unlist(outputs[outputs != "-"])
  if (anyDuplicated(path_of(written)) || sum(outputs == "-") > 1L) {
    abort_usage("each output needs a file of its own", command = command)
  }
  # The words of the command name every file that is read; each output is one of them, too.
  words <- sub("^--[a-z-]+=", "", args)
  words <- path_of(words[file.exists(sub("^@", "", words))])
  lost <- written[vapply(written, function(file) sum(words == path_of(file)) > 1L, NA)]
  if (length(lost)) {
    abort_usage(
      sprintf("--%s would replace %s, which is read", names(lost)[1L], dQuote(lost[[1L]], FALSE)),
      command = command
    )
  }
}

write_outputs <- function(found, data, given, parsed, session) {
  if (!is.null(given$edges)) {
    table <- edges_to_write(found, data, r_arguments(parsed$command, given))
    write_table(table, given$edges)
  }
  if (!is.null(given$out)) {
    write_result(found, given$out)
  }
  if (!is.null(given$summary)) {
    session$total <- proc.time()[["elapsed"]] - session$began
    json <- json_of(summary_of(found, data, given, parsed, session))
    if (given$summary == "-") cat(json, "\n", sep = "") else write_whole(json, path.expand(given$summary))
  }
}

# Returns the edges with their strengths, of a search that had these arguments.
edges_to_write <- function(found, data, arguments) {
  if (inherits(found, c("pcgpu_stability", "pcgpu_pag_stability"))) {
    return(edge_table(found))
  }
  tryCatch(
    {
      treatment <- arguments[intersect(names(arguments), data_arguments)]
      if (length(treatment)) {
        data <- do.call(suff_gauss, c(list(data), treatment))
      }
      threads <- arguments[intersect(names(arguments), "numCores")]
      suppressMessages(do.call(edge_table, c(list(found, data), threads)))
    },
    pcgpu_error = function(e) {
      warn("edges", paste("The edges are written without their strengths:", conditionMessage(e)))
      edge_table(found)
    }
  )
}

write_result <- function(found, file) {
  format <- if (file == "-") "csv" else extension_of(file)
  if (format %in% formats_graph) {
    write_network(found, file)
  } else if (format == "html") {
    plot(found, interactive = TRUE, file = file)
  } else if (format == "pcgpu") {
    write_pcgpu_file(found, file, overwrite = TRUE)
  } else if (format == "rds") {
    write_complete(file, function(part) saveRDS(found, part))
  } else if (format %in% formats_picture) {
    write_complete(file, function(part) draw_result(found, part, format))
  } else if (is_data(found)) {
    table <- if (is.data.frame(found)) found else as.data.frame(as.matrix(found))
    named <- .row_names_info(table) > 0L
    write_table(if (named) cbind(data.frame(row = row.names(table)), table) else table, file)
  } else {
    write_table(as.data.frame(found), file)
  }
}

draw_result <- function(found, file, format) {
  switch(
    format,
    pdf = grDevices::pdf(file, 10, 7),
    png = grDevices::png(file, 2000, 1400, res = 200),
    svg = grDevices::svg(file, 10, 7)
  )
  on.exit(grDevices::dev.off())
  plot(found)
}

write_table <- function(table, file) {
  write <- function(to, sep) {
    utils::write.table(table, to, sep = sep, row.names = FALSE, qmethod = "double", fileEncoding = "UTF-8")
  }
  if (file == "-") {
    return(write("", ","))
  }
  write_complete(file, function(part) {
    to <- if (endsWith(tolower(file), ".gz")) gzfile(part, "wb") else base::file(part, "wb")
    on.exit(close(to))
    write(to, if (extension_of(file) == "tsv") "\t" else ",")
  })
}

# Writes a file that appears under its name when it is complete. write: a function of the path to write.
write_complete <- function(file, write) {
  file <- path.expand(file)
  part <- tempfile(paste0(".", basename(file), "-"), dirname(file), paste0(".", extension_of(file)))
  on.exit(unlink(part))
  write(part)
  if (!file.rename(part, file)) abort_unwritable(file, "the temporary file cannot be renamed")
}

summary_of <- function(found, data, given, parsed, session) {
  is_search <- is_result(found) || is_compact(found) || is_fci(found)
  details <- if (is_search) {
    run_details(found)
  } else if (is.list(found) && !is_data(found)) {
    unclass(found)
  }
  edges <- if (is_search || inherits(found, c("pcgpu_stability", "pcgpu_pag_stability"))) edge_table(found)
  Filter(
    Negate(is.null),
    list(
      pcgpu = package_version(),
      R = as.character(getRversion()),
      command = parsed$command,
      file = parsed$files,
      options = parsed$said,
      rows = size_of_input(data)[1L],
      columns = size_of_input(data)[2L],
      missing = if (is.data.frame(data) || is.matrix(data)) sum(is.na(data)),
      variables = if (!is.null(edges)) length(network_of(found)$labels),
      edges = if (!is.null(edges)) c(list(total = nrow(edges)), as.list(table(edges$kind))),
      test = details$test,
      alpha = details$alpha,
      tests = if (!is.null(details$n.edgetests)) I(details$n.edgetests),
      device = if (!is.null(details$device)) paste(details$device, collapse = " + "),
      valid_cpdag = details$valid_cpdag,
      complete = if (is_search) is.null(details$ended) && is.null(details$phase$ended),
      seconds = lapply(c(read = session$read, run = session$run, total = session$total), round, 3L),
      outputs = given[intersect(c("out", "edges", "summary"), names(given))],
      warnings = I(as.character(session$warnings)),
      messages = I(as.character(session$messages))
    )
  )
}

# Returns a value as JSON: lists with names are objects; vectors are arrays unless they have one element without I().
json_of <- function(x, indent = "") {
  if (is.list(x)) {
    inner <- paste0(indent, "  ")
    parts <- paste0(inner, json_string(names(x)), ": ", vapply(x, json_of, "", indent = inner))
    return(paste0("{\n", paste(parts, collapse = ",\n"), "\n", indent, "}"))
  }
  values <- if (is.logical(x) || is.numeric(x)) value_text(unclass(x)) else json_string(enc2utf8(as.character(x)))
  values[is.na(x) | is.numeric(x) & !is.finite(x)] <- "null"
  if (length(x) == 1L && !inherits(x, "AsIs")) values else sprintf("[%s]", paste(values, collapse = ", "))
}
