// A driver for tests, on a machine without a GPU: libcuda with cards that are emulated (device.hpp), on which the kernels really
// run. It has only what the engine asks for. Work waits in its stream until somebody asks for the stream's end, so that
// a host that reads too early finds what was there before; memory begins as rubbish and ends at a page that nobody may touch.
//
// FAKE_CUDA names a part to play: what goes wrong, or "none"; "machine_code": it loads machine code (and runs the same), but no PTX,
// where it else is a driver that refuses all machine code; "no_managed": its cards have no unified memory. FAKE_CUDA_CARDS,
// FAKE_CUDA_MEMORY and FAKE_CUDA_SHARED are the number of cards (1), their bytes (32 GiB) and bytes of shared memory of a block
// (64 KiB); of these FAKE_CUDA_TAKEN (0) are another process's, though they are said to be free, and FAKE_CUDA_OVERTAKEN (0) are taken by another
// process once somebody has asked what is free.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// After the library, whose words it redefines.
#include "device.hpp"

using emulated::Call;

// What kernels name `extern __shared__`: one block at a time is on a thread of the CPU.
constexpr size_t SHARED = 256 << 10;
extern "C" {
alignas(64) __thread unsigned char memory[SHARED];
alignas(64) __thread unsigned char shared[SHARED];
alignas(64) __thread unsigned char sums[SHARED];
}

namespace emulated {

__thread uint3 thread_index, block_index;
__thread dim3 block_size, grid_size;
__thread bool said_in_block;

static void fail(const char* what) {
    fprintf(stderr, "emulated card: %s (block %u, thread %u)\n", what, block_index.x, thread_index.x);
    abort();
}

struct Entry {
    size_t args;
    void (*run)(void (*)(), const void*);
    void (*kernel)();
};

static std::map<std::string, Entry>& entries() {
    static std::map<std::string, Entry> all;
    return all;
}

void enter(const char* name, size_t args, void (*run)(void (*)(), const void*), void (*kernel)()) {
    entries()[name] = {args, run, kernel};
}

uint64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// Fibers.

constexpr size_t STACK = 64 << 10;
// From one stack to the next. Not a power of two: the same frames of all threads would fall on the same few lines of the CPU's caches.
constexpr size_t STEP = STACK + (4 << 10) + 192;

#if defined(__x86_64__)
extern "C" void switch_stacks(void** from, void* to);
asm(R"(
.text
.type switch_stacks, @function
switch_stacks:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
)");
static void* fresh_stack(char* stack, void (*start)()) {
    void** top = (void**)(stack + STACK) - 2;
    *top = (void*)start;
    // Six registers; at `start` the stack is as after a call.
    return top - 6;
}
#elif defined(__aarch64__)
extern "C" void switch_stacks(void** from, void* to);
asm(R"(
.text
.type switch_stacks, %function
switch_stacks:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
)");
static void* fresh_stack(char* stack, void (*start)()) {
    char* top = stack + STACK - 160;
    memset(top, 0, 160);
    ((void**)top)[11] = (void*)start;
    return top;
}
#else
#error "fibers are written for x86-64 and aarch64"
#endif

constexpr unsigned MOST_THREADS = 1024, LANES = 32;

struct Warp {
    // Lanes that have not ended, those that can go on, those that wait for others of their warp.
    unsigned live, ready, waiting;
    Call call[LANES];
    unsigned mask[LANES], from[LANES];
    uint64_t value[LANES], result[LANES];
};

// What runs on one thread of the CPU.
struct Processor {
    char* stacks;
    void* own;
    void* fibers[MOST_THREADS];
    Warp warps[MOST_THREADS / LANES];
    unsigned threads, live, at_barrier;
    const Entry* entry;
    const void* args;

