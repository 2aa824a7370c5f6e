#include "gauss/columns.cuh"
