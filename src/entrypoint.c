/* R looks for R_init_pcgpu() when it loads the library; extendr's own start-up
 * function has another name, and a reference from here is also what makes the
 * linker take the static Rust library in. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

void R_init_pcgpu_extendr(DllInfo *dll);
void register_extendr_panic_hook(void);

#ifdef __linux__
#include <sys/resource.h>

/* Under a limit of the address space (ulimit -v) the stack, too, cannot grow
 * once a large call has taken what there was: a segmentation fault. It does not
 * shrink, so that it is made to grow while there is room; memory is taken for
 * the page that is written alone. */
static void __attribute__((noinline)) grow_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur < ((rlim_t)4 << 20))
        return;
    volatile char last[1 << 20];
    last[0] = 0;
}
#else
static void grow_stack(void)
{
}
#endif

void attribute_visible R_init_pcgpu(DllInfo *dll)
{
    grow_stack();
    /* Without the hook a panic would print Rust's own message to stderr. */
    register_extendr_panic_hook();
    R_init_pcgpu_extendr(dll);
    /* Only registered routines, and only by symbol: a call by name would be a
     * mistake in our own R code. */
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
