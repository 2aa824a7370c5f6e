// Sets of 8.
#include "gauss_shared.cuh"
SHARED_KERNEL(shared_8, 8, 2)
