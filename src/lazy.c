/* The methods of the vectors of src/rust/src/lazy.rs, which R calls: the slots
 * pMax and sepset of a result, whose cells are made when they are asked for.
 * They allocate, so R may jump out of them; the functions of Rust do not.
 *
 * pMax: data1 is the state, which is what is saved; data2 is list(opened, whole),
 * with what Rust made of the state and the whole matrix once it was asked for.
 * sepset: data1 is the state; data2 is list(opened, all, changed, rows, sets),
 * with the rows and the sets of no or one member that were made so far. A row of
 * it: data1 is sepset; data2 is list(x, all, changed, sets), with its larger
 * sets. Both have all entries once they were asked for, and note whether one of
 * them was changed. */
#define R_NO_REMAP
#include <string.h>
#include <Rinternals.h>
#include <Rversion.h>
#include <R_ext/Altrep.h>
#include <R_ext/Rdynload.h>

/* In src/rust/src/lazy.rs. */
SEXP pcgpu_lazy_open(SEXP state);
double pcgpu_lazy_cell(SEXP opened, size_t at);
int pcgpu_lazy_fill(SEXP opened, double *cells);
ptrdiff_t pcgpu_lazy_set(SEXP opened, size_t x, size_t y, int *single, const int **members, size_t *at);
size_t pcgpu_lazy_row(SEXP opened, size_t x);
size_t pcgpu_lazy_p(SEXP opened);

static R_altrep_class_t p_max_class;

static SEXP part(SEXP x, int at)
{
    return VECTOR_ELT(R_altrep_data2(x), at);
}

static SEXP open_state(SEXP state)
{
    SEXP opened = pcgpu_lazy_open(state);
    if (opened == R_NilValue)
        Rf_error("a result of pcgpu in this file is damaged, or from another version: run the search again");
    return opened;
}

static SEXP make(R_altrep_class_t class, SEXP state, SEXP opened, int parts)
{
    PROTECT(state);
    PROTECT(opened);
    SEXP held = PROTECT(Rf_allocVector(VECSXP, parts));
    SET_VECTOR_ELT(held, 0, opened);
    SEXP made = R_new_altrep(class, state, held);
    UNPROTECT(3);
    return made;
}

/* Returns a vector with the numbers of x whose address stays. R's wrappers (an
 * assignment of dimnames() makes one) exchange the vector that they wrap when a
 * copy of them is changed: what they wrap now is held in their place. */
SEXP pcgpu_lazy_plain(SEXP x)
{
    if (!ALTREP(x))
        return x;
    SEXP inner = R_altrep_data1(x);
    if (TYPEOF(inner) == REALSXP && !ALTREP(inner) && XLENGTH(inner) == XLENGTH(x) && REAL_RO(inner) == REAL_RO(x))
        return inner;
    SEXP copy = PROTECT(Rf_allocVector(REALSXP, XLENGTH(x)));
    if (XLENGTH(x) > 0)
        memcpy(REAL(copy), REAL_RO(x), (size_t)XLENGTH(x) * sizeof(double));
    UNPROTECT(1);
    return copy;
}

/* pMax */

static R_xlen_t p_max_length(SEXP x)
{
    R_xlen_t p = (R_xlen_t)pcgpu_lazy_p(part(x, 0));
    return p * p;
}

static void *p_max_dataptr(SEXP x, Rboolean writable)
{
    SEXP whole = part(x, 1);
    if (whole == R_NilValue) {
        whole = PROTECT(Rf_allocVector(REALSXP, p_max_length(x)));
        int outcome = pcgpu_lazy_fill(part(x, 0), REAL(whole));
        if (outcome == 2)
            Rf_error("interrupted: the whole `pMax` was not made");
        if (outcome != 0)
            Rf_error("not enough memory for the whole `pMax`: ask for its cells, or give R more memory");
        SET_VECTOR_ELT(R_altrep_data2(x), 1, whole);
        UNPROTECT(1);
    }
    return REAL(whole);
}

static const void *p_max_dataptr_or_null(SEXP x)
{
    SEXP whole = part(x, 1);
    return whole == R_NilValue ? NULL : REAL(whole);
}

static double p_max_elt(SEXP x, R_xlen_t i)
{
    SEXP whole = part(x, 1);
    return whole == R_NilValue ? pcgpu_lazy_cell(part(x, 0), (size_t)i) : REAL(whole)[i];
}

/* What reads all cells makes them all first, which is quicker than one by one. */
static SEXP p_max_of_all(SEXP x, Rboolean na_rm)
{
    p_max_dataptr(x, FALSE);
    return NULL;
}

/* Once somebody has had its address, a copy must have other cells. */
static SEXP p_max_duplicate(SEXP x, Rboolean deep)
{
    return part(x, 1) == R_NilValue ? make(p_max_class, R_altrep_data1(x), part(x, 0), 2) : NULL;
}

