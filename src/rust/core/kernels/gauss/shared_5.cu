// Sets of 5.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_5, 5, 3)
