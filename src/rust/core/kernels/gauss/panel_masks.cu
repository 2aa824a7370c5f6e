// Level 1 in panels (panels.cuh).
#define OF_PANELS
#include "gauss/masks.cuh"
