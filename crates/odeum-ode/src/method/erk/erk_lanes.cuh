// Explicit Runge-Kutta, several lanes of a warp for every system: for ensembles too small to fill
// the GPU with one thread per system.
//
// The slots of a system fall into groups that are isomorphic: one function of other states and other
// constants (graph/isomorphic.rs). OD_WIDTH lanes, a power of two, integrate one system, each lane one
// group; all run the same instructions. Lanes meet in shared memory, where each publishes the
// stage states of its components, and wait for no other warp. Every lane follows the course of
// its system with the same instructions on the same numbers, so that decisions need no exchange;
// the error norm is the only sum over lanes, and is taken in the order of the groups. Every
// expression is that of erk_single.cuh: the two kernels give the same bits.
//
// Generated besides what erk.cuh lists: OD_GROUPS, OD_GROUP_SLOTS, OD_WIDTH, OD_OFFSETS,
// OD_CONSTANTS, OD_EXCHANGE; od_component_at(q), od_paired_at(q); od_state_at(g, k), the state behind offset k of
// group g; od_constant_at(g, k); and od_rhs over offsets, parameters and constants.

// The states of a group among the published ones of its system.
struct OdOffsets {
    const real *values;
    const int *at;
    OD_FN_MEMBER real operator[](int k) const { return values[at[k]]; }
};

// Parameters, and behind them the constants of a group.
struct OdGroupParams {
    const OdParams *params;
    const real *constants;
    OD_FN_MEMBER real operator[](int j) const {
        return j < OD_PARAMS ? (*params)[j] : constants[j - OD_PARAMS];
    }
};

// Room for the groups' parts of three norms of one system.
struct OdParts {
    real *part;                 // [3][OD_GROUPS]
    int *magnitude;             // the same
};

OD_FN void od_put_part(const OdParts &parts, int which, int group, const OdNorm &norm) {
    parts.part[which * OD_GROUPS + group] = norm.part;
    parts.magnitude[which * OD_GROUPS + group] = norm.magnitude;
}

// Puts the groups' parts together, after a barrier. The next parts are put after another barrier,
// that of the next stage.
OD_FN void od_take_parts(const OdParts &parts, int which, OdNorm &norm) {
    od_norm_clear(norm);
#pragma unroll
    for (int g = 0; g < OD_GROUPS; ++g) {
        norm.part = parts.part[which * OD_GROUPS + g];
        const int magnitude = parts.magnitude[which * OD_GROUPS + g];
        norm.magnitude = magnitude > norm.magnitude ? magnitude : norm.magnitude;
        od_norm_close_group(norm);
    }
}

OD_FN void od_keep(real (&to)[OD_GROUP_SLOTS], const real (&from)[OD_GROUP_SLOTS]) {
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) to[r] = from[r];
}

// The state of stage e in the slots of this lane, after keeping the slopes f of the stage before;
// gives its time as a fraction of the step. Every stage is a case of its own, found by recursion from
// S on: the compiler does not unroll so long a loop, and slopes must not be indexed at run time.
template <int S>
OD_FN real od_lane_stage(const OdPair (&y)[OD_GROUP_SLOTS], OdPair (&out)[OD_GROUP_SLOTS],
                         real (&slopes)[OD_STAGES][OD_GROUP_SLOTS],
                         const real (&f)[OD_GROUP_SLOTS], int e, real h, bool euler) {
    constexpr int next = S + 1 < OD_STAGES ? S + 1 : S;
    if (S < next && e != S) return od_lane_stage<next>(y, out, slopes, f, e, h, euler);
    const real at = od_reach(S, euler);
    const real reach = h * at;
    if (S > 0) od_keep(slopes[S > 0 ? S - 1 : 0], f);
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
        out[r].y = y[r].y;
        out[r].paired = od_fma(reach, y[r].y, y[r].paired);
    }
