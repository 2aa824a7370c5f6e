/* Runs a function that may end in a jump of R (an error, a caught condition, an
 * interrupt) and stops the jump here, so that it never crosses a Rust frame. The
 * token remembers where the jump was going; R_ContinueUnwind() resumes it once
 * Rust has put everything away. */
#include <setjmp.h>

typedef struct SEXPREC *SEXP;
SEXP R_UnwindProtect(SEXP (*fun)(void *), void *data,
                     void (*clean)(void *, int), void *clean_data, SEXP token);

static void back_out(void *buffer, int jump)
{
    if (jump)
        longjmp(*(jmp_buf *)buffer, 1);
}

/* Returns NULL when R jumped. */
SEXP pcgpu_stop_jump(SEXP (*fun)(void *), void *data, SEXP token)
{
    jmp_buf buffer;
    if (setjmp(buffer))
        return 0;
    return R_UnwindProtect(fun, data, back_out, &buffer, token);
}
