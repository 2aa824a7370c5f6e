// Sets of 7.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_7, 7, 2)
