# Counts in sentences, with a mark after each three digits, and with their noun; and lines that fit the console.

in_words <- function(count) format(count, big.mark = thousands_mark(), trim = TRUE, scientific = FALSE)

# A comma, unless that is the decimal mark (options(OutDec = ",")).
thousands_mark <- function() if (identical(getOption("OutDec"), ",")) "." else ","

counted <- function(count, one, many = paste0(one, "s")) paste(in_words(count), if (count == 1) one else many)

# Prints lines no wider than the console; what goes on in the next is indented. Errors, warnings and messages stay one line each, which scripts match.
say_lines <- function(...) for (line in c(...)) cat(strwrap(line, getOption("width"), exdent = 2L), sep = "\n")
