// A driver for tests on a machine without a GPU: libcuda with emulated GPUs (gpu.cpp), on which the kernels really run. It has only the
// functions that the engine calls. A stream may work late, when its end is waited for, so that a host that reads too early finds old
// contents. Or it works early, or now and then, so that it overtakes other streams, and hosts that should have waited. Memory begins as
// rubbish and ends at a page that cannot be accessed.
//
// FAKE_CUDA names a role: what goes wrong, or "none". With "machine_code", the driver loads machine code (and runs the same) but no PTX;
// otherwise it refuses all machine code. With "no_managed", its GPUs have no unified memory. FAKE_CUDA_GPUS is the number of GPUs (1),
// FAKE_CUDA_MEMORY their bytes (32 GiB), and FAKE_CUDA_SHARED the bytes of shared memory of a block (64 KiB). FAKE_CUDA_TAKEN bytes (0)
// belong to another process, although they are reported free. FAKE_CUDA_OVERTAKEN bytes (0) are taken by another process once free memory
// has been asked for. FAKE_CUDA_STREAMS (1) seeds when streams work; with 0, all work as late as they can.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// After the standard library, as device.hpp redefines words of it.
#include "gpu.hpp"

typedef unsigned long long address;

enum { OK, INVALID = 1, OUT_OF_MEMORY = 2, UNAVAILABLE = 46, NO_DEVICE = 100, NO_BINARY = 209, NO_COMPILER = 221, OLD_PTX = 222, NOT_FOUND = 500, NOT_READY = 600, LAUNCH_FAILED = 719 };

static bool part_is(const char* name) {
    const char* part = getenv("FAKE_CUDA");
    return part && !strcmp(part, name);
}

static size_t number(const char* name, size_t usual) {
    const char* text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : usual;
}

// Bytes that another process has taken; reported once free memory has been asked for.
static size_t overtaken = 0;
static size_t gpu_memory() { return number("FAKE_CUDA_MEMORY", (size_t)32 << 30); }

static std::recursive_mutex lock;
typedef std::lock_guard<std::recursive_mutex> Locked;

struct Block {
    int gpu;
    size_t bytes, mapped;
    char* from;
    // Whether it is unified memory.
    bool managed;
};

static std::map<address, Block> blocks;
static std::map<void*, size_t> pinned;
static size_t used[16], most_used[16];
static int resets, launches;
// By GPU: how many contexts were requested, and how many are held; bytes of unified memory that were allocated, advised to belong on the
// GPU, advised to be only read, and prefetched.
static int asked_contexts[16], contexts[16];
static size_t managed[16][4];
// By GPU: the number of the launch at which it fails (0: none), and whether it has failed.
static size_t fails_at[16];
static bool lost[16];
static thread_local int current;

// When a stream works: at the end, with each call of the driver, or with some of them.
enum Temper { LATE, EARLY, NOW_AND_THEN };

