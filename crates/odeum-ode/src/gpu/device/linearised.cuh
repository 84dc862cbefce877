// What implicit methods share: the memory of a group, the state and its derivatives, the first step, and the loop
// over the systems of the queue.
//
// The system, and linear algebra with its Jacobian, come as text before this file; what they define is told in
// odeum_core::emit (Grouped), linalg/group and linalg/straight.

// Places of a matrix, with those that make the next one begin at a multiple of 64 bytes.
#define OD_MATRIX_PLACES ((OD_MATRIX_ENTRIES + 15) / 16 * 16)

struct alignas(16) OdMatrices {
    od_entry matrix[OD_MATRIX_PLACES];      // -J unless there is another for it, then factors
#if OD_KEEPS_JACOBIAN
    od_entry kept[OD_MATRIX_PLACES];        // -J
    OD_FN_MEMBER od_entry *jacobian() { return kept; }
#else
    OD_FN_MEMBER od_entry *jacobian() { return matrix; }
#endif
#if OD_COMPLEX
    OdComplex complex[OD_MATRIX_PLACES];    // factors of a complex matrix
#endif
};

// Memory of a group: of one thread its own, of several shared memory.
struct alignas(16) OdMemory {
    alignas(16) real state[OD_N];           // where the system is evaluated
    alignas(16) real slope[OD_N];           // f there
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
#else
    alignas(16) OdMatrices of_group;
    OD_FN_MEMBER OdMatrices &matrices() { return of_group; }
#endif
#if OD_SCRATCH_BYTES > 0
    alignas(16) unsigned char *scratch;     // more memory of the group, for the method
#endif
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
    OdCells cells;
#endif
};
#if OD_WIDTH > 1
static_assert(sizeof(OdMemory) == OD_GROUP_BYTES, "the size of OdMemory is that of gpu/implicit.rs");
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

// Reads system s.
OD_FN void od_read(const OdTask &task, OdSystem &x, OdMemory &memory, unsigned s) {
    const OdGroup &g = x.g;
    x.p = od_params(task, s);
    OD_OWN(e, i) x.y[e] = task.states[(size_t)i * task.stride + s];
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) memory.state[i] = task.states[(size_t)i * task.stride + s];
#endif
}

OD_FN void od_write(const OdTask &task, const OdSystem &x, const OdMemory &memory, real *to, unsigned s) {
    const OdGroup &g = x.g;
    OD_OWN(e, i) to[(size_t)i * task.stride + s] = x.y[e];
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) to[(size_t)i * task.stride + s] = memory.state[i];
#endif
}

// After each evaluation of f at the state: keeps it of the component of the terminal event.
OD_FN void od_keep_event_slope(OdSystem &x, const OdMemory &memory) {
#if OD_EVENT
    const OdGroup &g = x.g;
    OD_OWN(e, i) {
        if (i == x.event_component) x.event_slope = memory.slope[i];
    }
#endif
}

// f at a state of which each thread has its components, into `slope`. `linearise`: and its derivatives, into
// `jacobian()` of the memory, and `rate`; then it is the state of the system.
OD_FN void od_evaluate(OdStepLoop &c, OdSystem &x, OdMemory &memory, real t, const real (&state)[OD_EACH],
                       bool linearise) {
    const OdGroup &g = x.g;
    if (linearise) OD_GROUP_BARRIER();
#if OD_BY_DIFFERENCES
    od_evaluate_by_differences(g, t, memory, state, x.p, linearise);
    c.nfev += linearise ? OD_COLUMN_GROUPS + OD_GROUP_USES_TIME : 0;
#else
    OD_OWN(e, i) memory.state[i] = state[e];
    OD_GROUP_BARRIER();
    if (linearise) {
#if OD_WIDTH == 1
        // To the compiler it is another state. Else what f has in common with its derivatives would be computed before the
        // branch, and kept, at every evaluation of f.
#pragma unroll
        for (int i = 0; i < OD_N; ++i) memory.state[i] = od_opaque(memory.state[i]);
#endif
        od_group_linearise(g, t, memory.state, x.p, memory.slope, memory.matrices().jacobian());
#if OD_GROUP_USES_TIME
        od_group_time_derivative(g, t, memory.state, x.p, memory.rate);
#endif
    } else {
        od_group_rhs(g, t, memory.state, x.p, memory.slope);
    }
#endif
    ++c.nfev;
    if (!linearise) return;
#if OD_GROUP_USES_TIME
    OD_OWN(e, i) x.rate[e] = memory.rate[i];
#endif
    od_keep_event_slope(x, memory);
    ++c.njev;
}

