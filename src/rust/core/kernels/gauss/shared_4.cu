// Sets of 4.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_4, 4, 3)
