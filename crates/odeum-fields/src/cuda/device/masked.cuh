// Cells that solid ones are near, computed anew after the main kernel, which took these for others:
// what passes each face and edge, pair by pair, and F of that. Solid cells keep their values.
//
// A warp takes a word of the mask, a thread a cell of it. What the output held before, where a
// stage adds that, was kept before the main kernel.

// The value of a cell that may lie beyond the walls: rules along y, then z, then x.
OD_FN real od_value(const real *in, int s, int x, int y, int z, const OdStep &step) {
    const int i = od_found(x, OD_NX, OD_WRAP_X), j = od_found(y, OD_NY, OD_WRAP_Y);
    const int k = od_found(z, OD_NZ, OD_WRAP_Z);
    real value = __ldg(in + s * OD_VOLUME + (long long)k * OD_PLANE + (long long)j * OD_ROW + i);
    // Each face by its number, so that the compiler knows the rule.
    if (!OD_WRAP_Y && y < 0) value = od_ghost(s, 2, value, step);
    if (!OD_WRAP_Y && y >= OD_NY) value = od_ghost(s, 3, value, step);
    if (!OD_WRAP_Z && z < 0) value = od_ghost(s, 4, value, step);
    if (!OD_WRAP_Z && z >= OD_NZ) value = od_ghost(s, 5, value, step);
    if (!OD_WRAP_X && x < 0) value = od_ghost(s, 0, value, step);
    if (!OD_WRAP_X && x >= OD_NX) value = od_ghost(s, 1, value, step);
    return value;
}

struct OdCell {
    int x, y, z;
};

// The cell beyond face f of another: x low, x high, y low, …
OD_FN OdCell od_beside(const OdCell &cell, int f) {
    const int by = f % 2 == 0 ? -1 : 1;
    return OdCell{
        cell.x + (f / 2 == 0 ? by : 0), cell.y + (f / 2 == 1 ? by : 0),
        cell.z + (f / 2 == 2 ? by : 0)};
}

// The Laplacian of `value`, a function of cells. Edges as the processor's sweeps take them. Where
// values are CHEAP all are taken, and choices in place of branches share what they have in common.
template <bool CHEAP, class Value>
OD_FN real od_pairwise(const unsigned *mask, const OdCell &cell, const Value &value) {
    constexpr int at_once = CHEAP ? 6 : 1;
    const auto belongs = [&](const OdCell &c) { return od_belongs(mask, c.x, c.y, c.z); };
    const real here = value(cell);
    // What comes through each face.
    real faces[3] = {real(0), real(0), real(0)}, through[6];
    bool open[6];
#pragma unroll at_once
    for (int f = 0; f < 6; ++f) {
        const OdCell beside = od_beside(cell, f);
        open[f] = belongs(beside);
        through[f] = CHEAP || open[f] ? value(beside) - here : real(0);
        faces[f / 2] += open[f] ? through[f] : real(0);
    }
#if OD_EDGES
    real edges = real(0);
#pragma unroll at_once
    for (int f = 0; f < 4; ++f) {
#pragma unroll at_once
        for (int g = 2; g < 6; ++g) {
            if (g / 2 <= f / 2) continue;
            const OdCell corner = od_beside(od_beside(cell, f), g);
            const bool across = belongs(corner), either = open[f] || open[g];
            const real by = CHEAP || (across && either) ? value(corner) - here : real(0);
            const real along = open[f] ? through[f] : through[g];
            edges += across && either ? by : (!across && open[f] != open[g] ? along : real(0));
        }
    }
    return od_fma(R(2.0), faces[0] + (faces[1] + faces[2]), edges) * OD_SCALE;
#else
    return (faces[0] + od_fma(OD_WEIGHT_Y, faces[1], OD_WEIGHT_Z * faces[2])) * OD_SCALE;
#endif
}