// f and its derivatives at the state. `moved`: f has not been evaluated there.
OD_FN void od_linearise(OdStepLoop &c, OdSystem &x, OdMemory &memory, bool moved = true) {
    od_evaluate(c, x, memory, c.t, x.y, true);
    c.nfev -= !moved;
}

// f there.
OD_FN void od_evaluate(OdStepLoop &c, OdSystem &x, OdMemory &memory, real t, const real (&state)[OD_EACH]) {
    od_evaluate(c, x, memory, t, state, false);
}

// Solves with the factors in `matrix`: b becomes the solution.
OD_FN void od_solve(const OdSystem &x, OdMemory &memory, real (&b)[OD_EACH]) {
    const OdGroup &g = x.g;
    OD_OWN(e, i) memory.x[od_rhs_place(g, i)] = od_entry(b[e]);
    OD_GROUP_BARRIER();
    od_group_solve(g, memory.matrices().matrix, memory.x);
    OD_OWN(e, i) b[e] = real(memory.x[od_solution_place(g, i)]);
}

#if OD_COMPLEX
// The same with the factors of the complex matrix. Right-hand sides of both types have the same memory.
OD_FN void od_solve_complex(const OdSystem &x, OdMemory &memory, real (&re)[OD_EACH],
                            real (&im)[OD_EACH]) {
    const OdGroup &g = x.g;
    OD_GROUP_BARRIER();
    OD_OWN(e, i) {
        memory.complex_x[od_rhs_place(g, i)] = OdComplex(od_entry(re[e]), od_entry(im[e]));
    }
    OD_GROUP_BARRIER();
    od_group_solve(g, memory.matrices().complex, memory.complex_x);
    OD_OWN(e, i) {
        const OdComplex solution = memory.complex_x[od_solution_place(g, i)];
        re[e] = real(solution.re);
        im[e] = real(solution.im);
    }
    OD_GROUP_BARRIER();
}
#endif

// Whether f and its derivatives are numbers: -J, not its factors.
OD_FN bool od_is_finite(const OdSystem &x, OdMemory &memory) {
    const OdGroup &g = x.g;
    real sum = real(0);
    OD_OWN(e, i) sum = od_fma(memory.slope[i], real(0), sum);
#if OD_GROUP_USES_TIME
    OD_OWN(e, i) sum = od_fma(x.rate[e], real(0), sum);
#endif
    od_entry entries = od_entry(0);
    OD_UNROLL_OWN
    for (unsigned e = g.slot; e < OD_JACOBIAN_ENTRIES; e += OD_WIDTH) {
        const od_entry entry = memory.matrices().jacobian()[e];
        if (e != OD_MATRIX_UNUSED) entries = od_minus_product(entries, entry, od_entry(0));
    }
    return !od_group_any(g, sum != real(0) || entries != od_entry(0));
}

