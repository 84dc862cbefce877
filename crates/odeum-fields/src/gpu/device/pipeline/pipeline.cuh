// Two steps of forward Euler in one pass over memory, in single precision, for models whose steps
// compute so much that the cells around a tile must not be computed by the threads of its own: those
// with potentials, each of whose steps reaches two cells far, and those of three species. Boundaries
// along y and z are closed or periodic; along x, species that no potential depends on may have any.
//
// A block takes planes of a tile, as they come, through four stages: plane i of the far species
// gives potentials in plane i - 1; with these, plane i - 2 of all species goes into the first step,
// whose plane i - 3 comes out and gives potentials in plane i - 4; plane i - 5 goes into the second
// step, and plane i - 6 comes out. Each stage needs one cell more around than the next.
//
// Three groups of warps wait for each other, never for the block: X (first step, then its
// potentials), Y (second step, then potentials of the field), which run the same code so that it
// stays in the instruction cache (about 33 KB), and Z (what of these stages lies beside the tile,
// and copies from memory). What was tried: docs/src/performance/fields.md.

// ---- Cells of the tile: X and Y

// Writes row j of a thread, at most LAST.
template <int LAST> OD_FN void od_write_row(bool is, int j, real *to, const real (&v)[2]) {
    if (j == LAST) {
        od_write_two_if<LAST * OD_ROW>(is, to, v[0], v[1]);
    } else if constexpr (LAST > 0) {
        od_write_row<LAST - 1>(is, j, to, v);
    }
}

// What a group keeps in shared memory, not in registers, of which it has none to spare: of the step
// and then of the potentials, the plane that goes in in turn 0, and the first that does at all.
OD_FN unsigned od_time_dependent(const OdBlock &block, bool is_x) {
    return od_at(block, OdPipeline::AT_TIME_DEPENDENT + (is_x ? 0 : 4));
}
OD_FN void od_keep_time_dependent(const OdBlock &block) {
    const int begin = block.begin, first = block.first;
    const unsigned x = od_time_dependent(block, true), y = od_time_dependent(block, false);
    od_put_ints(x, first - 2, od_first_plane(begin, 3));
    od_put_ints(x + 8, first - 3, od_first_plane(begin, 2));
    od_put_ints(y, first - 5, od_first_plane(begin, 1));
    od_put_ints(y + 8, first, od_first_plane(begin, 4));
}

// Where a thread of X or Y is: found again and again, as registers are dear.
struct OdInside {
    bool is_x;
    int column;
    // Its first cell in planes of fields and of potentials, and its group's course.
    unsigned at, at_mu, time_dependent;
};
OD_FN OdInside od_inside(const OdBlock &block) {
    using C = OdPipeline;
    const int row = od_thread_y(), group = row % C::WARPS;
    OdInside my;
    my.is_x = row < C::WARPS;
    my.column = od_thread_x();
    my.at = od_at(block, group * C::H * C::P + 2 * my.column);
    my.at_mu = od_at(block, group * C::H * C::PM + 2 * my.column);
    my.time_dependent = od_time_dependent(block, my.is_x);
    return my;
}

