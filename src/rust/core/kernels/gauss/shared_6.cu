// Sets of 6.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_6, 6, 3)