#if OD_PROBE
// The size of the first step, from f and its derivatives. Hairer, Norsett & Wanner I, sec. II.4, with the curvature
// y'' = J f + df/dt, as first_step.rs has it.
OD_FN real od_first_size(const OdTask &task, const OdStepLoop &c, const OdSystem &x,
                         OdMemory &memory) {
    const OdGroup &g = x.g;
    real second[OD_EACH];
    od_group_product<od_entry>(g, memory.matrices().jacobian(), memory.slope, second);
    // The matrix may change from here on.
    OD_GROUP_BARRIER();
    OdNorm state, slope, curvature;
    od_norm_clear(state);
    od_norm_clear(slope);
    od_norm_clear(curvature);
    OD_OWN(e, i) {
        const real y = x.y[e], f = memory.slope[i];
        const real weight = od_weight(task, i, y, y, c.length * f);
#if OD_GROUP_USES_TIME
        second[e] = second[e] + x.rate[e];
#endif
        od_norm_ratio(state, y * weight);
        od_norm_ratio(slope, f * weight);
        od_norm_ratio(curvature, second[e] * weight);
    }
    const real length = od_abs(c.length);
    const auto norm = [&](OdNorm &n) { return od_norm_of_size(od_group_norm(task, g, n)); };
    const real d0 = norm(state), d1 = norm(slope), d2 = norm(curvature);
    const bool small = d0 < OD_SMALL || d1 < OD_SMALL;
    real h0 = small ? OD_TINY_STEP : OD_GUESS * d0 / d1;
    h0 = h0 < length ? h0 : length;
    // Whatever is not a positive finite number (a slope that is not finite) becomes the tiny step.
    h0 = h0 > real(0) ? h0 : OD_TINY_STEP;
    // A Jacobian that is not finite says nothing of the step; the step itself will say what it is.
    const real steepest = od_larger(d1, d2 < od_inf() ? d2 : d1);
    const real exponent = real(-1) / real(OD_ERROR_ORDER + 1);
    const real by_slope = od_exp(od_ln(steepest * OD_LONGER) * exponent);
    const real flat = od_larger(OD_TINY_STEP, h0 * OD_FLAT_FRACTION);
    const real h1 = steepest <= OD_FLAT ? flat : by_slope;
    const real cap = h0 * OD_LONGER;
    return h1 < cap ? h1 : cap;
}
#endif

#if OD_EVENT
// Looks at a step to the state `after` for the terminal event.
template <class Method>
OD_FN void od_look_at_step(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                         const Method &method, const real (&after)[OD_EACH], real step,
                         OdVerdict &verdict) {
    const OdGroup &g = x.g;
    real middle[OD_EACH];
    const bool has_middle = method.middle(middle);
    // The component before, half-way and after, and f of it before.
    real of[4] = {real(0), real(0), real(0), x.event_slope};
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) {
        if (i == x.event_component) of[0] = of[1] = of[2] = memory.state[i];
    }
#endif
    OD_OWN(e, i) {
        if (i == x.event_component) of[0] = x.y[e], of[1] = has_middle ? middle[e] : after[e], of[2] = after[e];
    }
    od_group_tell(g, x.event_component, of);
    OdPassage passage = od_passage(task, c.event, of[0], of[2], of[3]);
    if (has_middle) od_passes_by(task, c.event, passage, of[1]);
    od_look_for_event(task, c, passage, step, verdict, [&] {
        od_evaluate(c, x, memory, verdict.t_new, after);
        real slope[1] = {real(0)};
        OD_OWN(e, i) {
            if (i == x.event_component) slope[0] = memory.slope[i];
        }
        od_group_tell(g, x.event_component, slope);
        return slope[0];
    });
}
#endif

#if OD_RANGES
// Whether the state lies outside the data of the model.
OD_FN bool od_is_outside(const OdSystem &x, const OdMemory &memory) {
    const OdGroup &g = x.g;
    bool outside = false;
    OD_OWN(e, i) outside = outside || od_outside(i, x.y[e]);
#if OD_WIDTH == 1
    OD_CONSTANT_STATES(i) outside = outside || od_outside(i, memory.state[i]);
#endif
    return od_group_any(g, outside);
}

