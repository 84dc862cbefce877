// Explicit Runge-Kutta, one system for each group of OD_WIDTH threads.
//
// Slopes are in registers of the threads, where they fit. f is evaluated in one place, od_erk_evaluate, so that there is
// one copy of the right-hand side in the instruction cache.

struct OdErk {
    OdStages slopes;
    real last[OD_EACH];         // the state of the last stage
    bool known;                 // the first slope is f at the state

    OD_FN_MEMBER void begin() { known = false; }
    OD_FN_MEMBER real next(real step, real factor) { return step * factor; }
    OD_FN_MEMBER void prepare(OdStepLoop &c, const OdSystem &x);
    OD_FN_MEMBER real first_size(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory);
    template <class Propose>
    OD_FN_MEMBER OdAttempt attempt(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory,
                                   Propose propose, real (&after)[OD_EACH]);

    OD_FN_MEMBER void settle(bool accepted) {
        if (!OD_FSAL || !accepted) return;
        OD_UNROLL_OWN
        for (int e = 0; e < OD_EACH; ++e) slopes.at(0, e) = slopes.at(OD_STAGES - 1, e);
    }

    static constexpr bool HAS_MIDDLE = false, HAS_CUBIC = false, HAS_STAGES = true, KNOWS_END_SLOPE = OD_FSAL;
    OD_FN_MEMBER real end_slope(int e) const { return slopes.at(OD_STAGES - 1, e); }
#if OD_EVENT
    OD_FN_MEMBER real stage_misses(int e, real step, const OdCubic &cubic) const {
        real misses = real(0);
        OD_UNROLL_STAGES
        for (int s = OD_FIRST_INNER; s < OD_STAGES; ++s) {
            if (od_c(s) < real(1)) misses = misses + od_abs(slopes.at(s, e) * step - cubic.slope(od_c(s)));
        }
        return misses;
    }
#endif
};

// The slopes of stages from the first to before the end of a step; of an `euler` step stage 1 is the end. It works on
// copies: see od_copy.
static __device__ __noinline__ void od_erk_evaluate(OdStepLoop &loop, const OdSystem &system,
                                                    OdErk &method, int first, int end, real step,
                                                    bool euler) {
    OD_GROUP_MEMORY(memory);
    const OdSystem x = od_copy(system, memory);
    OdStepLoop c = loop;
    OdErk erk = method;
    const OdGroup &g = x.g;
#pragma unroll 1
    for (int s = first; s < end; ++s) {
        const auto weight = [&](int m) { return od_fraction(s, m, euler); };
        erk.slopes.combine(s, weight, x.y, step, erk.last);
        od_evaluate(c, x, memory, od_stage_time(c, od_reach(s, euler), step), erk.last);
        real f[OD_EACH];
        OD_OWN(e, i) f[e] = memory.slope[i];
        erk.slopes.keep(s, f);
    }
    loop.nfev = c.nfev;
    method = erk;
}

// f at the state, where a step begins with it.
OD_FN_MEMBER void OdErk::prepare(OdStepLoop &c, const OdSystem &x) {
    if (!OD_FSAL || known) return;
    slopes.clear(0);
    od_erk_evaluate(c, x, *this, 0, 1, real(0), false);
    known = true;
}

#if OD_PROBE
OD_FN_MEMBER real OdErk::first_size(const OdTask &task, OdStepLoop &c, OdSystem &x, OdMemory &memory) {
    const OdGroup &g = x.g;
    if (!OD_FSAL) {
        slopes.clear(0);
        od_erk_evaluate(c, x, *this, 0, 1, real(0), false);
    }
    slopes.clear(1);
    OdStart start;
    real step = real(0);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
        od_start_clear(start);
        OD_OWN(k, i) {
            od_start_add(task, start, i, x.y[k], slopes.at(0, k), slopes.at(e, k), c.length);
        }
        od_group_close(g, start.state);
        od_group_close(g, start.slope);
        od_group_close(g, start.change);
        if (e == 1) break;
        step = od_probe_step(task, start, c.length);
        od_erk_evaluate(c, x, *this, 1, 2, step, true);
    }
    return od_automatic_step(task, start, c.t, step);
}
#endif

template <class Propose>
OD_FN_MEMBER OdAttempt OdErk::attempt(const OdTask &task, OdStepLoop &c, OdSystem &x,
                                      OdMemory &memory, Propose propose, real (&after)[OD_EACH]) {
    const OdGroup &g = x.g;
    prepare(c, x);
    const real step = propose();
    slopes.clear(OD_FSAL);
    od_erk_evaluate(c, x, *this, OD_FSAL, OD_STAGES, step, false);
    OdNorm norm;
    od_norm_clear(norm);
    OD_OWN(e, i) {
        OdSums sums = {real(0), real(0), real(0), real(0)};
#pragma unroll
        for (int m = 0; m < OD_STAGES; ++m) od_sum_stage<false>(sums, m, slopes.at(m, e));
        const OdPair y = {x.y[e], real(0)}, end = {last[e], real(0)};
        const real k0 = slopes.at(0, e);
        after[e] = od_close_slot<false>(task, norm, i, i, sums, y, end, k0, step).y;
#if OD_EVENT
        if (i == x.event_component) x.event_slope = k0;
#endif
    }
    return od_explicit(step, od_group_norm(task, g, norm));
}

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_erk_groups(const OdTask task) {
    OD_GROUP_MEMORY(memory);
    OdErk method;
    od_integrate(task, memory, method);
}
