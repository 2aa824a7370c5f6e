// Sets of 3, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_3, 3, 3)
