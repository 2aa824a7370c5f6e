// Sets of 6, rows with many neighbours.
#include "gauss/wide.cuh"
WIDE_KERNEL(wide_6, 6, 2)
