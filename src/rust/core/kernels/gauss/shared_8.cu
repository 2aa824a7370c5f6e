// Sets of 8.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_8, 8, 2)
