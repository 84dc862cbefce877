// Columns of shared memory: each thread has one number of a column, beside those of its neighbours.
//
// Of a thread that has a system of its own they hold what is not needed for a while: the stages of the step
// (OD_STAGE_COLUMNS), its start (OD_STATE_COLUMNS) and factors (OD_FACTOR_COLUMNS), and while J is evaluated, when there are no
// stages, values that wait. Registers hold a fraction of all that, and local memory, to which the compiler spills, lies behind a
// cache of which 256 threads have a few hundred bytes each.

#if OD_STAGE_COLUMNS > 0

OD_FN real *od_column(int k) {
    OD_SHARED(real, all);
    return all + k * OD_BLOCK + threadIdx.x;
}

OD_FN void od_spill(int k, real value) { *od_column(k) = value; }

// What was written is read, and not kept in a register, as the compiler would do, which knows it.
OD_FN real od_reload(int k) {
#ifdef __CUDA_ARCH__
    real value;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"((unsigned)__cvta_generic_to_shared(od_column(k))) : "memory");
    return value;
#else
    return *od_column(k);
#endif
}

#endif
