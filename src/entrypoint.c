/* R looks for R_init_pcgpu() when it loads the library; extendr's own start-up
 * function has another name, and a reference from here is also what makes the
 * linker take the static Rust library in. */
#define R_NO_REMAP
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

void R_init_pcgpu_extendr(DllInfo *dll);
void register_extendr_panic_hook(void);
void pcgpu_make_lazy_classes(DllInfo *dll);

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

/* What a call of Rust needs before it can stop a jump of R, and what it answers
 * where R has no memory even for an answer: made now, and kept. */
static SEXP spare_token, spare_answer;

SEXP pcgpu_spare_token(void)
{
    return spare_token;
}

SEXP pcgpu_spare_answer(void)
{
    return spare_answer;
}

static void make_spares(void)
{
    const char *outer[] = {"error", ""};
    const char *inner[] = {"class", "message", "what", "hint", ""};
    const char *fields[] = {"memory", "not enough memory: R has none left for the result of a call; give R more memory",
                            "the result of a call", "give R more memory"};
    R_PreserveObject(spare_token = R_MakeUnwindCont());
    R_PreserveObject(spare_answer = Rf_mkNamed(VECSXP, outer));
    SET_VECTOR_ELT(spare_answer, 0, Rf_mkNamed(VECSXP, inner));
    for (int i = 0; i < 4; i++)
        SET_VECTOR_ELT(VECTOR_ELT(spare_answer, 0), i, Rf_mkString(fields[i]));
}

void attribute_visible R_init_pcgpu(DllInfo *dll)
{
    grow_stack();
    make_spares();
    pcgpu_make_lazy_classes(dll);
    /* Without the hook a panic would print Rust's own message to stderr. */
    register_extendr_panic_hook();
    R_init_pcgpu_extendr(dll);
    /* Only registered routines, and only by symbol: a call by name would be a
     * mistake in our own R code. */
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
