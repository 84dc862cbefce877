// The memory of a group, the state that it integrates, and f there.
//
// The system comes as text before this file, as does linear algebra with its Jacobian where the method is implicit; what
// they define is told in odeum_core::emit (Grouped), linalg/group and linalg/straight.

#if OD_IMPLICIT
// Places of a matrix, with those that make the next one begin at a multiple of 64 bytes.
#define OD_MATRIX_PLACES ((OD_MATRIX_ENTRIES + 15) / 16 * 16)

struct alignas(16) OdMatrices {
    od_entry matrix[OD_MATRIX_PLACES];      // -J unless there is another for it, then factors
#if OD_JACOBIAN_BESIDE
    od_entry kept[OD_MATRIX_PLACES];        // -J
    OD_FN_MEMBER od_entry *jacobian() { return kept; }
#else
    OD_FN_MEMBER od_entry *jacobian() { return matrix; }
#endif
#if OD_COMPLEX
    OdComplex complex[OD_MATRIX_PLACES];    // factors of a complex matrix
#endif
};
#endif

// Memory of a group: of one thread its own, of several shared memory.
struct alignas(16) OdMemory {
#if OD_IN_PLACE
    union {
        alignas(16) real state[OD_N];       // where the system is evaluated
        alignas(16) real slope[OD_N];       // f there, in its place
    };
#else
    alignas(16) real state[OD_N];           // where the system is evaluated
    alignas(16) real slope[OD_N];           // f there
#endif
#if OD_GROUP_USES_TIME
    alignas(16) real rate[OD_N];            // df/dt
#endif
#if OD_BY_DIFFERENCES
    alignas(16) real changed[OD_N];         // f where the state is moved
    alignas(16) real inverse[OD_N];         // 1 / by what, zero of components that are not
#endif
#if OD_MATRIX_IN_GLOBAL
    alignas(16) OdMatrices *of_group;
    OD_FN_MEMBER OdMatrices &matrices() const { return *of_group; }
#elif OD_IMPLICIT
    alignas(16) OdMatrices of_group;
    OD_FN_MEMBER OdMatrices &matrices() { return of_group; }
#endif
#if OD_SCRATCH_BYTES > 0
    alignas(16) unsigned char *scratch;     // more memory of the group, for the method
#endif
#if !OD_IMPLICIT
    alignas(16) real work[OD_GROUP_WORK];   // of what evaluates the system
#else
    // A right-hand side that becomes a solution. Where it is not in registers, what evaluates the system, which does
    // not need it, has the same memory.
#if OD_WIDTH == 1
    od_entry x[OD_X_ENTRIES];
#if OD_COMPLEX
    OdComplex complex_x[OD_X_ENTRIES];
#endif
#else
    union {
        alignas(16) od_entry x[OD_X_ENTRIES];
#if OD_COMPLEX
        alignas(16) OdComplex complex_x[OD_X_ENTRIES];
#endif
        alignas(16) real work[OD_GROUP_WORK];
    };
#endif
#endif
#if OD_WIDTH > 1
    alignas(16) OdCells cells;
#endif
};
#if OD_WIDTH > 1
static_assert(sizeof(OdMemory) == OD_GROUP_BYTES, "the size of OdMemory is that of gpu/groups.rs");
#endif

// State and derivatives of the system that a group integrates.
struct OdSystem {
    OdGroup g;
    OdParams p;
    real y[OD_EACH];                        // components of this thread
#if OD_GROUP_USES_TIME
    real rate[OD_EACH];                     // df/dt
#endif
#if OD_EVENT
    int event_component;                       // the component of the terminal event
    real event_slope;                       // f of it at the state, in its thread
#endif
};

OD_FN OdGroup od_group(const OdTask &task, OdMemory &memory) {
    OdGroup g;
    g.slot = OD_WIDTH == 1 ? 0 : threadIdx.x % OD_WIDTH;
    g.tables = task.tables;
#if OD_WIDTH > 1
    g.memory = memory.work;
    g.cells = &memory.cells;
#endif
    return g;
}

// Memory of the group that is neither its own nor shared.
OD_FN void od_place(const OdTask &task, const OdGroup &g, OdMemory &memory) {
#if OD_GLOBAL_BYTES > 0
    const size_t group = (size_t)blockIdx.x * (OD_BLOCK / OD_WIDTH) + threadIdx.x / OD_WIDTH;
    unsigned char *at = task.matrices + group * OD_GLOBAL_BYTES;
#if OD_MATRIX_IN_GLOBAL
    if (g.slot == 0) memory.of_group = (OdMatrices *)at;
    at += sizeof(OdMatrices);
#endif
#if OD_SCRATCH_BYTES > 0
    if (g.slot == 0) memory.scratch = at;
#endif
    OD_GROUP_BARRIER();
#endif
}

#if OD_WIDTH > 1
// A copy for a function that is not inlined, whose own OD_GROUP_MEMORY is `memory`: of a pointer that comes from elsewhere
// the compiler knows neither that it leads to shared memory nor that it does not lead to the copy.
OD_FN OdSystem od_copy(const OdSystem &system, OdMemory &memory) {
    OdSystem x = system;
    x.g.memory = memory.work;
    x.g.cells = &memory.cells;
    return x;
}
#endif

// Reads system s. States are read and written once: caches are for what threads keep in local memory.
OD_FN void od_read(const OdTask &task, OdSystem &x, OdMemory &memory, unsigned s) {
    const OdGroup &g = x.g;
    x.p = od_params(task, s);
    const auto state = [&](int i) { return __ldcs(task.states + (size_t)i * task.stride + s); };
    OD_OWN(e, i) x.y[e] = state(i);
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) memory.state[i] = state(i);
#endif
}

OD_FN void od_write(const OdTask &task, const OdSystem &x, const OdMemory &memory, real *to, unsigned s) {
    const OdGroup &g = x.g;
    OD_OWN(e, i) __stcs(to + (size_t)i * task.stride + s, x.y[e]);
#if OD_WIDTH == 1
    // In place they are there.
    if (to == task.states) return;
    OD_CONSTANT_STATES(i) to[(size_t)i * task.stride + s] = memory.state[i];
#endif
}

#if OD_STATE_COLUMNS > 0
// The state goes to columns, and comes back.
OD_FN void od_keep_state(const OdSystem &x) {
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) od_spill(OD_STAGE_COLUMNS + e, x.y[e]);
}
OD_FN void od_reload_state(OdSystem &x) {
    OD_UNROLL_OWN
    for (int e = 0; e < OD_EACH; ++e) x.y[e] = od_reload(OD_STAGE_COLUMNS + e);
}
#else
OD_FN void od_keep_state(const OdSystem &) {}
OD_FN void od_reload_state(OdSystem &) {}
#endif

// After each evaluation of f at the state: keeps it of the component of the terminal event.
OD_FN void od_keep_event_slope(OdSystem &x, const OdMemory &memory) {
#if OD_EVENT
    const OdGroup &g = x.g;
    OD_OWN(e, i) {
        if (i == x.event_component) x.event_slope = memory.slope[i];
    }
#endif
}

// f at a state of which each thread has its components, into `slope`.
OD_FN void od_evaluate(OdStepLoop &c, const OdSystem &x, OdMemory &memory, real t,
                       const real (&state)[OD_EACH]) {
    const OdGroup &g = x.g;
    OD_OWN(e, i) memory.state[i] = state[e];
    OD_GROUP_BARRIER();
    od_group_rhs(g, t, memory.state, x.p, memory.slope);
    ++c.nfev;
}
