// Explicit Runge-Kutta, one system per thread.
//
// A persistent grid: a thread whose system ends takes the next one from the queue. For small
// systems everything is unrolled and stays in registers (OD_IN_REGISTERS). For larger ones the
// loop over the stages is rolled, so that there is one copy of the right-hand side in the
// instruction cache, and the slopes of all stages but the last lie in shared memory at
// [(stage * OD_SLOTS + slot) * OD_BLOCK + thread], free of bank conflicts (OD_IN_SHARED), or,
// when they do not fit, in local memory, which the hardware interleaves in the same way.

#if OD_IN_REGISTERS
#define OD_UNROLL_STAGES _Pragma("unroll")
#else
#define OD_UNROLL_STAGES _Pragma("unroll 1")
#endif
#if OD_N <= OD_UNROLLED_COMPONENTS
#define OD_UNROLL _Pragma("unroll")
#else
#define OD_UNROLL _Pragma("unroll 1")
#endif

// Slopes of the stages before the last.
#if OD_IN_SHARED
struct OdSlopes {
    real *mine;
    OD_FN_MEMBER real get(int m, int q) const { return mine[(m * OD_SLOTS + q) * OD_BLOCK]; }
    OD_FN_MEMBER void set(int m, int q, real k) { mine[(m * OD_SLOTS + q) * OD_BLOCK] = k; }
};
#else
struct OdSlopes {
    real k[(OD_STAGES - 1) * OD_SLOTS];
    OD_FN_MEMBER real get(int m, int q) const { return k[m * OD_SLOTS + q]; }
    OD_FN_MEMBER void set(int m, int q, real x) { k[m * OD_SLOTS + q] = x; }
};
#endif

// The state of stage e; gives its time as a fraction of the step. Where stages are in a loop, so are
// the slopes before them: straight-line code for each stage is larger and slower (measured).
OD_FN real od_stage_state(const real (&y)[OD_N], real (&out)[OD_N], const OdSlopes &slopes, int e,
                          real h, bool euler) {
    const real at = od_reach(e, euler);
    const real reach = h * at;
    OD_UNROLL
    for (int q = 0; q < OD_SLOTS; ++q) {
        const int j = od_component(q), i = od_paired(q);
        out[j] = y[j];
        if (i >= 0) out[i] = od_fma(reach, y[j], y[i]);
    }
    OD_UNROLL_STAGES
    for (int m = 0; m < od_stage_end(e); ++m) {
        const real a = h * od_fraction(e, m, euler);
        const real a2 = (h * h) * od_a2(e, m);
        OD_UNROLL
        for (int q = 0; q < OD_SLOTS; ++q) {
            const int j = od_component(q), i = od_paired(q);
            const real k = slopes.get(m, q);
            out[j] = od_fma(a, k, out[j]);
            if (i >= 0) out[i] = od_fma(a2, k, out[i]);
        }
    }
    return at;
}

// The slopes f at stage e, whose state goes to `out`.
OD_FN void od_stage(const real (&y)[OD_N], real (&out)[OD_N], real (&f)[OD_N],
                    const OdSlopes &slopes, const OdParams &p, int e, const OdStepLoop &c, real h, bool euler) {
    const real at = od_stage_state(y, out, slopes, e, h, euler);
    od_rhs(od_stage_time(c, at, h), out, p, f);
}

OD_FN void od_keep_slopes(OdSlopes &slopes, int m, const real (&f)[OD_N]) {
    OD_UNROLL
    for (int q = 0; q < OD_SLOTS; ++q) slopes.set(m, q, f[od_component(q)]);
}