OD_FN void od_within(const OdBlock &block, real *out, const OdSteps &steps) {
    using C = OdPipeline;
    // The plane that comes out in turn n, by Y, is block.first + n - 6.
    out += (block.y0 + C::H * ((int)threadIdx.y % C::WARPS)) * OD_ROW + block.x0 + 2 * threadIdx.x;
    out += (long long)(block.first - 6) * OD_PLANE;
    OdStream<OdStepRule, C::H> stream = {};
    OdStream<OdPotentialRule, C::H> mu_stream = {};
    OdStepRule rule = {steps.at[0]};
    OdPotentialRule mu_rule;
    for (int n = 0; n < block.turns; ++n) {
        {
            const OdInside my = od_inside(block);
            int z, first;
            od_get_ints(my.time_dependent, z, first);
            z += n;
            // X writes what Y reads two turns later.
            const int slot = od_slot(my.is_x ? n : n + 1);
            rule.t = my.is_x ? steps.at[0].t : steps.at[1].t;
            if (my.is_x) {
                if (n >= 1) od_wait_two(block, C::B_MU0, n - 1);
                if (n >= 2) od_wait_boundary_cells(block, n - 2);
                od_aim_first(rule, n, od_again(z), my.at, my.at_mu);
            } else {
                if (n >= 1) od_wait(block.base + 8 * C::B_MU1, (n - 1) & 1);
                od_aim_second(rule, od_again(z) ? od_slot(n) : slot, my.at, my.at_mu);
            }
            const bool leaves = !my.is_x && z > first + (OD_WRAP_Z || first > 0 ? 1 : 0);
            const unsigned place = my.at + 4 * slot;
            // One pointer for all species, which is where the last row went.
            int last = 0;
            od_stage<C::H>(rule, stream, z, first, [&](int s, int j, const real (&v)[2]) {
                const unsigned cell = place + 4 * (s * C::FIRST + j * C::P);
                od_put_first(block, my.is_x, my.column, cell, s, v, steps.at[1]);
                if (s != last) out = od_computed_once(out + (s - last) * OD_VOLUME);
                last = s;
                od_write_row<C::H - 1>(leaves, j, out, v);
            });
            out += OD_PLANE - last * OD_VOLUME;
        }
        const OdInside my = od_inside(block);
        if (my.is_x) {
            od_arrive(od_two(block, C::B_FIRST, n));
            od_wait_two(block, C::B_FIRST, n);
            od_wait_two(block, C::B_SECOND, n);
        } else {
            od_arrive(od_two(block, C::B_SECOND, n));
            od_wait_far(block, n);
        }
        if (OD_POTENTIALS > 0) {
            int z, first;
            od_get_ints(my.time_dependent + 8, z, first);
            z += n;
            mu_rule.t = my.is_x ? steps.at[1].t : steps.at[0].t;
            unsigned into = my.at_mu;
            if (my.is_x) {
                od_aim_mu1(mu_rule, od_slot(od_again(z) ? n + 2 : n), my.at);
                into += 4 * C::AT_MU1;
            } else {
                od_aim_mu0(mu_rule, n, my.at);
                into += 4 * od_mu0_at(n - 1, 0);
            }
            const int apart = my.is_x ? C::MU1 : C::MU0;
            od_stage<C::H>(mu_rule, mu_stream, z, first, [&](int p, int j, const real (&v)[2]) {
                od_put_two((p == 0 ? into : into + 4 * p * apart) + 4 * j * C::PM, v[0], v[1]);
            });
        }
        od_arrive(my.is_x ? block.base + 8 * C::B_MU1 : od_two(block, C::B_MU0, n));
    }
}

// ---- Beside the tile: Z

// The first step: the four rows above the tile by one warp, two columns of pairs by the other, four
// rows to a thread. Ghosts of near species.
OD_FN void od_beside_first(const OdBlock &block, const real *in, const OdSteps &steps) {
    using C = OdPipeline;
    const int lane = threadIdx.x, second = threadIdx.y - 2 * C::WARPS;
    constexpr int GROUPS = C::T / 4 + 1;
    static_assert(GROUPS - GROUPS / 2 <= 8, "a thread for each");
    int row = C::T, column = lane;
    if (second > 0) {
        // Groups of four rows alternate between halves of the banks.
        const int half = lane / 16, k = lane % 16, groups = half ? GROUPS - GROUPS / 2 : GROUPS / 2;
        row = k < 2 * groups ? (half * (GROUPS / 2) + k / 2) * 4 : -1;
        column = C::CW + k % 2;
    }
    const int thread = second * 32 + lane;
    const unsigned list = od_at(block, C::AT_LIST + 2 * C::GHOSTS * thread);
    const unsigned at = od_at(block, row * C::P + 2 * column),
                   at_mu = od_at(block, row * C::PM + 2 * column);
    const int first = od_first_plane(block.begin, 3);
    OdStream<OdStepRule, 4> stream = {};
    OdStepRule rule = {steps.at[0], steps.at[0].t};
    for (int n = 0; n < block.turns; ++n) {
        const int z = block.first + n - 2;
        if (n >= 1) {
            od_wait_two(block, C::B_FIRST, n - 1);
            od_wait_two(block, C::B_SECOND, n - 1);
            od_wait_two(block, C::B_MU0, n - 1);
        }
        if (n >= 2) od_wait_boundary_cells(block, n - 2);
        if (row >= 0) {
            od_aim_first(rule, n, od_again(z), at, at_mu);
            const int slot = od_slot(n);
            od_stage<4>(rule, stream, z, first, [&](int s, int j, const real (&v)[2]) {
                const unsigned place = at + 4 * (slot + s * C::FIRST + j * C::P);
                od_put_first(block, true, column, place, s, v, steps.at[1]);
            });
        }
        od_arrive(od_two(block, C::B_FIRST, n));
        if (block.rim && n >= 1 && n + 1 < block.turns) {
            od_mend<false>(block, list, n - 1, in, steps.at[0]);
        }
    }
}

