# Counts in sentences: with a comma after each three digits, and with their noun.

in_words <- function(count) format(count, big.mark = ",", trim = TRUE, scientific = FALSE)

counted <- function(count, one, many = paste0(one, "s")) paste(in_words(count), if (count == 1) one else many)