#pragma unroll
    for (int m = 0; m < S; ++m) {
        if (m >= od_stage_end(S)) break;
        const real a = h * od_fraction(S, m, euler);
        const real a2 = (h * h) * od_a2(S, m);
#pragma unroll
        for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
            const real k = slopes[m][r];
            out[r].y = od_fma(a, k, out[r].y);
            if (OD_PAIRED) out[r].paired = od_fma(a2, k, out[r].paired);
        }
    }
    return at;
}

extern "C" __global__ void __launch_bounds__(OD_BLOCK, OD_BLOCKS_PER_SM)
od_erk_lanes(const OdTask task) {
    OD_SHARED(real, slab);
    const int lane = threadIdx.x % OD_WIDTH, neighbour = threadIdx.x / OD_WIDTH;
    // Lanes without a group repeat the last one, and write nothing.
    const bool writes = lane < OD_GROUPS;
    const int group = writes ? lane : OD_GROUPS - 1;
    // Of each system: two buffers of stage states, by turns, then the parts of three norms.
    real *const exchange = slab + neighbour * OD_EXCHANGE;
    OdParts parts;
    parts.part = exchange + 2 * OD_N;
    parts.magnitude = reinterpret_cast<int *>(parts.part + 3 * OD_GROUPS);

    int component[OD_GROUP_SLOTS], paired[OD_GROUP_SLOTS];
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
        component[r] = od_component_at(group * OD_GROUP_SLOTS + r);
        paired[r] = od_paired_at(group * OD_GROUP_SLOTS + r);
    }
    int at[OD_OFFSETS + 1];
    real constants[OD_CONSTANTS + 1];
#pragma unroll
    for (int k = 0; k < OD_OFFSETS; ++k) at[k] = od_state_at(group, k);
#pragma unroll
    for (int k = 0; k < OD_CONSTANTS; ++k) constants[k] = od_constant_at(group, k);

    const unsigned mine = blockIdx.x * (OD_BLOCK / OD_WIDTH) + neighbour;
    bool active = mine < task.n_systems;
    const unsigned s = active ? mine : task.n_systems - 1;
    const OdParams params = od_params(task, s);
    const OdGroupParams p{&params, constants};
    OdPair y[OD_GROUP_SLOTS], last[OD_GROUP_SLOTS];
    real slopes[OD_STAGES][OD_GROUP_SLOTS] = {}, f[OD_GROUP_SLOTS] = {};
    OdStepLoop c;
    // Writes the components of this lane into a row of arrays [n x stride].
    const auto store = [&](real *to) {
#pragma unroll
        for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
            to[(size_t)component[r] * task.stride + c.system] = y[r].y;
            if (OD_PAIRED) to[(size_t)paired[r] * task.stride + c.system] = y[r].paired;
        }
    };
    const auto save = [&](unsigned k) {
        if (active && writes) store(task.saved + (size_t)k * OD_N * task.stride);
    };
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
        y[r].y = task.states[(size_t)component[r] * task.stride + s];
        y[r].paired = OD_PAIRED ? task.states[(size_t)paired[r] * task.stride + s] : y[r].y;
    }
    od_load(task, c, s, save);
    bool probing = OD_PROBE && !c.resumed, have_slope = false;
    int parity = 0;             // offset of the buffer to write

    // All lanes of a warp take the same turns, those of systems that have ended too.
    while (od_any_lane(active)) {
        bool whole;
        const real wanted = od_propose(c, whole);
        // A turn is for probing when a system probes; the others then wait.
        const bool probe_turn = OD_PROBE && od_any_lane(active && probing);
        real step = probing ? c.length : wanted;
#if OD_PROBE
        OdStart start;
#endif
        const int skipped = OD_FSAL && !probe_turn && !od_any_lane(active && !have_slope) ? 1 : 0;
        const int end = probe_turn ? 2 : OD_STAGES;
        // In straight-line code for every stage: one right-hand side in a loop is slower by two thirds.
#pragma unroll
        for (int e = 0; e < OD_STAGES; ++e) {
            if (e < skipped) continue;
            if (e >= end) break;
            // With OD_FSAL and e = 1 the slope kept is the one that is there already.
            if (OD_FSAL && e == 1 && skipped) od_keep(f, slopes[0]);
            const real fraction = od_lane_stage<0>(y, last, slopes, f, e, step, probe_turn);
            real *const published = exchange + parity;
            parity = OD_N - parity;
            if (writes) {
#pragma unroll
                for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
                    if (OD_PAIRED) published[paired[r]] = last[r].paired;
                    if (OD_FULL_STAGES || OD_PROBE) published[component[r]] = last[r].y;
                }
            }
            OD_LANE_BARRIER();
            od_rhs(od_stage_time(c, fraction, step), OdOffsets{published, at}, p, f);
            if (probe_turn ? probing : !(OD_FSAL && e == 0 && have_slope)) ++c.nfev;
#if OD_PROBE
            if (probe_turn) {
                od_start_clear(start);
#pragma unroll
                for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
                    const real f0 = e == 0 ? f[r] : slopes[0][r];
                    od_start_add(task, start, component[r], y[r].y, f0, f[r], c.length);
                    if (OD_PAIRED)
                        od_start_add(task, start, paired[r], y[r].paired, y[r].y, last[r].y, c.length);
                }
                if (writes) {
                    od_put_part(parts, 0, group, start.state);
                    od_put_part(parts, 1, group, start.slope);
                    od_put_part(parts, 2, group, start.change);
                }
                OD_LANE_BARRIER();
                od_take_parts(parts, 0, start.state);
                od_take_parts(parts, 1, start.slope);
                od_take_parts(parts, 2, start.change);
                if (e == 0) step = probing ? od_probe_step(task, start, c.length) : step;
            }