// u, its Laplacians and the coordinates: what F reads, or of these what the potentials do.
template <bool FEEDING> OD_FN void od_inputs(
    real *to, const real *in, const unsigned *mask, const OdCell &cell, const OdStep &step) {
    OD_EACH(s, OD_S) {
        if (FEEDING && !od_feeds(s)) continue;
        const auto value = [&](const OdCell &c) { return od_value(in, s, c.x, c.y, c.z, step); };
        to[s] = value(cell);
        to[OD_S + s] = od_pairwise<true>(mask, cell, value);
    }
    to[2 * OD_S] = od_centre(0, cell.x);
    to[2 * OD_S + 1] = od_centre(1, cell.y);
    to[2 * OD_S + 2] = od_centre(2, OD_CELL_Z(cell.z));
}

extern "C" __global__ void __launch_bounds__(256) od_masked(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps,
    const unsigned *__restrict__ mask, const int *__restrict__ words, const int count,
    const real *__restrict__ kept) {
    const int n = blockIdx.x * 8 + threadIdx.y;
    if (n >= count) return;
    const OdStep &step = steps.at[0];
    const int word = __ldg(words + n), row = word / OD_MASK_WORDS;
    const OdCell cell = {
        (word % OD_MASK_WORDS) * 32 + (int)threadIdx.x, row % OD_NY, row / OD_NY};
    if (cell.x >= OD_NX) return;
    const long long here =
        (long long)cell.z * OD_PLANE + (long long)cell.y * OD_ROW + cell.x;
    if (!od_belongs(mask, cell.x, cell.y, cell.z)) {
        const bool rests = !OD_BLEND || OD_ITSELF || OD_OWN || OD_TERMS > 0;
        for (int s = 0; s < OD_S; ++s) {
            const long long at = s * OD_VOLUME + here;
            out[at] = rests ? __ldg(in + at) : real(0);
        }
        return;
    }
    real inputs[2 * OD_S + 3 + OD_POTENTIALS], slope[OD_S];
    od_inputs<false>(inputs, in, mask, cell, step);
#if OD_POTENTIALS > 0
    for (int p = 0; p < OD_POTENTIALS; ++p) {
        // Nothing of a potential passes a wall: that of a ghost is that of its mirror image.
        inputs[2 * OD_S + 3 + p] = od_pairwise<false>(mask, cell, [&](const OdCell &c) {
            const OdCell found = {
                od_found(c.x, OD_NX, OD_WRAP_X), od_found(c.y, OD_NY, OD_WRAP_Y),
                od_found(c.z, OD_NZ, OD_WRAP_Z)};
            real local[2 * OD_S + 3] = {}, values[OD_POTENTIALS];
            od_inputs<true>(local, in, mask, found, step);
            od_masked_potentials(step.t, local, local, values);
            return values[p];
        });
    }
#endif
    od_masked_rhs(step.t, inputs, inputs, slope);
    for (int s = 0; s < OD_S; ++s) {
        const long long at = s * OD_VOLUME + here;
        real value = od_fma(step.h, slope[s], od_itself(inputs[s], step));
        for (int k = 0; k < OD_SOURCES; ++k) {
            if (od_source_species(k) == s && od_source_cell(k, 0) == cell.x &&
                od_source_cell(k, 1) == cell.y && od_source_cell(k, 2) == OD_CELL_Z(cell.z)) {
                value = od_fma(step.h, step.rate[k], value);
            }
        }
#if OD_BLEND
        for (int k = 0; k < OD_TERMS; ++k) {
            value = od_fma(__ldg(step.term[k] + at), step.factor[k], value);
        }
        if (OD_OWN) value = od_fma(kept[((long long)n * OD_S + s) * 32 + threadIdx.x], step.own, value);
#endif
        out[at] = value;
    }
}

// Keeps what the output holds in these words.
extern "C" __global__ void __launch_bounds__(256) od_keep(
    const real *__restrict__ out, const int *__restrict__ words, const int count, real *kept) {
    const int n = blockIdx.x * 8 + threadIdx.y;
    if (n >= count) return;
    const int word = __ldg(words + n), row = word / OD_MASK_WORDS;
    const int x = (word % OD_MASK_WORDS) * 32 + threadIdx.x;
    if (x >= OD_NX) return;
    const long long here =
        (long long)(row / OD_NY) * OD_PLANE + (long long)(row % OD_NY) * OD_ROW + x;
    for (int s = 0; s < OD_S; ++s) {
        kept[((long long)n * OD_S + s) * 32 + threadIdx.x] = out[s * OD_VOLUME + here];
    }
}
