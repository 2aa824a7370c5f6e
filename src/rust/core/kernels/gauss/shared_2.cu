// Sets of 2.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_2, 2, 3)
