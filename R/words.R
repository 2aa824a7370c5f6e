# Counts in sentences, with thousands separators and their noun, and lines that fit the console.

in_words <- function(count) format(count, big.mark = thousands_mark(), trim = TRUE, scientific = FALSE)

# Returns a comma, or a point if the comma is the decimal mark (options(OutDec = ",")).
thousands_mark <- function() if (identical(getOption("OutDec"), ",")) "." else ","

counted <- function(count, one, many = paste0(one, "s")) paste(in_words(count), if (count == 1) one else many)

# Prints lines no wider than the console, and indents continuation lines. Errors, warnings and messages stay on one line, because scripts match on them.
say_lines <- function(...) for (line in c(...)) cat(strwrap(line, getOption("width"), exdent = 2L), sep = "\n")
