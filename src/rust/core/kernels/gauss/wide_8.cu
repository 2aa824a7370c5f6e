// Sets of 8, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_8, 8, 2)
