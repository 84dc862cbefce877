// What a launch integrates and where the results go. The host fills the same structure
// (gpu/task.rs); fields stand in the order of their alignment.

struct OdTask {
    const real *states;         // initial states [n x stride], component-major
    const real *params;         // [m x stride], or [m] when OD_SHARED_PARAMS
    const real *spans;          // starts, then ends [2 x stride]; null: t0 to t1 for all
    const real *saves;          // save times [n_saves], in the direction of integration
    const real *atol;           // absolute tolerances [n], where they differ (OD_ATOL_EACH)
    const real *first_steps;    // sizes of first steps [stride], zero or null: as first_step says
    const real *levels;         // of the terminal event [stride]; null: event_level for all
    const unsigned *order;      // systems in the order of the queue [n_systems]; null: as they lie
    real *end_states;           // [n x stride]
    real *end_times;            // [stride]
    real *end_steps;            // step size that would have come next [stride]; may be null
    real *saved;                // [n_saves x n x stride]
    unsigned *n_saved;          // [stride]
    unsigned char *status;      // [stride]
    OdStats *stats;             // the first counts of Stats (stats.rs) [stride]
    unsigned *next;             // the queue: number of the next system to hand out
    struct OdWorked *work;      // how long groups had systems, see work.cuh
    const unsigned char *tables;    // of the system and its matrix
    unsigned char *matrices;        // memory of all groups that is not shared memory
    real t0, t1;
    real rtol, atol0;           // atol0: where it is the same for all components
    real first_step;            // its size, or its fraction of the segment
    real largest_step;
    real safety, min_factor, max_factor;
    real of_method[OD_METHOD_NUMBERS];  // its family says what they mean
    real growth_limit;          // implicit methods: the largest h lambda of a step
    real event_level;           // the terminal event (OD_EVENT): level,
    real event_sign;            // 1 where the component rises to it, -1 where it falls,
    real event_atol;            // and absolute tolerance of the component
    unsigned n_systems;
    unsigned stride;            // distance between components of one system
    unsigned n_saves;
    unsigned max_steps;
    unsigned max_evaluations;
    unsigned segments;
    unsigned flags;             // OD_FLAG_*
    unsigned event_component;
};

// Flags: OD_FLAG_WARM, keep step size and history over segments; OD_FLAG_FRACTION, first_step is a fraction
// of the piece.

// The system that the queue hands out as number k.
OD_FN unsigned od_in_order(const OdTask &task, unsigned k) { return task.order ? __ldg(task.order + k) : k; }

// Parameters of one system: in registers when they are few, else read where they are.
#if OD_SHARED_PARAMS
struct OdParams {
    const real *values;
    OD_FN_MEMBER real operator[](int j) const { return __ldg(values + j); }
};
OD_FN OdParams od_params(const OdTask &task, unsigned) { return OdParams{task.params}; }
#elif OD_PARAMS_IN_REGISTERS
struct OdParams {
    real values[OD_PARAMS + 1];
    OD_FN_MEMBER real operator[](int j) const { return values[j]; }
};
OD_FN OdParams od_params(const OdTask &task, unsigned s) {
    OdParams p;
#pragma unroll
    for (int j = 0; j < OD_PARAMS; ++j) p.values[j] = task.params[(size_t)j * task.stride + s];
    return p;
}
#else
struct OdParams {
    const real *values;
    unsigned stride;
    OD_FN_MEMBER real operator[](int j) const { return __ldg(values + (size_t)j * stride); }
};
OD_FN OdParams od_params(const OdTask &task, unsigned s) {
    return OdParams{task.params + s, task.stride};
}
#endif