    Processor() {
        stacks = (char*)mmap(nullptr, STEP * MOST_THREADS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    ~Processor() { munmap(stacks, STEP * MOST_THREADS); }
    void run(const Entry& kernel, const void* parameters, unsigned count);
    void open_barrier();
    void complete(Warp& warp);
};

static __thread Processor* processor;
// Which fiber runs, and whether it stays ready when it gives way.
static __thread unsigned running;

static void go_on(Processor* on, void** from, unsigned thread) {
    running = thread;
    thread_index = {thread, 0, 0};
    switch_stacks(from, on->fibers[thread]);
}

// To the next lane of the warp that can go on, or else to Processor::run.
static void give_way() {
    Processor* here = processor;
    unsigned thread = running, warp = thread / LANES, later = here->warps[warp].ready & ~1u << thread % LANES;
    if (later) {
        go_on(here, &here->fibers[thread], warp * LANES + __builtin_ctz(later));
    } else {
        switch_stacks(&here->fibers[thread], here->own);
    }
}

void Processor::open_barrier() {
    if (live == 0 || at_barrier < live) return;
    at_barrier = 0;
    for (unsigned w = 0; w < (threads + LANES - 1) / LANES; w++) {
        if (warps[w].waiting) fail("threads wait for their warp while the others are at a barrier of the block");
        warps[w].ready = warps[w].live;
    }
}

// Answers calls for which all lanes are there. Lanes that have ended are not waited for.
void Processor::complete(Warp& warp) {
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(warp.waiting >> lane & 1)) continue;
        unsigned group = warp.mask[lane] & warp.live;
        if ((warp.waiting & group) != group) continue;
        Call call = warp.call[lane];
        unsigned said = 0;
        for (unsigned l = 0; l < LANES; l++) {
            if (!(group >> l & 1)) continue;
            if (warp.call[l] != call || warp.mask[l] != warp.mask[lane]) fail("lanes of a warp make different calls");
            if (warp.value[l]) said |= 1u << l;
        }
        for (unsigned l = 0; l < LANES; l++) {
            if (!(group >> l & 1)) continue;
            if (call == emulated::SHUFFLE) {
                // Of a lane that is not asked: rubbish.
                warp.result[l] = group >> warp.from[l] & 1 ? warp.value[warp.from[l]] : 0xABABABABABABABABull;
            } else if (call == emulated::BALLOT) {
                warp.result[l] = said;
            } else if (call == emulated::MATCH) {
                unsigned equal = 0;
                for (unsigned k = 0; k < LANES; k++) equal |= (group >> k & 1 && warp.value[k] == warp.value[l]) << k;
                warp.result[l] = equal;
            }
        }
        warp.waiting &= ~group;
        warp.ready |= group;
    }
}

uint64_t warp_call(Call call, unsigned mask, uint64_t value, unsigned from) {
    Warp& warp = processor->warps[running / LANES];
    unsigned lane = running % LANES;
    if (!(mask >> lane & 1)) fail("a lane calls with a mask that it is not in");
    warp.call[lane] = call;
    warp.mask[lane] = mask;
    warp.value[lane] = value;
    warp.from[lane] = from;
    warp.waiting |= 1u << lane;
    warp.ready &= ~(1u << lane);
    unsigned group = mask & warp.live;
    if ((warp.waiting & group) == group) processor->complete(warp);
    while (warp.waiting >> lane & 1) give_way();
    return warp.result[lane];
}

void block_barrier() {
    Warp& warp = processor->warps[running / LANES];
    warp.ready &= ~(1u << running % LANES);
    processor->at_barrier++;
    processor->open_barrier();
    if (!(warp.ready >> running % LANES & 1)) give_way();
}

void yield() { give_way(); }

static void start() {
    processor->entry->run(processor->entry->kernel, processor->args);
    Warp& warp = processor->warps[running / LANES];
    warp.live &= ~(1u << running % LANES);
    warp.ready &= ~(1u << running % LANES);
    processor->live--;
    processor->complete(warp);
    processor->open_barrier();
    give_way();
}

void Processor::run(const Entry& kernel, const void* parameters, unsigned count) {
    processor = this;
    entry = &kernel;
    args = parameters;
    threads = live = count;
    at_barrier = 0;
    unsigned warp_count = (count + LANES - 1) / LANES;
    for (unsigned w = 0; w < warp_count; w++) {
        unsigned lanes = std::min(LANES, count - w * LANES);
        warps[w].live = warps[w].ready = lanes == LANES ? ~0u : (1u << lanes) - 1;
        warps[w].waiting = 0;
    }
    for (unsigned t = 0; t < count; t++) fibers[t] = fresh_stack(stacks + t * STEP, start);
    while (live) {
        bool any = false;
        for (unsigned w = 0; w < warp_count; w++) {
            if (!warps[w].ready) continue;
            any = true;
            // Each lane hands on to the next.
            go_on(this, &own, w * LANES + __builtin_ctz(warps[w].ready));
        }
        if (!any) fail("threads of a block wait for others that have ended or wait elsewhere");
    }
}

// Threads of the CPU that help whoever launches with his blocks.
class Helpers {
    std::vector<std::thread> threads;
    std::mutex lock;
    std::condition_variable changed;
    const std::function<void()>* work = nullptr;
    unsigned turn = 0, busy = 0;
    bool ended = false;

