// Sets of 7, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_7, 7, 2)
