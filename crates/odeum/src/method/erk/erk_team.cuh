// Explicit Runge-Kutta, a team of warps for every 32 systems: for ensembles too small to fill the
// GPU with one thread per system.
//
// Each lane of a block is one system; warp g computes the outputs of group g for all of them and
// owns their components. Different warps run different code, so nothing diverges. The state at a
// stage goes through shared memory, in two buffers by turns: one barrier per stage. Every warp
// follows the course of all 32 systems with the same instructions on the same numbers, so that
// decisions need no exchange; the error norm is the only sum over warps, and is taken in the
// order of the groups. Every expression is that of erk_single.cuh: the two kernels give the same
// bits.

struct OdTeamState {
    const real *values;
    OD_FN_MEMBER real operator[](int i) const { return values[i * OD_LANES]; }
};

// Room for the groups' parts of three norms, of the present lane.
struct OdTeamSums {
    real *part;                 // [3][OD_GROUPS][OD_LANES]
    int *magnitude;             // the same
};

OD_FN void od_team_put(const OdTeamSums &sums, int place, int group, const OdNorm &norm) {
    sums.part[(place * OD_GROUPS + group) * OD_LANES] = norm.part;
    sums.magnitude[(place * OD_GROUPS + group) * OD_LANES] = norm.magnitude;
}

// Puts the groups' parts together, after a barrier. The next parts are put after another barrier,
// that of the next stage.
OD_FN void od_team_take(const OdTeamSums &sums, int place, OdNorm &norm) {
    od_norm_clear(norm);
#pragma unroll
    for (int g = 0; g < OD_GROUPS; ++g) {
        norm.part = sums.part[(place * OD_GROUPS + g) * OD_LANES];
        const int magnitude = sums.magnitude[(place * OD_GROUPS + g) * OD_LANES];
        norm.magnitude = magnitude > norm.magnitude ? magnitude : norm.magnitude;
        od_norm_close_group(norm);
    }
}

OD_FN void od_team_keep(real (&to)[OD_GROUP_SLOTS], const real (&from)[OD_GROUP_SLOTS]) {
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) to[r] = from[r];
}

// The state of stage e in the slots of this warp, after keeping the slopes f of the stage before;
// gives its time as a share of the step.
OD_FN real od_team_stage(const OdPair (&y)[OD_GROUP_SLOTS], OdPair (&out)[OD_GROUP_SLOTS],
                         real (&slopes)[OD_STAGES][OD_GROUP_SLOTS],
                         const real (&f)[OD_GROUP_SLOTS], int e, real h, bool euler) {
    real at = real(0);
#pragma unroll
    for (int s = 0; s < OD_STAGES; ++s) {
        if (e != s) continue;
        at = od_reach(s, euler);
        const real reach = h * at;
#pragma unroll
        for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
            if (s > 0) slopes[s - 1][r] = f[r];
            out[r].y = y[r].y;
            out[r].twin = od_fma(reach, y[r].y, y[r].twin);
        }
#pragma unroll
        for (int m = 0; m < od_stage_end(s); ++m) {
            const real a = h * od_share(s, m, euler);
            const real a2 = (h * h) * od_a2(s, m);
#pragma unroll
            for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
                const real k = slopes[m][r];
                out[r].y = od_fma(a, k, out[r].y);
                if (OD_TWINS) out[r].twin = od_fma(a2, k, out[r].twin);
            }
        }
    }
    return at;
}

extern "C" __global__ void __launch_bounds__(OD_TEAM) od_erk_team(const OdTask task) {
    OD_SHARED(real, slab);
    const int lane = threadIdx.x % OD_LANES, group = threadIdx.x / OD_LANES;
    real *const exchange = slab + lane;
    OdTeamSums sums;
    sums.part = exchange + 2 * OD_N * OD_LANES;
    sums.magnitude =
        reinterpret_cast<int *>(slab + (2 * OD_N + 3 * OD_GROUPS) * OD_LANES) + lane;
    const int first = od_group_first(group), count = od_group_first(group + 1) - first;

    // Where the states of this warp's components lie in a buffer.
    int place[OD_GROUP_SLOTS], twin_place[OD_GROUP_SLOTS];
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
        const int q = r < count ? first + r : first;
        place[r] = od_component_at(q) * OD_LANES;
        // Without a twin, the component's own place.
        twin_place[r] = od_twin_at(q) >= 0 ? od_twin_at(q) * OD_LANES : place[r];
    }

    const unsigned mine = blockIdx.x * OD_LANES + lane;
    bool active = mine < task.n_systems;
    const unsigned s = active ? mine : task.n_systems - 1;
    const OdParams p = od_params(task, s);
    OdPair y[OD_GROUP_SLOTS], last[OD_GROUP_SLOTS];
    real slopes[OD_STAGES][OD_GROUP_SLOTS] = {}, f[OD_GROUP_SLOTS] = {};
    OdCourse c;
    // Writes the components of this warp into a row of arrays [n x stride].
    const auto store = [&](real *to) {
#pragma unroll
        for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
            if (r >= count) break;
            const int q = first + r;
            to[(size_t)od_component_at(q) * task.stride + c.system] = y[r].y;
            if (od_twin_at(q) >= 0)
                to[(size_t)od_twin_at(q) * task.stride + c.system] = y[r].twin;
        }
    };
    const auto save = [&](unsigned k) {
        if (active) store(task.saved + (size_t)k * OD_N * task.stride);
    };