#define OD_NOWHERE (~0u)
// Four rows of potentials of a thread beside the tile.
struct OdBeside {
    // Where they are in planes of fields, OD_NOWHERE for a thread that has none, and of potentials.
    unsigned at, at_mu;
    OdStream<OdPotentialRule, 4> stream;
};
OD_FN OdBeside od_beside(const OdBlock &block, bool is, int row, int pair) {
    using C = OdPipeline;
    const unsigned at = od_at(block, row * C::P + 2 * pair);
    return {is ? at : OD_NOWHERE, od_at(block, row * C::PM + 2 * pair), {}};
}

// Potentials: of the field six rows above the tile and three columns of pairs, of the first step
// two rows and a column. Boxes, and ghosts of far species.
OD_FN void od_beside_potentials(
    const OdBlock &block, const OdMap &map, const real *in, const OdSteps &steps) {
    using C = OdPipeline;
    const int v = threadIdx.y - 2 * C::WARPS - 2, lane = threadIdx.x;
    const int thread = v * 32 + lane;
    if (thread == 0) {
        od_bring<true>(block, map, 0);
        od_bring<true>(block, map, 1);
    }
    // Of the field, each warp: rows T + 2 v to T + 2 v + 3 of all columns, and half of the columns
    // beside, in groups of four rows.
    const int half = lane / 16, k = lane % 16;
    constexpr int GROUPS = (C::T + 6 + 3) / 4, GROUPS1 = (C::T + 2 + 3) / 4;
    static_assert(
        GROUPS % 2 == 0 && GROUPS1 - GROUPS1 / 2 <= 16 && GROUPS / 2 - GROUPS / 4 <= 5,
        "a thread for each");
    const int from = GROUPS * v / 2, mid = from + GROUPS / 4, to = GROUPS * (v + 1) / 2;
    const int group = (half ? mid : from) + k / 3;
    const bool in_group = k < 15 && group < (half ? to : mid);
    const auto least = [](int a, int b) { return a < b ? a : b; };
    OdBeside above = od_beside(block, true, C::T + 2 * v, lane);
    OdBeside right = od_beside(block, in_group, least(group * 4, C::T + 2), C::CW + k % 3);
    // Of the first step: rows T - 2 to T + 1 by one warp, the column beside by the other.
    const int group1 = half * (GROUPS1 / 2) + k;
    const bool in_group1 = group1 < (half ? GROUPS1 : GROUPS1 / 2);
    OdBeside first = od_beside(
        block, v == 0 || in_group1, v == 0 ? C::T - 2 : least(group1 * 4, C::T - 2),
        v == 0 ? lane : C::CW);
    const unsigned list = od_at(block, C::AT_LIST + 2 * C::GHOSTS * thread);
    if (block.rim) od_mend<true>(block, list, 0, in, steps.at[0]);
    const int first0 = od_first_plane(block.begin, 4), first1 = od_first_plane(block.begin, 2);
    OdPotentialRule rule;
    for (int n = 0; n < block.turns; ++n) {
        const int z = block.first + n;
        od_wait_far(block, n);
        // Where there is much code, one for all three of them, that it stays in the cache: they
        // take turns in registers.
        constexpr int CODES = C::CODES;
#pragma unroll CODES
        for (int which = 0; which < 3; ++which) {
            const bool again = which == 2;
            if (again) {
                od_arrive(od_two(block, C::B_MU0, n));
                od_wait_two(block, C::B_FIRST, n);
                if (thread == 0 && n + 2 < block.turns) {
                    if (block.rim) od_stores_before_boxes();
                    od_bring<true>(block, map, n + 2);
                    od_bring<false>(block, map, n);
                }
                if (block.rim && n + 1 < block.turns) {
                    od_mend<true>(block, list, n + 1, in, steps.at[0]);
                }
                od_wait_two(block, C::B_SECOND, n);
                od_aim_mu1(rule, od_slot(od_again(z - 3) ? n + 2 : n), above.at);
            } else {
                od_aim_mu0(rule, n, above.at);
            }
            if (OD_POTENTIALS > 0 && above.at != OD_NOWHERE) {
                rule.t = again ? steps.at[1].t : steps.at[0].t;
                const int into = again ? C::AT_MU1 : od_mu0_at(n - 1, 0);
                const int apart = again ? C::MU1 : C::MU0;
                od_stage<4>(
                    rule, above.stream, again ? z - 3 : z, again ? first1 : first0,
                    [&](int p, int j, const real (&v)[2]) {
                        const int plane = p == 0 ? into : into + p * apart;
                        od_put_two(above.at_mu + 4 * (plane + j * C::PM), v[0], v[1]);
                    });
            }
            const OdBeside done = above;
            above = right;
            right = first;
            first = done;
        }
        od_arrive(block.base + 8 * C::B_MU1);
    }
}

