// Sets of 4, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_4, 4, 3)