// The new state, from that of the last stage and its slopes f; its error is added to the norm.
OD_FN void od_close(const OdTask &task, OdNorm &norm, const real (&y)[OD_N], real (&last)[OD_N],
                    const OdSlopes &slopes, const real (&f)[OD_N], real h) {
    OD_UNROLL
    for (int q = 0; q < OD_SLOTS; ++q) {
        const int j = od_component(q), i = od_paired(q);
        OdSums sums = {real(0), real(0), real(0), real(0)};
        const real k0 = slopes.get(0, q);
#pragma unroll
        for (int m = 0; m < OD_STAGES - 1; ++m)
            od_sum_stage<OD_PAIRED>(sums, m, slopes.get(m, q));
        od_sum_stage<OD_PAIRED>(sums, OD_STAGES - 1, f[j]);
        if (i >= 0) {
            const OdPair after = od_close_slot<true>(task, norm, j, i, sums, OdPair{y[j], y[i]},
                                                     OdPair{last[j], last[i]}, k0, h);
            last[j] = after.y;
            last[i] = after.paired;
        } else {
            last[j] = od_close_slot<false>(task, norm, j, j, sums, OdPair{y[j], y[j]},
                                           OdPair{last[j], last[j]}, k0, h)
                          .y;
        }
        if (od_closes_group(q)) od_norm_close_group(norm);
    }
}

#if OD_EVENT
// Component i, whose number is known only at run time.
OD_FN real od_pick(const real (&x)[OD_N], int i) {
#if OD_N <= OD_UNROLLED_COMPONENTS
    real picked = real(0);
    OD_UNROLL
    for (int j = 0; j < OD_N; ++j) picked = j == i ? x[j] : picked;
    return picked;
#else
    return x[i];
#endif
}

// How far slopes of stages within a step from y of component `watched`, of which that of the last stage is `last_slope`, are from those
// of the cubic.
OD_FN real od_stage_misses(const real (&y)[OD_N], const OdSlopes &slopes, real last_slope, int watched, real step,
                           const OdCubic &cubic) {
    real misses = real(0);
    OD_UNROLL
    for (int q = 0; q < OD_SLOTS; ++q) {
        const int j = od_component(q), i = od_paired(q);
        const bool is_paired = i >= 0 && i == watched;
        if (j != watched && !is_paired) continue;
        OD_UNROLL_STAGES
        for (int s = OD_FIRST_INNER; s < OD_STAGES; ++s) {
            if (!(od_c(s) < real(1))) continue;
            real slope = s < OD_STAGES - 1 ? slopes.get(s, q) : last_slope;
            if (is_paired) {
                slope = y[j];
                OD_UNROLL_STAGES
                for (int m = 0; m < s; ++m) slope = od_fma(step * od_a(s, m), slopes.get(m, q), slope);
            }
            misses = misses + od_abs(slope * step - cubic.slope(od_c(s)));
        }
    }
    return misses;
}

// Looks at a step from y to `last`, where f are the slopes of the last stage.
OD_FN void od_look_at_step(const OdTask &task, OdStepLoop &c, const OdParams &p, const real (&y)[OD_N],
                         const real (&last)[OD_N], real (&f)[OD_N], const OdSlopes &slopes,
                         real step, OdVerdict &verdict) {
    const int watched = od_event_component(task);
    real slope = real(0);
    OD_UNROLL
    for (int q = 0; q < OD_SLOTS; ++q) {
        const int j = od_component(q), i = od_paired(q);
        if (j == watched) slope = slopes.get(0, q);
        if (i >= 0 && i == watched) slope = y[j];
    }
    const real before = od_pick(y, watched), after = od_pick(last, watched);
    OdPassage passage = od_passage(task, c.event, before, after, slope);
    passage.most_miss = OD_EVENT_STAGE_MISS;
    od_look_for_event(task, c, passage, step, verdict, [&](OdPassage &passed) {
        const real last_slope = od_pick(f, watched);
        if (!OD_FSAL) {
            od_rhs(verdict.t_new, last, p, f);
            ++c.nfev;
        }
        passed.slopes[1] = od_pick(f, watched);
        const OdCubicSlopes ends = {slope * step, passed.slopes[1] * step};
        passed.miss = od_stage_misses(y, slopes, last_slope, watched, step, od_cubic(after - before, ends));
    });
}
#endif

#if OD_LAW == OD_LAW_FIXED && OD_IN_REGISTERS && !OD_EVENT && !OD_RANGES
#define OD_SPRINTS 1
// Steps of one size far from the next stop are taken in sprints, with nothing judged in between:
// they are accepted when they are finite, and a state that is not finite stays so, for
// y+ = y + h (...). A sprint that ends so is forgotten, and its system goes on step by step. The
// size OD_STEP is known to the compiler, so that the products h a_sm are part of its
// instructions instead of lying in registers. By n h the time moves as far as it can be told, and the next step that is judged
// makes up for the rest. Backward in time there are no sprints.
#define OD_SPRINT 250

