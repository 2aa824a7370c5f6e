#include "gauss/masks.cuh"
