/* R looks for R_init_pcgpu() when it loads the library; extendr's own start-up
 * function has another name, and a reference from here is also what makes the
 * linker take the static Rust library in. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

void R_init_pcgpu_extendr(DllInfo *dll);
void register_extendr_panic_hook(void);

void attribute_visible R_init_pcgpu(DllInfo *dll)
{
    /* Without the hook a panic would print Rust's own message to stderr. */
    register_extendr_panic_hook();
    R_init_pcgpu_extendr(dll);
    /* Only registered routines, and only by symbol: a call by name would be a
     * mistake in our own R code. */
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