// How many steps are sure to stay short of the stop, of max_steps and of max_evaluations.
OD_FN unsigned od_sprint_length(const OdTask &task, const OdStepLoop &c) {
    // Rounding of the times of a sprint is to stay below half a step.
    const real rounding = od_larger(od_abs(c.t), od_abs(c.stop)) * (real(OD_SPRINT) * OD_EPSILON);
    if (c.h != OD_STEP || !(OD_STEP > rounding)) return 0;
    const real fit = (c.stop - c.t) * (real(1) / OD_STEP) - real(3);
    const unsigned affordable = (task.max_evaluations - c.nfev - 1) / OD_STAGES;
    const unsigned steps = task.max_steps - c.attempts - 1;
    const unsigned left = affordable < steps ? affordable : steps;
    const unsigned most = left < OD_SPRINT ? left : OD_SPRINT;
    return fit < real(most) ? (fit > real(0) ? (unsigned)fit : 0) : most;
}

// Takes n steps; false, and nothing changed, when they end at what is not finite. The state is `ahead` of the time c.t.
OD_FN bool od_sprint(const OdTask &task, OdStepLoop &c, real (&y)[OD_N], OdSlopes &slopes,
                     const OdParams &p, bool &have_slope, unsigned n, real &ahead) {
    const real h = OD_STEP;
    real from[OD_N], last[OD_N], f[OD_N];
    OdNorm norm;
    if (OD_FSAL && !have_slope) {
        od_stage(y, last, f, slopes, p, 0, c, h, false);
        od_keep_slopes(slopes, 0, f);
        ++c.nfev;
    }
    const OdSlopes first = slopes;
    const real t = c.t;
#pragma unroll
    for (int i = 0; i < OD_N; ++i) from[i] = y[i];
    for (unsigned k = 0; k < n; ++k) {
#pragma unroll
        for (int e = OD_FSAL; e < OD_STAGES; ++e) {
            od_stage(y, last, f, slopes, p, e, c, h, false);
            if (e < OD_STAGES - 1) od_keep_slopes(slopes, e, f);
        }
        // What the last slope spoils shows in the next state, unless that does not use it.
        const bool shows = OD_FSAL || od_b(OD_STAGES - 1) != real(0);
        if (k == 0 || shows) od_norm_clear(norm);
        od_close(task, norm, y, last, slopes, f, h);
#pragma unroll
        for (int i = 0; i < OD_N; ++i) y[i] = last[i];
        if (OD_FSAL) od_keep_slopes(slopes, 0, f);
        c.t = od_fma(real(k + 1), h, t);
    }
    have_slope = OD_FSAL;
    if (norm.magnitude < OD_NOT_FINITE) {
        ahead += real(n) * h - (c.t - t);
        c.attempts += n;
        c.nfev += n * (OD_STAGES - OD_FSAL);
        return true;
    }
#pragma unroll
    for (int i = 0; i < OD_N; ++i) y[i] = from[i];
    slopes = first;
    c.t = t;
    return false;
}
#else
#define OD_SPRINTS 0
#endif

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_erk(const OdTask task) {
#if OD_IN_SHARED
    OD_SHARED(real, slab);
    OdSlopes slopes{slab + threadIdx.x};
#else
    OdSlopes slopes;
#endif
    real y[OD_N];
    OdStepLoop c;
    const auto save = [&](unsigned k) {
        OD_UNROLL
        for (int i = 0; i < OD_N; ++i)
            task.saved[((size_t)k * OD_N + i) * task.stride + c.system] = y[i];
    };
    OdParams p;
    bool busy = false, probing = false, have_slope = false;
#if OD_SPRINTS
    bool careful = false;       // the last sprint of this system was forgotten
    real ahead = real(0);       // how far its state is ahead of its time
#endif

    // One attempt, or one probe for a first step, in every turn: a flat loop, so that a thread
    // that takes a new system does not wait for its neighbours. It ends, because every attempt
    // counts and od_proceed ends a system at max_steps.
    for (;;) {
        if (!busy) {
            const unsigned k = atomicAdd(task.next, 1u);
            if (k >= task.n_systems) break;
            const unsigned s = od_in_order(task, k);
            p = od_params(task, s);
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) y[i] = task.states[(size_t)i * task.stride + s];
            od_load(task, c, s, save);
            probing = OD_PROBE && !c.resumed;
            have_slope = false;
            busy = true;
#if OD_SPRINTS
            careful = false;
            ahead = real(0);
#endif
        }
#if OD_SPRINTS
        const unsigned sprint = careful ? 0 : od_sprint_length(task, c);
        if (sprint > 0) {
            careful = !od_sprint(task, c, y, slopes, p, have_slope, sprint, ahead);
            continue;
        }
#endif
        bool whole;
        real wanted = od_propose(c, whole);
#if OD_SPRINTS
        const real before = c.t;
        wanted = wanted - ahead;
#endif
        real step = probing ? c.length : wanted;
        real last[OD_N], f[OD_N];
#if OD_PROBE
        OdStart start;
#endif
        OD_UNROLL_STAGES
        for (int e = 0; e < OD_STAGES; ++e) {
            if (OD_FSAL && e == 0 && have_slope) continue;
            od_stage(y, last, f, slopes, p, e, c, step, probing);
            ++c.nfev;
#if OD_PROBE
            if (probing) {
                od_start_clear(start);
                OD_UNROLL
                for (int q = 0; q < OD_SLOTS; ++q) {
                    const int j = od_component(q), i = od_paired(q);
                    const real f0 = e == 0 ? f[j] : slopes.get(0, q);
                    od_start_add(task, start, j, y[j], f0, f[j], c.length);
                    if (i >= 0)
                        od_start_add(task, start, i, y[i], y[j], last[j], c.length);
                    if (od_closes_group(q)) od_start_close_group(start);
                }
                if (e == 1) break;
                step = od_probe_step(task, start, c.length);
            }
#endif
            if (e < OD_STAGES - 1) od_keep_slopes(slopes, e, f);
        }
#if OD_PROBE
        if (probing) {
            c.h = od_first(task, c, od_automatic_step(task, start, c.t, step));
            probing = false;
            have_slope = true;
            continue;
        }
#endif
        OdNorm norm;
        od_norm_clear(norm);
        od_close(task, norm, y, last, slopes, f, step);
        const OdAttempt attempt = od_explicit(step, od_norm_size(task, norm));
        OdVerdict verdict = od_verdict(task, c, attempt, whole);
#if OD_EVENT
        if (verdict.accepted) od_look_at_step(task, c, p, y, last, f, slopes, step, verdict);
#endif
        bool lost;
        const bool accepted = od_settle(task, c, attempt, verdict, whole, lost);
#if OD_SPRINTS
        if (accepted) ahead += step - (c.t - before);
#endif
        if (accepted) {
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) y[i] = last[i];
            if (OD_FSAL) od_keep_slopes(slopes, 0, f);
        }
#if OD_RANGES
        if (accepted) {
            bool outside = false;
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i) outside = outside || od_outside(i, y[i]);
            c.outside += outside;
        }
#endif
        have_slope = OD_FSAL;
        int status;
        const OdNext next = od_proceed(task, c, accepted && whole, lost, status, save);
        if (next == OD_BEGIN) {
            probing = OD_PROBE;
            have_slope = false;
        }
        if (next == OD_END) {
#if OD_RANGES
            if (od_reaches_end(status)) {
                bool impossible = false;
                OD_UNROLL
                for (int i = 0; i < OD_N; ++i)
                    impossible = impossible || od_impossible(task, i, y[i]);
                if (impossible) status = OD_OUTSIDE_BOUNDS;
            }
#endif
            OD_UNROLL
            for (int i = 0; i < OD_N; ++i)
                task.end_states[(size_t)i * task.stride + c.system] = y[i];
            od_finish(task, c, status);
            busy = false;
        }
    }
}
