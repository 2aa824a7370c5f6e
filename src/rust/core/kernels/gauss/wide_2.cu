// Sets of 2, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_2, 2, 3)
