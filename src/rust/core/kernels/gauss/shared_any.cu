// Sets of any size; memory holds what the others keep in registers.
#include "gauss/shared.cuh"
SHARED_KERNEL(shared_any, 0, 3)