static uint64_t draw() {
    static uint64_t state = number("FAKE_CUDA_STREAMS", 1) * 0x9E3779B97F4A7C15ull;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static Temper any_temper() {
    // 0 stays 0.
    uint64_t drawn = draw();
    return drawn == 0 || drawn % 2 ? LATE : drawn % 4 ? EARLY : NOW_AND_THEN;
}

struct Event;
struct Stream {
    std::deque<std::function<int()>> work;
    int failed = OK;
    int gpu = current;
    Temper temper = any_temper();

    // Does one piece of work; returns false if there is none.
    bool step() {
        if (work.empty()) return false;
        auto next = std::move(work.front());
        work.pop_front();
        int code = next();
        if (code && !failed) failed = code;
        if (work.empty() && draw() % 16 == 0) temper = any_temper();
        return true;
    }
    int finish() {
        while (step()) {}
        return failed;
    }
};
static std::vector<Stream*> streams;

// Lets streams do what they may do by now. Whatever gives them work, or looks at it, calls this at its end.
static void go_on() {
    // Work of one stream may wait for another's.
    for (size_t i = 0; i < streams.size(); i++) {
        Stream& stream = *streams[i];
        if (stream.temper == LATE || lost[stream.gpu]) continue;
        if (stream.temper == EARLY || draw() % 4 == 0) stream.step();
    }
}

// Gives a stream work.
static int enqueue(void* stream, std::function<int()> work) {
    ((Stream*)stream)->work.push_back(std::move(work));
    go_on();
    return OK;
}

// Several threads may record one event: a waiter waits for the last record before its call.
struct Event {
    Stream* stream = nullptr;
    uint64_t recorded = 0, reached = 0, asked = 0;
};

static bool is_pinned(const void* at) {
    auto next = pinned.upper_bound((void*)at);
    if (next == pinned.begin()) return false;
    --next;
    return (const char*)at < (char*)next->first + next->second;
}

// Returns whether `bytes` from here on are device memory.
static bool is_device(address at, size_t bytes) {
    auto next = blocks.upper_bound(at);
    if (next == blocks.begin()) return false;
    --next;
    return at + bytes <= next->first + next->second.bytes;
}

// Returns the device block that contains an address, which must be in one.
static const Block& block_of(address at) { return std::prev(blocks.upper_bound(at))->second; }

// Returns whether an address is this GPU's, or unified memory. A real GPU copies to another's memory, slowly, and its kernels read that as
// slowly.
static bool is_of(address at, int gpu) { return block_of(at).managed || block_of(at).gpu == gpu; }

// Allocates a block for the current GPU and counts its bytes, which must fit if `bounded`.
static int allocate(address* at, size_t bytes, bool bounded) {
    // Another process has taken memory that was reported free.
    if (part_is("taken") && used[current] + bytes > 1000) return OUT_OF_MEMORY;
    if (bytes == 0) return INVALID;
    if (bounded && used[current] + bytes + overtaken + number("FAKE_CUDA_TAKEN", 0) > gpu_memory()) return OUT_OF_MEMORY;
    const size_t PAGE = 4096;
    size_t rounded = (bytes + 255) / 256 * 256, inner = (rounded + PAGE - 1) / PAGE * PAGE, mapped = inner + 2 * PAGE;
    char* from = (char*)mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED || mprotect(from + PAGE, inner, PROT_READ | PROT_WRITE)) return OUT_OF_MEMORY;
    *at = (address)(from + PAGE + inner - rounded);
    // Large memory is left as the system gives it: writing all of it would take longer than the test.
    memset((void*)*at, 0xAB, std::min(rounded, (size_t)64 << 20));
    blocks[*at] = {current, bytes, mapped, from, !bounded};
    used[current] += bytes;
    most_used[current] = std::max(most_used[current], used[current]);
    return OK;
}