// Whether it can be no state. A thread that has all of a system reads where it has written it.
OD_FN bool od_is_impossible(const OdTask &task, const OdSystem &x, unsigned s) {
    const OdGroup &g = x.g;
    bool impossible = false;
#if OD_WIDTH == 1
#pragma unroll 1
    for (int i = 0; i < OD_PHYSICAL_END; ++i) {
        impossible = impossible || od_impossible(task, i, task.end_states[(size_t)i * task.stride + s]);
    }
#else
    OD_OWN(e, i) impossible = impossible || od_impossible(task, i, x.y[e]);
#endif
    return od_group_any(g, impossible);
}
#endif

// Integrates systems from the queue until it is empty. A method has
//
//     void begin()                                    a piece begins: nothing is known of the past
//     OdAttempt attempt(task, c, x, memory, propose, after)  a step to the state `after`, of the signed size that
//                                                         propose() gives once `slope`, `rate` and `jacobian()` are those
//                                                         of the state where the method has none yet
//     real next(step, factor)                         the signed size that follows, by a factor of the controller
//     void settle(accepted)
//     bool middle(state)                              with OD_EVENT: the state half-way through the last attempt, and
//                                                     whether the method tells it (cpu/event.rs says which do)
//
// Who evaluates f at the state without linearising calls od_keep_event_slope.
template <class Method>
OD_FN void od_integrate(const OdTask &task, OdMemory &memory, Method &method) {
    OdStepLoop c;
    OdSystem x;
    x.g = od_group(task, memory);
    const OdGroup &g = x.g;
#if OD_EVENT
    x.event_component = od_event_component(task);
    x.event_slope = real(0);
#endif
#if OD_WIDTH == 1 && OD_SCRATCH_BYTES > 0
    alignas(16) unsigned char scratch[OD_SCRATCH_BYTES];
    memory.scratch = scratch;
#endif
    od_place(task, g, memory);
    const auto save = [&](unsigned k) {
        od_write(task, x, memory, task.saved + (size_t)k * OD_N * task.stride, c.system);
    };
    bool busy = false, starting = false;
    OdWork work;
    work.begin();
    // One attempt in every turn. It ends, because every attempt counts and od_proceed ends a system at max_steps.
    for (;;) {
        if (!busy) {
            const unsigned s = od_group_take(g, task.next);
            if (s >= task.n_systems) break;
            od_read(task, x, memory, s);
            od_load(task, c, s, save);
            method.begin();
            starting = OD_PROBE && !c.resumed;
            busy = true;
        }
        bool whole, lost;
        const auto propose = [&] {
#if OD_PROBE
            if (starting) c.h = od_first(task, c, od_first_size(task, c, x, memory));
            starting = false;
#endif
            return od_propose(c, whole);
        };
        real after[OD_EACH];
        const OdAttempt attempt = method.attempt(task, c, x, memory, propose, after);
        OdVerdict verdict = od_verdict(task, c, attempt, whole);
#if OD_EVENT
        if (verdict.accepted) {
            od_look_at_step(task, c, x, memory, method, after, attempt.step, verdict);
        }
#endif
        const auto next_step = [&](real h, real factor) { return method.next(h, factor); };
        const bool accepted = od_settle(task, c, attempt, verdict, whole, next_step, lost);
        if (accepted) {
            OD_OWN(e, i) x.y[e] = after[e];
#if OD_RANGES
            c.outside += od_is_outside(x, memory);
#endif
        }
        method.settle(accepted);
        int status;
        const OdNext next = od_proceed(task, c, accepted && whole, lost, status, save);
        if (next == OD_BEGIN) {
            method.begin();
            starting = OD_PROBE;
        }
        if (next == OD_END) {
            od_write(task, x, memory, task.end_states, c.system);
#if OD_RANGES
            if (od_reaches_end(status) && od_is_impossible(task, x, c.system)) status = OD_OUTSIDE_BOUNDS;
#endif
            if (g.slot == 0) od_finish(task, c, status);
            work.end_system();
            busy = false;
        }
    }
    od_add_work(task, g, work);
}