#pragma unroll
    for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
        const int q = r < count ? first + r : first;
        y[r].y = task.states[(size_t)od_component_at(q) * task.stride + s];
        const int twin = od_twin_at(q) >= 0 ? od_twin_at(q) : od_component_at(q);
        y[r].twin = task.states[(size_t)twin * task.stride + s];
    }
    od_load(task, c, s, save);
    bool probing = OD_PROBE && !c.resumed, have_slope = false;
    int parity = 0;             // offset of the buffer to write

    // All warps take the same turns: what they decide by is the same in all of them.
    while (od_any_lane(active)) {
        bool whole;
        const real wanted = od_propose(c, whole);
        // A turn is for probing when a lane probes; the others then wait.
        const bool probe_turn = OD_PROBE && od_any_lane(active && probing);
        real step = probing ? c.length : wanted;
#if OD_PROBE
        OdStart start;
#endif
        const int skipped = OD_FSAL && !probe_turn && !od_any_lane(active && !have_slope) ? 1 : 0;
        const int end = probe_turn ? 2 : OD_STAGES;
#pragma unroll 1
        for (int e = skipped; e < end; ++e) {
            // With OD_FSAL and e = 1 the slope kept is the one that is there already.
            if (OD_FSAL && e == 1 && skipped) od_team_keep(f, slopes[0]);
            const real at = od_team_stage(y, last, slopes, f, e, step, probe_turn);
            real *const published = exchange + parity;
            parity = OD_N * OD_LANES - parity;
#pragma unroll
            for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
                if (r >= count) break;
                if (OD_TWINS) published[twin_place[r]] = last[r].twin;
                if (OD_FULL_STAGES || OD_PROBE) published[place[r]] = last[r].y;
            }
            OD_BARRIER();
            od_rhs_group(group, od_fma(at, step, c.t), OdTeamState{published}, p, f);
            if (probe_turn ? probing : !(OD_FSAL && e == 0 && have_slope)) ++c.nfev;
#if OD_PROBE
            if (probe_turn) {
                od_start_clear(start);
#pragma unroll
                for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
                    if (r >= count) break;
                    const int q = first + r;
                    const real f0 = e == 0 ? f[r] : slopes[0][r];
                    od_start_add(task, start, od_component_at(q), y[r].y, f0, f[r], c.length);
                    if (od_twin_at(q) >= 0)
                        od_start_add(task, start, od_twin_at(q), y[r].twin, y[r].y, last[r].y,
                                     c.length);
                }
                od_team_put(sums, 0, group, start.state);
                od_team_put(sums, 1, group, start.slope);
                od_team_put(sums, 2, group, start.change);
                OD_BARRIER();
                od_team_take(sums, 0, start.state);
                od_team_take(sums, 1, start.slope);
                od_team_take(sums, 2, start.change);
                if (e == 0) step = probing ? od_probe_step(task, start, c.length) : step;
            }
#endif
        }
#if OD_PROBE
        if (probe_turn) {
            if (probing) c.h = od_first(task, c, od_automatic_step(task, start, step));
            // Of the lanes that waited, the slope has been computed again, to the same bits.
            have_slope = true;
            probing = false;
            continue;
        }
#endif
        OdNorm norm;
        od_norm_clear(norm);
#pragma unroll
        for (int r = 0; r < OD_GROUP_SLOTS; ++r) {
            if (r >= count) break;
            const int q = first + r, j = od_component_at(q), i = od_twin_at(q);
            OdSums sum = {real(0), real(0), real(0), real(0)};
            const real k0 = slopes[0][r];
#pragma unroll
            for (int m = 0; m < OD_STAGES - 1; ++m)
                od_sum_stage<OD_TWINS>(sum, m, slopes[m][r]);
            od_sum_stage<OD_TWINS>(sum, OD_STAGES - 1, f[r]);
            if (OD_TWINS && i >= 0)
                last[r] = od_close_slot<true>(task, norm, j, i, sum, y[r], last[r], k0, step);
            else
                last[r] = od_close_slot<false>(task, norm, j, j, sum, y[r], last[r], k0, step);
        }
        od_team_put(sums, 0, group, norm);
        OD_BARRIER();
        od_team_take(sums, 0, norm);
        if (!active) continue;
        bool lost;
        const real size = od_norm_size(task, norm);
        const bool accepted = od_settle(task, c, step, whole, size, lost);
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
            store(task.end_states);
            if (group == 0) od_finish(task, c, status);
            active = false;
        }
    }
}
