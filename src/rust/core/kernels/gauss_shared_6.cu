// Sets of 6.
#include "gauss_shared.cuh"
SHARED_KERNEL(shared_6, 6, 3)
