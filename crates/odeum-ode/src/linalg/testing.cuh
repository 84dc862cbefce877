// Factors matrices σI − J by groups of OD_WIDTH threads, solves with them, and multiplies with J, one system after the
// other. A group of one thread has all but inputs and outputs in variables of its own.

struct OdGroup {
    unsigned slot;
    const unsigned char *tables;
    real *memory;
};
#if OD_WIDTH == 1
// Registers have no addresses: indices are numbers, and entries stand in the order of their pattern.
#define OD_TEST_UNROLL _Pragma("unroll")
#define OD_TEST_PLACE(e) (e)
#else
#define OD_TEST_UNROLL
#define OD_TEST_PLACE(e) places[e]
#endif
#if OD_WIDTH == 1
#define OD_GROUP_BARRIER()
#elif OD_WIDTH == 32
#define OD_GROUP_BARRIER() OD_LANE_BARRIER()
#elif defined(__CUDACC__)
#define OD_GROUP_BARRIER() od_block_barrier()
#else
#define OD_GROUP_BARRIER() OD_LANE_BARRIER()
#endif
OD_FN bool od_group_any(const OdGroup &g, bool x) {
    OD_GROUP_BARRIER();
    g.memory[g.slot] = real(x);
    OD_GROUP_BARRIER();
    bool any = false;
    for (unsigned s = 0; s < OD_WIDTH; ++s) any = any || g.memory[s] != real(0);
    return any;
}
#define OD_EACH ((OD_TEST_N + OD_WIDTH - 1) / OD_WIDTH)
OD_LU_TEXT
#if OD_TEST_COMPLEX
typedef OdComplex Entry;
OD_FN Entry od_entry_of(real re, real im) { return Entry(od_entry(re), od_entry(im)); }
OD_FN real od_part(Entry x, bool im) { return real(im ? x.im : x.re); }
#else
typedef od_entry Entry;
OD_FN Entry od_entry_of(real re, real) { return Entry(re); }
OD_FN real od_part(Entry x, bool im) { return im ? real(0) : real(x); }
#endif
struct alignas(16) OdTestMemory {
    real votes[OD_WIDTH];
    real v[OD_TEST_N];
    alignas(16) Entry x[OD_X_ENTRIES];
#if !OD_TEST_GLOBAL
    alignas(16) od_entry negative[OD_MATRIX_ENTRIES];
    alignas(16) Entry matrix[OD_MATRIX_ENTRIES];
#endif
};

// Jacobians [systems x entries], right-hand sides and solutions [systems x n x 2], pivots [systems x 2], products of
// the Jacobian with the real parts of right-hand sides [systems x n]; matrices in global memory where they are not in
// shared.
extern "C" __global__ void od_lu_test(
    const unsigned char *tables, const unsigned *places, const real *jacobians, const real *shifts,
    const real *rhs, real *solutions, real *pivots, real *products, od_entry *negatives,
    Entry *matrices, unsigned systems) {
#if OD_WIDTH == 1
    OdTestMemory memory;
#else
    OD_SHARED(OdTestMemory, memories);
    OdTestMemory &memory = memories[threadIdx.x / OD_WIDTH];
#endif
    const unsigned s = blockIdx.x * (blockDim.x / OD_WIDTH) + threadIdx.x / OD_WIDTH;
    const OdGroup g = {threadIdx.x % OD_WIDTH, tables, memory.votes};
    if (s >= systems) return;
#if OD_TEST_GLOBAL
    const size_t first = (size_t)s * ((OD_MATRIX_ENTRIES + 3) / 4 * 4);
    Entry *const matrix = matrices + first;
    od_entry *const negative = negatives + first;
#else
    Entry *const matrix = memory.matrix;
    od_entry *const negative = memory.negative;
#endif
    OD_TEST_UNROLL
    for (unsigned e = g.slot; e < OD_MATRIX_ENTRIES; e += OD_WIDTH) {
        negative[e] = od_entry(0);
#if OD_WIDTH == 1
        // What fills in is written before it is read.
        negative[e] = od_entry(od_nan());
        matrix[e] = Entry(od_entry(od_nan()));
#endif
    }
    OD_GROUP_BARRIER();
    OD_TEST_UNROLL
    for (unsigned e = g.slot; e < OD_TEST_JACOBIAN; e += OD_WIDTH) {
        negative[OD_TEST_PLACE(e)] = od_entry(-jacobians[s * OD_TEST_JACOBIAN + e]);
    }
    OD_TEST_UNROLL
    for (unsigned i = g.slot; i < OD_TEST_N; i += OD_WIDTH) {
        const real *const b = rhs + 2 * (s * OD_TEST_N + i);
        memory.v[i] = b[0];
        memory.x[od_rhs_place(g, i)] = od_entry_of(b[0], b[1]);
    }
    OD_GROUP_BARRIER();
    real product[OD_EACH];
    od_group_product(g, negative, memory.v, product);
#pragma unroll
    for (unsigned e = 0; e < OD_EACH; ++e) {
        const unsigned i = g.slot + e * OD_WIDTH;
        if (i < OD_TEST_N) products[s * OD_TEST_N + i] = product[e];
    }
    const Entry sigma = od_entry_of(shifts[2 * s], shifts[2 * s + 1]);
    od_group_assemble(g, negative, matrix, sigma);
    const OdPivots told = od_group_factor(g, matrix, sigma);
    if (g.slot == OD_WIDTH - 1) {
        pivots[2 * s] = real(told.valid);
        pivots[2 * s + 1] = told.growth;
    }
    od_group_solve(g, matrix, memory.x);
    OD_TEST_UNROLL
    for (unsigned i = g.slot; i < OD_TEST_N; i += OD_WIDTH) {
        real *const x = solutions + 2 * (s * OD_TEST_N + i);
        const Entry solution = memory.x[od_solution_place(g, i)];
        x[0] = od_part(solution, false);
        x[1] = od_part(solution, true);
    }
}
