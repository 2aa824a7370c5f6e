// Sets of any size; what the others keep in registers is in memory.
#include "gauss_shared.cuh"
SHARED_KERNEL(shared_any, 0, 3)