// ---- The kernel

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, 1) od_pipeline(
    OD_MAP(map), const real *__restrict__ in, real *__restrict__ out, const OdSteps steps,
    const OdSpan span) {
    using C = OdPipeline;
    static_assert(OD_BX == C::CW && OD_BY == 2 * C::WARPS + 4, "three groups of warps");
    OD_PIPELINE_MEMORY(memory);
    OdBlock block;
    block.base = od_computed_once(memory);
    // The last tiles overlap those before where tiles do not divide the box.
    const int x0 = blockIdx.x * C::W, y0 = blockIdx.y * C::T;
    block.x0 = x0 + C::W > OD_NX ? OD_NX - C::W : x0;
    block.y0 = y0 + C::T > OD_NY ? OD_NY - C::T : y0;
    block.begin = od_span_begin(span);
    block.end = od_span_end(span);
    block.first = od_first_plane(block.begin, 4);
    block.turns = block.end + 6 - block.first;
    block.low = !OD_WRAP_X && block.x0 == 0;
    block.high = !OD_WRAP_X && block.x0 + C::W == OD_NX;
    block.rim = block.x0 == 0 || block.x0 + C::W == OD_NX || block.y0 < 4 ||
                block.y0 + C::T + 4 > OD_NY;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        const int copies = OD_WRAP_X || OD_WRAP_Y ? OD_MENDERS : 0;
        for (int n = 0; n < C::B_MU0; ++n) od_barrier_of_boxes(block.base + 8 * n);
        for (int n = 0; n < 2; ++n) {
            od_barrier_of(od_two(block, C::B_MU0, n), C::WARPS + 2);
            od_barrier_of(od_two(block, C::B_FIRST, n), C::WARPS + 2);
            od_barrier_of(od_two(block, C::B_SECOND, n), C::WARPS);
            od_barrier_of(od_two(block, C::B_FAR_GHOSTS, n), 2, copies);
            od_barrier_of(od_two(block, C::B_NEAR_GHOSTS, n), 2, copies);
        }
        od_barrier_of(block.base + 8 * C::B_MU1, C::WARPS + 2);
        od_keep_time_dependent(block);
    }
    // One list serves both.
    if (block.rim && threadIdx.y < OD_MENDERS / 32) {
        const int thread = threadIdx.y * 32 + threadIdx.x;
        od_list_ghosts(block, od_at(block, C::AT_LIST + 2 * C::GHOSTS * thread), thread);
    }
    od_barriers_are_made();
    if (threadIdx.y < 2 * C::WARPS) {
        OD_MORE_REGISTERS(C::REGISTERS);
        od_within(block, out, steps);
    } else {
        OD_LESS_REGISTERS(C::REGISTERS_BESIDE);
        if (threadIdx.y < 2 * C::WARPS + 2) {
            od_beside_first(block, in, steps);
        } else {
            od_beside_potentials(block, map, in, steps);
        }
    }
}
