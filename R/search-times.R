# Stores how long a search took where identical() of two results does not see it: in the bits of NaN, which identical() treats as equal (see its
# argument single.NA). The bits survive copies, saveRDS() and load(). serialize(), and hashes of its output, do see them.

# Encodes seconds as such NaN, to a microsecond. The bits are the sign and exponent of a quiet NaN, 19 and 30 bits of a number, and a last bit that is 1,
# unlike in NA and R's own NaN.
quiet_nan <- 0x7ff80000
most_microseconds <- 2^49 - 1

hide_seconds <- function(seconds) {
  number <- round(1e6 * seconds)
  number[number < 0] <- 0
  number[number >= most_microseconds] <- most_microseconds - 1
  # The largest number stands for NA.
  number[is.na(number)] <- most_microseconds
  words <- rbind(2 * (number %% 2^30) + 1, quiet_nan + number %/% 2^30)
  readBin(writeBin(as.integer(words), raw(), endian = "little"), "double", length(seconds), endian = "little")
}

# Decodes the NaN of hide_seconds(). Returns NA for other values, such as a NaN that was written as text.
shown_seconds <- function(hidden) {
  words <- matrix(readBin(writeBin(as.double(hidden), raw(), endian = "little"), "integer", 2L * length(hidden), endian = "little"), 2L)
  number <- (words[1L, ] - 1) / 2 + 2^30 * (words[2L, ] - quiet_nan)
  ifelse(is.nan(hidden) & words[1L, ] %% 2L == 1L & number < most_microseconds, number / 1e6, NA_real_)
}

# Measures the levels of a search by its progress reports, which it passes on to `report` unless that is NULL. A level ends when all of it is done.
# read(found) returns list(counts, seconds). `counts`: the number of levels of the skeleton, and of sizes of the possible-d-sep phase, that have tests.
# `seconds`: the hidden seconds of the whole search, then of each of these.
search_clock <- function(report) {
  now <- function() as.double(Sys.time())
  began <- ready <- now()
  ends <- list(skeleton = double(), phase = double())
  note <- function(level, done, total, edges, tests = 0) {
    if (level < 0) {
      ready <<- now()
    } else if (done >= total) {
      ends[[if (isTRUE(session$fci_phase)) "phase" else "skeleton"]][level + 1] <<- now()
    }
    if (!is.null(report)) report(level, done, total, edges, tests)
    invisible()
  }
  durations <- function(ends, count, start) {
    ends <- ends[seq_len(count)]
    known <- which(!is.na(ends))
    seconds <- rep.int(NA_real_, count)
    seconds[known] <- diff(c(start, ends[known]))
    seconds
  }
  read <- function(found) {
    later <- max(ready, ends$skeleton, na.rm = TRUE)
    counts <- c(skeleton = length(found$n_edgetests), "possible-d-sep" = length(found$all_tests_pdsep))
    list(counts = counts, seconds = hide_seconds(c(now() - began, durations(ends$skeleton, counts[[1L]], ready), durations(ends$phase, counts[[2L]], later))))
  }
  list(report = note, read = read)
}

# Returns list(seconds, times) from the result of read(), see run_details().
times_of <- function(hidden) {
  if (is.null(hidden)) {
    return(NULL)
  }
  shown <- shown_seconds(hidden$seconds)
  times <- data.frame(level = sequence(unname(hidden$counts)) - 1L)
  if (hidden$counts[[2L]] > 0L) times$phase <- rep(names(hidden$counts), hidden$counts)
  times$seconds <- shown[-1L]
  list(seconds = shown[1L], times = times)
}