    void serve() {
        std::unique_lock<std::mutex> locked(lock);
        for (unsigned seen = 0;;) {
            changed.wait(locked, [&] { return ended || (work && turn != seen); });
            if (ended) return;
            seen = turn;
            auto* what = work;
            busy++;
            locked.unlock();
            (*what)();
            locked.lock();
            if (--busy == 0) changed.notify_all();
        }
    }

public:
    Helpers() {
        for (unsigned i = 1; i < std::thread::hardware_concurrency(); i++) threads.emplace_back([this] { serve(); });
    }
    ~Helpers() {
        {
            std::lock_guard<std::mutex> locked(lock);
            ended = true;
        }
        changed.notify_all();
        for (auto& thread : threads) thread.join();
    }
    // Runs it here and on helpers that come before it has ended here: nobody waits for one that is still to wake up.
    void run(const std::function<void()>& what) {
        {
            std::lock_guard<std::mutex> locked(lock);
            work = &what;
            turn++;
        }
        changed.notify_all();
        what();
        std::unique_lock<std::mutex> locked(lock);
        work = nullptr;
        changed.wait(locked, [&] { return busy == 0; });
    }
};

// Processors that run nothing: threads of tests are many, and begin and end.
class Idle {
    std::vector<std::unique_ptr<Processor>> all;
    std::mutex lock;

public:
    std::unique_ptr<Processor> take() {
        std::lock_guard<std::mutex> locked(lock);
        if (all.empty()) return std::make_unique<Processor>();
        auto last = std::move(all.back());
        all.pop_back();
        return last;
    }
    void give(std::unique_ptr<Processor> back) {
        std::lock_guard<std::mutex> locked(lock);
        all.push_back(std::move(back));
    }
};

// Blocks in any order; `bytes` of shared memory, which begins as rubbish.
static void launch(const Entry& kernel, const std::vector<char>& args, dim3 grid, unsigned threads, unsigned bytes) {
    static Helpers helpers;
    static Idle idle;
    std::atomic<uint64_t> next{0};
    uint64_t blocks = (uint64_t)grid.x * grid.y;
    std::function<void()> run = [&] {
        auto own = idle.take();
        for (uint64_t at; (at = next++) < blocks;) {
            block_size = {threads, 1, 1};
            grid_size = grid;
            block_index = {(unsigned)(at % grid.x), (unsigned)(at / grid.x), 0};
            for (unsigned char* space : {memory, shared, sums}) memset(space, 0xAB, bytes);
            own->run(kernel, args.data(), threads);
        }
        idle.give(std::move(own));
    };
    blocks > 1 ? helpers.run(run) : run();
}

}  // namespace emulated

// The driver.

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

// Bytes that another process has taken, as is said from then on.
static size_t overtaken = 0;
static size_t card_memory() { return number("FAKE_CUDA_MEMORY", (size_t)32 << 30); }

static std::recursive_mutex lock;
typedef std::lock_guard<std::recursive_mutex> Locked;

struct Block {
    int card;
    size_t bytes, mapped;
    char* from;
    // Of unified memory.
    bool managed;
};

static std::map<address, Block> blocks;
static std::map<void*, size_t> pinned;
static size_t used[16], most_used[16];
static int resets, launches;
// By card: how many contexts were asked for and are held; bytes of unified memory that were allocated, said to belong on the card,
// said to be only read, and brought there.
static int asked_contexts[16], contexts[16];
static size_t managed[16][4];
// By card: the number of the launch that it fails at (0: none), and whether it has.
static size_t fails_at[16];
// Likewise the number of the copy from it to another card.
static size_t gives_until[16];
static bool lost[16];
static thread_local int current;

struct Event;
struct Stream {
    std::deque<std::function<int()>> work;
    int failed = OK;

    // Does one thing; false where there is nothing to do.
    bool step() {
        if (work.empty()) return false;
        auto next = std::move(work.front());
        work.pop_front();
        int code = next();
        if (code && !failed) failed = code;
        return true;
    }
    int finish() {
        while (step()) {}
        return failed;
    }
};
// Several threads may record one event: who waits does so for what was recorded last before.
struct Event {
    Stream* stream = nullptr;
    uint64_t recorded = 0, reached = 0;
};

static bool is_pinned(const void* at) {
    auto next = pinned.upper_bound((void*)at);
    if (next == pinned.begin()) return false;
    --next;
    return (const char*)at < (char*)next->first + next->second;
}