/* The state, with half of a matrix of correlations. */
static SEXP p_max_serialized_state(SEXP x)
{
    if (part(x, 1) != R_NilValue)
        return NULL;
    SEXP state = R_altrep_data1(x);
    SEXP names = Rf_getAttrib(state, R_NamesSymbol);
    R_xlen_t last = Rf_xlength(state) - 1;
    if (strcmp(CHAR(STRING_ELT(names, last)), "C"))
        return state;
    R_xlen_t p = (R_xlen_t)pcgpu_lazy_p(part(x, 0));
    SEXP half = PROTECT(Rf_allocVector(REALSXP, p * (p - 1) / 2));
    const double *cells = REAL_RO(VECTOR_ELT(state, last));
    double *to = REAL(half);
    for (R_xlen_t y = 1; y < p; y++) {
        memcpy(to, cells + y * p, (size_t)y * sizeof(double));
        to += y;
    }
    SEXP saved = PROTECT(Rf_shallow_duplicate(state));
    names = PROTECT(Rf_duplicate(names));
    SET_STRING_ELT(names, last, Rf_mkChar("triangle"));
    SET_VECTOR_ELT(saved, last, half);
    Rf_setAttrib(saved, R_NamesSymbol, names);
    UNPROTECT(3);
    return saved;
}

static SEXP p_max_unserialize(SEXP class, SEXP state)
{
    return make(p_max_class, state, open_state(state), 2);
}

SEXP pcgpu_lazy_p_max(SEXP state, SEXP opened)
{
    SEXP made = PROTECT(make(p_max_class, state, opened, 2));
    SEXP dim = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(dim)[0] = INTEGER(dim)[1] = (int)pcgpu_lazy_p(opened);
    Rf_setAttrib(made, R_DimSymbol, dim);
    UNPROTECT(2);
    return made;
}

/* sepset, in an R that has lists of this kind. */
#if R_VERSION >= R_Version(4, 3, 0)

static R_altrep_class_t sepset_class, row_class;

static R_xlen_t sepset_length(SEXP x)
{
    return (R_xlen_t)pcgpu_lazy_p(part(x, 0));
}

/* A place for `count` objects in part `at`. */
static SEXP place(SEXP x, int at, R_xlen_t count)
{
    SEXP found = part(x, at);
    if (found == R_NilValue) {
        found = Rf_allocVector(VECSXP, count);
        SET_VECTOR_ELT(R_altrep_data2(x), at, found);
    }
    return found;
}

static SEXP sepset_elt(SEXP x, R_xlen_t i)
{
    if (part(x, 1) != R_NilValue)
        return VECTOR_ELT(part(x, 1), i);
    SEXP rows = place(x, 3, sepset_length(x));
    SEXP row = VECTOR_ELT(rows, i);
    if (row == R_NilValue) {
        SEXP at = PROTECT(Rf_ScalarReal((double)i));
        row = make(row_class, x, at, 4);
        SET_VECTOR_ELT(rows, i, row);
        UNPROTECT(1);
    }
    return row;
}

static R_xlen_t row_length(SEXP x)
{
    return sepset_length(R_altrep_data1(x));
}

static SEXP row_elt(SEXP x, R_xlen_t i)
{
    if (part(x, 1) != R_NilValue)
        return VECTOR_ELT(part(x, 1), i);
    SEXP of = R_altrep_data1(x), opened = part(of, 0);
    size_t row = (size_t)Rf_asReal(part(x, 0)), at = 0;
    int single = 0;
    const int *members = NULL;
    ptrdiff_t size = pcgpu_lazy_set(opened, row, (size_t)i, &single, &members, &at);
    if (size < 0)
        return R_NilValue;
    /* Sets of no or one member are shared: there may be millions. */
    SEXP known = size < 2 ? place(of, 4, sepset_length(of) + 1) : place(x, 3, (R_xlen_t)pcgpu_lazy_row(opened, row));
    R_xlen_t slot = size < 2 ? single : (R_xlen_t)at;
    SEXP set = VECTOR_ELT(known, slot);
    if (set == R_NilValue) {
        set = Rf_allocVector(INTSXP, size);
        if (size == 1)
            INTEGER(set)[0] = single;
        else if (size > 1)
            memcpy(INTEGER(set), members, (size_t)size * sizeof(int));
        SET_VECTOR_ELT(known, slot, set);
    }
    return set;
}

