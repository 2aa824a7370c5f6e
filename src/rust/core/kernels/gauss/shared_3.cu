// Sets of 3.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_3, 3, 3)