// Whether `bytes` from here on are device memory.
static bool is_device(address at, size_t bytes) {
    auto next = blocks.upper_bound(at);
    if (next == blocks.begin()) return false;
    --next;
    return at + bytes <= next->first + next->second.bytes;
}

// The card's block that has this; it must be there.
static const Block& block_of(address at) { return std::prev(blocks.upper_bound(at))->second; }

// Whether it is this card's, or unified memory: a real one copies to another's, slowly, and its kernels read that as slowly.
static bool is_of(address at, int card) { return block_of(at).managed || block_of(at).card == card; }

// A block for the current card, whose bytes are counted, and must fit if `bounded`.
static int allocate(address* at, size_t bytes, bool bounded) {
    // Another process has taken what was said to be free.
    if (part_is("taken") && used[current] + bytes > 1000) return OUT_OF_MEMORY;
    if (bytes == 0) return INVALID;
    if (bounded && used[current] + bytes + overtaken + number("FAKE_CUDA_TAKEN", 0) > card_memory()) return OUT_OF_MEMORY;
    const size_t PAGE = 4096;
    size_t rounded = (bytes + 255) / 256 * 256, inner = (rounded + PAGE - 1) / PAGE * PAGE, mapped = inner + 2 * PAGE;
    char* from = (char*)mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED || mprotect(from + PAGE, inner, PROT_READ | PROT_WRITE)) return OUT_OF_MEMORY;
    *at = (address)(from + PAGE + inner - rounded);
    // Much memory is left as the system gives it: writing it would take longer than the test.
    memset((void*)*at, 0xAB, std::min(rounded, (size_t)64 << 20));
    blocks[*at] = {current, bytes, mapped, from, !bounded};
    used[current] += bytes;
    most_used[current] = std::max(most_used[current], used[current]);
    return OK;
}

