// Sets of 5, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_5, 5, 3)
