library(testthat)
library(pcgpu)

test_check("pcgpu")
