// Runs kernels: threads of a block are fibers of one CPU thread; see device.hpp.
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

// After the standard library, as device.hpp redefines words of it.
#include "gpu.hpp"

using emulated::Call;

// The `extern __shared__` names of kernels: a CPU thread runs one block at a time.
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
    fprintf(stderr, "emulated GPU: %s (block %u, thread %u)\n", what, block_index.x, thread_index.x);
    abort();
}

std::map<std::string, Entry>& entries() {
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
// Distance from one stack to the next. With a power of two, the same frames of all threads would share a few lines of the CPU's caches.
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
    // Lanes that have not ended, lanes that can run, lanes that wait for others of their warp.
    unsigned live, ready, waiting;
    Call call[LANES];
    unsigned mask[LANES], from[LANES];
    uint64_t value[LANES], result[LANES];
};

// The state of a CPU thread that runs blocks.
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
// The fiber that runs.
static __thread unsigned running;

static void go_on(Processor* on, void** from, unsigned thread) {
    running = thread;
    thread_index = {thread, 0, 0};
    switch_stacks(from, on->fibers[thread]);
}

// Switches to the next lane of the warp that can run, or else to Processor::run.
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

// Answers calls that all lanes of their group have made. Does not wait for lanes that have ended.
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
                // A lane outside the group gives rubbish.
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
            // Each lane switches to the next.
            go_on(this, &own, w * LANES + __builtin_ctz(warps[w].ready));
        }
        if (!any) fail("threads of a block wait for others that have ended or wait elsewhere");
    }
}

// CPU threads that help a launching thread with its blocks.
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
    // Runs `what` here, and on helpers that arrive before it has ended here: nothing waits for a helper that has yet to wake up.
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

// Idle processors, for reuse: tests start and end many threads.
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

void launch(const Entry& kernel, const std::vector<char>& args, dim3 grid, unsigned threads, unsigned bytes) {
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
