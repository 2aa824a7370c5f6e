/* A driver that plays a part, for tests/driver.rs: FAKE_CUDA names what goes wrong. Kernels do nothing, memory is the host's and
 * begins as zeros. Only what the engine asks for is here. */
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

enum { OK, INVALID = 1, OUT_OF_MEMORY = 2, UNAVAILABLE = 46, NO_DEVICE = 100, OLD_PTX = 222, LAUNCH_FAILED = 719 };

static int part_is(const char* name) {
    const char* part = getenv("FAKE_CUDA");
    return part && !strcmp(part, name);
}

static int resets, launches;
static size_t allocated;

int cuInit(unsigned flags) { return part_is("no_device") ? NO_DEVICE : OK; }
int cuDriverGetVersion(int* version) { *version = part_is("old_driver") ? 11080 : 12040; return OK; }
int cuDeviceGetCount(int* count) { *count = 1; return OK; }
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return OK; }
int cuDeviceGetName(char* name, int length, int device) { strncpy(name, "A part", length); return OK; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = (size_t)1 << 30; return OK; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
    /* Multiprocessors, shared memory of a block, compute capability. */
    *value = attribute == 16 ? 2 : attribute == 97 ? 65536 : attribute == 75 ? (part_is("old_device") ? 6 : 8) : 0;
    return OK;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = (void*)1;
    return part_is("busy") ? UNAVAILABLE : part_is("full") ? OUT_OF_MEMORY : OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return OK; }
int cuDevicePrimaryCtxReset_v2(int device) { resets++; return OK; }
int cuCtxSetCurrent(void* context) { return OK; }
int cuMemGetInfo_v2(size_t* free, size_t* total) { *free = *total = (size_t)1 << 30; return OK; }
int cuMemAlloc_v2(address* at, size_t bytes) {
    allocated += bytes;
    /* Another process has taken what was said to be free. */
    if (part_is("taken") && allocated > 1000) return OUT_OF_MEMORY;
    *at = (address)calloc(1, bytes);
    return OK;
}
int cuMemFree_v2(address at) { free((void*)at); return OK; }
int cuMemHostAlloc(void** at, size_t bytes, unsigned flags) { *at = calloc(1, bytes); return OK; }
int cuMemFreeHost(void* at) { free(at); return OK; }
int cuMemcpyHtoDAsync_v2(address to, const void* from, size_t bytes, void* stream) { memcpy((void*)to, from, bytes); return OK; }
int cuMemcpyDtoHAsync_v2(void* to, address from, size_t bytes, void* stream) { memcpy(to, (void*)from, bytes); return OK; }
int cuStreamCreate(void** stream, unsigned flags) { *stream = (void*)2; return OK; }
int cuStreamSynchronize(void* stream) { return OK; }
int cuStreamQuery(void* stream) { return OK; }
int cuStreamDestroy_v2(void* stream) { return OK; }
int cuStreamWaitEvent(void* stream, void* event, unsigned flags) { return OK; }
int cuEventCreate(void** event, unsigned flags) { *event = (void*)4; return OK; }
int cuEventRecord(void* event, void* stream) { return OK; }
int cuEventDestroy_v2(void* event) { return OK; }
int cuModuleLoadData(void** module, const void* image) { *module = (void*)3; return part_is("old_ptx") ? OLD_PTX : OK; }
int cuModuleGetFunction(void** function, void* module, const char* name) { *function = (void*)5; return OK; }
int cuModuleUnload(void* module) { return OK; }
int cuFuncSetAttribute(void* function, int attribute, int value) { return OK; }
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void* stream, void** parameters, void** extra) {
    /* A failed launch spoils its context: what follows fails too, until that is reset. */
    return part_is("launch") && ++launches > 1 && !resets ? LAUNCH_FAILED : OK;
}
int cuGetErrorName(int error, const char** name) {
    *name = error == UNAVAILABLE ? "CUDA_ERROR_DEVICE_UNAVAILABLE" : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
    return OK;
}
int cuGetErrorString(int error, const char** text) { *text = "an error"; return OK; }