extern "C" {

// For tests: returns the most bytes that a GPU had allocated at a time since the last call.
size_t emulated_most_used(int gpu) {
    Locked locked(lock);
    size_t most = most_used[gpu];
    most_used[gpu] = used[gpu];
    return most;
}

// For tests: returns bytes of a GPU's unified memory so far: allocated (0), advised to belong on the GPU (1), advised to be only read and
// not since to be written (2), and prefetched (3).
size_t emulated_managed(int gpu, int what) {
    Locked locked(lock);
    return managed[gpu][what];
}

// For tests: returns how often a context was requested on a GPU.
int emulated_contexts(int gpu) {
    Locked locked(lock);
    return asked_contexts[gpu];
}

// For tests: makes a GPU fail at its launch of this number from now on, until its context is reset.
void emulated_lose(int gpu, size_t launch) {
    Locked locked(lock);
    fails_at[gpu] = launch;
}

int cuInit(unsigned) { return part_is("no_device") ? NO_DEVICE : OK; }
int cuDriverGetVersion(int* version) {
    *version = part_is("old_driver") ? 11080 : 12040;
    return OK;
}
int cuDeviceGetCount(int* count) {
    *count = (int)number("FAKE_CUDA_GPUS", 1);
    return OK;
}
int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return OK;
}
int cuDeviceGetName(char* name, int length, int) {
    strncpy(name, "Emulated", length);
    return OK;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = gpu_memory();
    return OK;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    // Multiprocessors, shared memory of a block, compute capability, unified memory while kernels run.
    *value = attribute == 16   ? 2
             : attribute == 97 ? (int)number("FAKE_CUDA_SHARED", 65536)
             : attribute == 75 ? (part_is("old_device") ? 6 : 8)
             : attribute == 89 ? !part_is("no_managed")
                               : 0;
    return OK;
}
int cuDeviceGetPCIBusId(char* text, int length, int device) {
    snprintf(text, length, "0000:%02X:00.0", device + 0x1A);
    return OK;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(device + 0xA0 + i);
    return OK;
}
// The first GPU reads the second's memory, but not the other way round.
int cuDeviceCanAccessPeer(int* can, int device, int other) {
    *can = device == 0 && other == 1;
    return OK;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    Locked locked(lock);
    *flags = 0;
    *active = contexts[device] > 0;
    return OK;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
    Locked locked(lock);
    asked_contexts[device]++;
    *context = (void*)(uintptr_t)(device + 1);
    int code = part_is("busy") ? UNAVAILABLE : part_is("full") ? OUT_OF_MEMORY : OK;
    if (!code) contexts[device]++;
    return code;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    Locked locked(lock);
    contexts[device]--;
    return OK;
}
int cuDevicePrimaryCtxReset_v2(int gpu) {
    resets++;
    lost[gpu] = false;
    return OK;
}
int cuCtxSetCurrent(void* context) {
    current = (int)(uintptr_t)context - 1;
    return OK;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
    Locked locked(lock);
    *total = gpu_memory();
    *free = *total - std::min(*total, used[current] + overtaken);
    overtaken = number("FAKE_CUDA_OVERTAKEN", 0);
    return OK;
}
int cuMemAlloc_v2(address* at, size_t bytes) {
    Locked locked(lock);
    return allocate(at, bytes, true);
}
// Unified memory: like the GPU's own, except that it may be more than the GPU has.
int cuMemAllocManaged(address* at, size_t bytes, unsigned flags) {
    Locked locked(lock);
    if (part_is("no_managed") || flags != 1) return INVALID;
    int code = allocate(at, bytes, false);
    if (!code) managed[current][0] += bytes;
    return code;
}
// Returns whether this is a whole block of the current GPU's unified memory. Only such a block may be advised and prefetched.
static bool is_managed(address at, size_t bytes, int device) {
    auto block = blocks.find(at);
    return block != blocks.end() && block->second.managed && block->second.bytes == bytes && block->second.gpu == device && device == current;
}
int cuMemAdvise(address at, size_t bytes, int advice, int device) {
    Locked locked(lock);
    enum { READ_MOSTLY = 1, NOT_READ_MOSTLY, PREFERRED };
    if (!is_managed(at, bytes, device)) return INVALID;
    if (advice == READ_MOSTLY) managed[device][2] += bytes;
    if (advice == NOT_READ_MOSTLY) managed[device][2] -= bytes;
    if (advice == PREFERRED) managed[device][1] += bytes;
    return OK;
}
int cuMemPrefetchAsync(address at, size_t bytes, int device, void* stream) {
    Locked locked(lock);
    if (!is_managed(at, bytes, device) || !stream) return INVALID;
    managed[device][3] += bytes;
    return OK;
}
int cuMemFree_v2(address at) {
    Locked locked(lock);
    auto block = blocks.find(at);
    if (block == blocks.end()) return INVALID;
    used[block->second.gpu] -= block->second.bytes;
    munmap(block->second.from, block->second.mapped);
    blocks.erase(block);
    return OK;
}
int cuMemHostAlloc(void** at, size_t bytes, unsigned) {
    Locked locked(lock);
    *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*at) return OUT_OF_MEMORY;
    memset(*at, 0xAB, bytes);
    pinned[*at] = bytes;
    return OK;
}
int cuMemFreeHost(void* at) {
    Locked locked(lock);
    pinned.erase(at);
    free(at);
    return OK;
}
int cuMemcpyHtoDAsync_v2(address to, const void* from, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(to, bytes) || !is_of(to, current)) return INVALID;
    if (is_pinned(from)) return enqueue(stream, [=] { return memcpy((void*)to, from, bytes), OK; });
    std::vector<char> kept((const char*)from, (const char*)from + bytes);
    return enqueue(stream, [=, kept = std::move(kept)] { return memcpy((void*)to, kept.data(), bytes), OK; });
}
int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(to, bytes)) return INVALID;
    return enqueue(stream, [=] { return memset((void*)to, value, bytes), OK; });
}
int cuMemcpyDtoHAsync_v2(void* to, address from, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(from, bytes)) return INVALID;
    int code = enqueue(stream, [=] { return memcpy(to, (void*)from, bytes), OK; });
    // A real driver returns once memory that is not pinned has been written.
    if (((Stream*)stream)->temper != LATE && !is_pinned(to)) ((Stream*)stream)->finish();
    return code;
}
// Copies within unified memory, also between GPUs; other memory only within one GPU.
int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(to, bytes) || !is_device(from, bytes)) return INVALID;
    const Block &source = block_of(from), &target = block_of(to);
    if (source.gpu != target.gpu && !(source.managed && target.managed)) return INVALID;
    if (lost[source.gpu] || lost[target.gpu]) return LAUNCH_FAILED;
    return enqueue(stream, [=] { return memmove((void*)to, (void*)from, bytes), OK; });
}
int cuCtxEnablePeerAccess(void*, unsigned) { return OK; }
int cuMemcpyDtoH_v2(void* to, address from, size_t bytes) {
    Locked locked(lock);
    if (!is_device(from, bytes)) return INVALID;
    memcpy(to, (void*)from, bytes);
    return OK;
}
int cuStreamCreate(void** stream, unsigned) {
    Locked locked(lock);
    streams.push_back(new Stream);
    *stream = streams.back();
    return OK;
}
int cuStreamSynchronize(void* stream) {
    Locked locked(lock);
    if (lost[current]) return LAUNCH_FAILED;
    return ((Stream*)stream)->finish();
}
int cuStreamQuery(void* stream) {
    Locked locked(lock);
    if (lost[current]) return LAUNCH_FAILED;
    auto* queue = (Stream*)stream;
    // One piece of work, and short ones after it: a caller that finds more to do may sleep before it asks again.
    uint64_t end = emulated::nanoseconds() + 200000;
    while (queue->step() && emulated::nanoseconds() < end) {}
    go_on();
    return queue->failed ? queue->failed : queue->work.empty() ? OK : NOT_READY;
}
int cuStreamDestroy_v2(void* stream) {
    Locked locked(lock);
    ((Stream*)stream)->finish();
    streams.erase(std::find(streams.begin(), streams.end(), (Stream*)stream));
    delete (Stream*)stream;
    return OK;
}
int cuEventCreate(void** event, unsigned) {
    *event = new Event;
    return OK;
}
int cuEventRecord(void* event, void* stream) {
    Locked locked(lock);
    auto* mark = (Event*)event;
    mark->stream = (Stream*)stream;
    uint64_t number = ++mark->recorded;
    return enqueue(stream, [=] { return mark->reached = number, OK; });
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    Locked locked(lock);
    auto* mark = (Event*)event;
    return enqueue(stream, [=, number = mark->recorded, from = mark->stream] {
        while (mark->reached < number && from->step()) {}
        return OK;
    });
}
int cuEventQuery(void* event) {
    Locked locked(lock);
    if (lost[current]) return LAUNCH_FAILED;
    auto* mark = (Event*)event;
    // A caller that asks again and again gets there in the end.
    if (mark->reached < mark->recorded && (mark->stream->temper != LATE || ++mark->asked % 8 == 0)) mark->stream->step();
    return mark->stream && mark->stream->failed ? mark->stream->failed : mark->reached < mark->recorded ? NOT_READY : OK;
}
int cuEventDestroy_v2(void* event) {
    delete (Event*)event;
    return OK;
}
// A module is its image: of the ELF format, or text.
int cuModuleLoadData(void** module, const void* image) {
    const char* from = (const char*)image;
    bool code = !strncmp(from, "\x7f" "ELF", 4);
    if (part_is("old_ptx")) return code ? NO_BINARY : OLD_PTX;
    if (code != part_is("machine_code")) return code ? NO_BINARY : NO_COMPILER;
    uint64_t table = 0;
    uint16_t size = 0, count = 0;
    if (code) memcpy(&table, from + 40, 8), memcpy(&size, from + 58, 2), memcpy(&count, from + 60, 2);
    *module = new std::string(from, code ? table + (uint64_t)size * count : strlen(from));
    return OK;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto& image = *(std::string*)module;
    auto known = emulated::entries().find(name);
    // The name of a section, which ends with a zero, or the line that a kernel begins with.
    bool there = image[0] == '\x7f' ? image.find(std::string(".text.") + name + '\0') != image.npos
                                    : image.find(std::string(".entry ") + name + "(") != image.npos;
    if (!there || known == emulated::entries().end()) return NOT_FOUND;
    *function = &known->second;
    return OK;
}
int cuModuleUnload(void* module) {
    delete (std::string*)module;
    return OK;
}
int cuFuncSetAttribute(void*, int, int) { return OK; }
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned bytes,
                   void* stream, void** parameters, void**) {
    Locked locked(lock);
    // A failed launch spoils its context: everything that follows fails, too, until the context is reset.
    if (part_is("launch") && ++launches > 1 && !resets) return LAUNCH_FAILED;
    if (fails_at[current] && --fails_at[current] == 0) lost[current] = true;
    if (lost[current]) return LAUNCH_FAILED;
    if (gz != 1 || by != 1 || bz != 1 || bx == 0 || bx > 1024 || gx == 0 || gy == 0 || gy > 65535 || bytes > std::max<size_t>(65536, number("FAKE_CUDA_SHARED", 65536))) return INVALID;
    auto* kernel = (emulated::Entry*)function;
    std::vector<char> args((const char*)parameters[0], (const char*)parameters[0] + kernel->args);
    return enqueue(stream, [=, args = std::move(args)] {
        emulated::launch(*kernel, args, dim3{gx, gy, 1}, bx, bytes);
        return OK;
    });
}
int cuGetErrorName(int error, const char** name) {
    *name = error == UNAVAILABLE ? "CUDA_ERROR_DEVICE_UNAVAILABLE" : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
    return OK;
}
int cuGetErrorString(int, const char** text) {
    *text = "an error";
    return OK;
}
}