extern "C" {

// For tests: the most bytes that a card had allocated at a time, since this was asked for last.
size_t emulated_most_used(int card) {
    Locked locked(lock);
    size_t most = most_used[card];
    most_used[card] = used[card];
    return most;
}

// For tests: bytes of a card's unified memory that were allocated (0), said to belong on the card (1), said to be only read and not
// since to be written (2), and brought there (3), so far.
size_t emulated_managed(int card, int what) {
    Locked locked(lock);
    return managed[card][what];
}

// For tests: how often a context was asked for on a card.
int emulated_contexts(int card) {
    Locked locked(lock);
    return asked_contexts[card];
}

// For tests: has a card fail at its launch of this number from now on, until its context is reset.
void emulated_lose(int card, size_t launch) {
    Locked locked(lock);
    fails_at[card] = launch;
}

// For tests: likewise when another card copies from it for so many times.
void emulated_lose_giving(int card, size_t copy) {
    Locked locked(lock);
    gives_until[card] = copy;
}

int cuInit(unsigned) { return part_is("no_device") ? NO_DEVICE : OK; }
int cuDriverGetVersion(int* version) {
    *version = part_is("old_driver") ? 11080 : 12040;
    return OK;
}
int cuDeviceGetCount(int* count) {
    *count = (int)number("FAKE_CUDA_CARDS", 1);
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
    *bytes = card_memory();
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
// The first card reads the second's memory, and not the other way round.
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
int cuDevicePrimaryCtxReset_v2(int card) {
    resets++;
    lost[card] = false;
    return OK;
}
int cuCtxSetCurrent(void* context) {
    current = (int)(uintptr_t)context - 1;
    return OK;
}
int cuMemGetInfo_v2(size_t* free, size_t* total) {
    Locked locked(lock);
    *total = card_memory();
    *free = *total - std::min(*total, used[current] + overtaken);
    overtaken = number("FAKE_CUDA_OVERTAKEN", 0);
    return OK;
}
int cuMemAlloc_v2(address* at, size_t bytes) {
    Locked locked(lock);
    return allocate(at, bytes, true);
}
// Unified memory: as the card's own, but that it may be more than the card has.
int cuMemAllocManaged(address* at, size_t bytes, unsigned flags) {
    Locked locked(lock);
    if (part_is("no_managed") || flags != 1) return INVALID;
    int code = allocate(at, bytes, false);
    if (!code) managed[current][0] += bytes;
    return code;
}
// What may be advised, and brought, is a whole block of unified memory of the current card.
static bool is_managed(address at, size_t bytes, int device) {
    auto block = blocks.find(at);
    return block != blocks.end() && block->second.managed && block->second.bytes == bytes && block->second.card == device && device == current;
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
    used[block->second.card] -= block->second.bytes;
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
    auto* queue = (Stream*)stream;
    if (is_pinned(from)) {
        queue->work.push_back([=] { return memcpy((void*)to, from, bytes), OK; });
    } else {
        std::vector<char> kept((const char*)from, (const char*)from + bytes);
        queue->work.push_back([=, kept = std::move(kept)] { return memcpy((void*)to, kept.data(), bytes), OK; });
    }
    return OK;
}
int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(to, bytes)) return INVALID;
    ((Stream*)stream)->work.push_back([=] { return memset((void*)to, value, bytes), OK; });
    return OK;
}
int cuMemcpyDtoHAsync_v2(void* to, address from, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(from, bytes)) return INVALID;
    ((Stream*)stream)->work.push_back([=] { return memcpy(to, (void*)from, bytes), OK; });
    return OK;
}
int cuMemcpyPeerAsync(address to, void* to_context, address from, void* from_context, size_t bytes, void* stream) {
    Locked locked(lock);
    int source = (int)(uintptr_t)from_context - 1;
    if (gives_until[source] && --gives_until[source] == 0) lost[source] = true;
    if (lost[(int)(uintptr_t)to_context - 1] || lost[source]) return LAUNCH_FAILED;
    if (!is_device(to, bytes) || !is_device(from, bytes)) return INVALID;
    if (!is_of(to, (int)(uintptr_t)to_context - 1) || !is_of(from, source)) return INVALID;
    ((Stream*)stream)->work.push_back([=] { return memmove((void*)to, (void*)from, bytes), OK; });
    return OK;
}
// Within unified memory, also of several cards; else within one card's.
int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void* stream) {
    Locked locked(lock);
    if (!is_device(to, bytes) || !is_device(from, bytes)) return INVALID;
    const Block &source = block_of(from), &target = block_of(to);
    if (source.card != target.card && !(source.managed && target.managed)) return INVALID;
    if (lost[source.card] || lost[target.card]) return LAUNCH_FAILED;
    ((Stream*)stream)->work.push_back([=] { return memmove((void*)to, (void*)from, bytes), OK; });
    return OK;
}
int cuCtxEnablePeerAccess(void*, unsigned) { return OK; }
int cuMemcpyDtoH_v2(void* to, address from, size_t bytes) {
    Locked locked(lock);
    if (!is_device(from, bytes)) return INVALID;
    memcpy(to, (void*)from, bytes);
    return OK;
}
int cuStreamCreate(void** stream, unsigned) {
    *stream = new Stream;
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
    // One thing, and little ones that come after it: who finds that there is more to do may sleep before it asks again.
    uint64_t end = emulated::nanoseconds() + 200000;
    while (queue->step() && emulated::nanoseconds() < end) {}
    return queue->failed ? queue->failed : queue->work.empty() ? OK : NOT_READY;
}
int cuStreamDestroy_v2(void* stream) {
    Locked locked(lock);
    ((Stream*)stream)->finish();
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
    mark->stream->work.push_back([=] { return mark->reached = number, OK; });
    return OK;
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    Locked locked(lock);
    auto* mark = (Event*)event;
    ((Stream*)stream)->work.push_back([=, number = mark->recorded, from = mark->stream] {
        while (mark->reached < number && from->step()) {}
        return OK;
    });
    return OK;
}
int cuEventQuery(void* event) {
    Locked locked(lock);
    if (lost[current]) return LAUNCH_FAILED;
    auto* mark = (Event*)event;
    while (mark->reached < mark->recorded && mark->stream->step()) {}
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
    // A failed launch spoils its context: what follows fails too, until that is reset.
    if (part_is("launch") && ++launches > 1 && !resets) return LAUNCH_FAILED;
    if (fails_at[current] && --fails_at[current] == 0) lost[current] = true;
    if (lost[current]) return LAUNCH_FAILED;
    if (gz != 1 || by != 1 || bz != 1 || bx == 0 || bx > 1024 || gx == 0 || gy == 0 || gy > 65535 || bytes > 65536) return INVALID;
    auto* kernel = (emulated::Entry*)function;
    std::vector<char> args((const char*)parameters[0], (const char*)parameters[0] + kernel->args);
    ((Stream*)stream)->work.push_back([=, args = std::move(args)] {
        emulated::launch(*kernel, args, dim3{gx, gy, 1}, bx, bytes);
        return OK;
    });
    return OK;
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
