// The part of gpu.cpp that the driver uses.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "device.hpp"

namespace emulated {

struct Entry {
    size_t args;
    void (*run)(void (*)(), const void*);
    void (*kernel)();
};

// Returns all kernels, by name.
std::map<std::string, Entry>& entries();

// Runs a kernel, its blocks in any order, with `bytes` of shared memory, which begins as rubbish.
void launch(const Entry& kernel, const std::vector<char>& args, dim3 grid, unsigned threads, unsigned bytes);

}  // namespace emulated
