// Level 1 in panels (engine/cuda/gauss/blocks): kernels of which a launch has the correlations of some vertices alone, the smaller and the larger ones
// of its pairs. lists.cuh, columns.cuh and masks.cuh are compiled twice: panel_lists.cu, panel_columns.cu and
// panel_masks.cu include them for panels.
#pragma once

#ifdef OF_PANELS
constexpr bool PANELS = true;
#define KERNEL(name) panel_##name
#else
constexpr bool PANELS = false;
#define KERNEL(name) name
#endif