/* All entries, as a list of R's own. */
static SEXP list_all(SEXP x)
{
    if (part(x, 1) == R_NilValue) {
        int is_row = R_altrep_inherits(x, row_class);
        R_xlen_t p = is_row ? row_length(x) : sepset_length(x);
        SEXP all = PROTECT(Rf_allocVector(VECSXP, p));
        for (R_xlen_t i = 0; i < p; i++)
            SET_VECTOR_ELT(all, i, is_row ? row_elt(x, i) : sepset_elt(x, i));
        SET_VECTOR_ELT(R_altrep_data2(x), 1, all);
        UNPROTECT(1);
    }
    return part(x, 1);
}

static void *list_dataptr(SEXP x, Rboolean writable)
{
    return (void *)DATAPTR_RO(list_all(x));
}

static const void *list_dataptr_or_null(SEXP x)
{
    return part(x, 1) == R_NilValue ? NULL : DATAPTR_RO(part(x, 1));
}

static void list_set_elt(SEXP x, R_xlen_t i, SEXP value)
{
    SET_VECTOR_ELT(list_all(x), i, value);
    SET_VECTOR_ELT(R_altrep_data2(x), 2, R_BaseEnv);
}

static int is_changed(SEXP x)
{
    return part(x, 2) != R_NilValue;
}

/* A copy makes its own entries. R copies a list that was changed. */
static SEXP sepset_duplicate(SEXP x, Rboolean deep)
{
    return is_changed(x) ? NULL : make(sepset_class, R_altrep_data1(x), part(x, 0), 5);
}

static SEXP row_duplicate(SEXP x, Rboolean deep)
{
    return is_changed(x) ? NULL : make(row_class, R_altrep_data1(x), part(x, 0), 4);
}

static SEXP sepset_serialized_state(SEXP x)
{
    return is_changed(x) ? NULL : R_altrep_data1(x);
}

static SEXP sepset_unserialize(SEXP class, SEXP state)
{
    return make(sepset_class, state, open_state(state), 5);
}

int pcgpu_has_lazy_lists(void)
{
    return 1;
}

SEXP pcgpu_lazy_sepset(SEXP parts, SEXP opened)
{
    return make(sepset_class, parts, opened, 5);
}

/* What Rust made of the state of such a list; NULL: it is another object. */
SEXP pcgpu_opened_sepset(SEXP x)
{
    return ALTREP(x) && R_altrep_inherits(x, sepset_class) && !is_changed(x) ? part(x, 0) : NULL;
}

static void make_lists(DllInfo *dll)
{
    sepset_class = R_make_altlist_class("sepset", "pcgpu", dll);
    row_class = R_make_altlist_class("sepset_row", "pcgpu", dll);
    R_set_altrep_Length_method(sepset_class, sepset_length);
    R_set_altrep_Length_method(row_class, row_length);
    R_set_altrep_Duplicate_method(sepset_class, sepset_duplicate);
    R_set_altrep_Duplicate_method(row_class, row_duplicate);
    R_set_altrep_Serialized_state_method(sepset_class, sepset_serialized_state);
    R_set_altrep_Unserialize_method(sepset_class, sepset_unserialize);
    R_set_altlist_Elt_method(sepset_class, sepset_elt);
    R_set_altlist_Elt_method(row_class, row_elt);
    const R_altrep_class_t both[] = {sepset_class, row_class};
    for (int i = 0; i < 2; i++) {
        R_set_altvec_Dataptr_method(both[i], list_dataptr);
        R_set_altvec_Dataptr_or_null_method(both[i], list_dataptr_or_null);
        R_set_altlist_Set_elt_method(both[i], list_set_elt);
    }
}

#else

int pcgpu_has_lazy_lists(void)
{
    return 0;
}

SEXP pcgpu_lazy_sepset(SEXP parts, SEXP opened)
{
    return R_NilValue;
}

SEXP pcgpu_opened_sepset(SEXP x)
{
    return NULL;
}

static void make_lists(DllInfo *dll)
{
}

#endif

void pcgpu_make_lazy_classes(DllInfo *dll)
{
    p_max_class = R_make_altreal_class("p_max", "pcgpu", dll);
    R_set_altrep_Length_method(p_max_class, p_max_length);
    R_set_altrep_Duplicate_method(p_max_class, p_max_duplicate);
    R_set_altrep_Serialized_state_method(p_max_class, p_max_serialized_state);
    R_set_altrep_Unserialize_method(p_max_class, p_max_unserialize);
    R_set_altvec_Dataptr_method(p_max_class, p_max_dataptr);
    R_set_altvec_Dataptr_or_null_method(p_max_class, p_max_dataptr_or_null);
    R_set_altreal_Elt_method(p_max_class, p_max_elt);
    R_set_altreal_Sum_method(p_max_class, p_max_of_all);
    R_set_altreal_Min_method(p_max_class, p_max_of_all);
    R_set_altreal_Max_method(p_max_class, p_max_of_all);
    make_lists(dll);
}