#endif
        }
#if OD_PROBE
        if (probe_turn) {
            if (probing) c.h = od_first(task, c, od_automatic_step(task, start, c.t, step));
            // Systems that waited have their slope, too: to the same bits where they had it before; else it counts.
            else if (OD_FSAL && !have_slope) ++c.nfev;
            have_slope = true;
            probing = false;
            continue;
        }
#endif
        OdNorm norm;
        od_norm_clear(norm);
#pragma unroll
        for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
            OdSums sum = {real(0), real(0), real(0), real(0)};
            const real k0 = slopes[0][r];
#pragma unroll
            for (int m = 0; m < OD_STAGES - 1; ++m)
                od_sum_stage<OD_PAIRED>(sum, m, slopes[m][r]);
            od_sum_stage<OD_PAIRED>(sum, OD_STAGES - 1, f[r]);
            last[r] = od_close_slot<OD_PAIRED>(task, norm, component[r], paired[r], sum, y[r],
                                              last[r], k0, step);
        }
        if (writes) od_put_part(parts, 0, group, norm);
        OD_LANE_BARRIER();
        od_take_parts(parts, 0, norm);
        if (!active) continue;
        const OdAttempt attempt = od_explicit(step, od_norm_size(task, norm));
        const OdVerdict verdict = od_verdict(task, c, attempt, whole);
        bool lost;
        const bool accepted = od_settle(task, c, attempt, verdict, whole, lost);
        if (accepted) {
#pragma unroll
            for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
                y[r] = last[r];
                if (OD_FSAL) slopes[0][r] = f[r];
            }
        }
        have_slope = OD_FSAL;
        int status;
        const OdNext next = od_proceed(task, c, accepted && whole, lost, status, save);
        if (next == OD_BEGIN) {
            probing = OD_PROBE;
            have_slope = false;
        }
        if (next == OD_END) {
            if (writes) store(task.end_states);
            if (lane == 0) od_finish(task, c, status);
            active = false;
        }
    }
}
