// Cells that solid ones are near, computed anew after the main kernel, which took these for others:
// what passes each face and edge, by the code of the cell, and F of that. Solid cells keep their
// values.
//
// A warp takes a word of the mask, a thread a cell of it, a block words that lie together. Threads
// wait for the cache, so as many as can be are at work, with 32 registers each; and solid cells are
// told apart at the end, since to know them is one more wait. What the output held before, where a
// stage adds that, was kept before the main kernel.

// A cell and where those beside it are found: beyond a boundary where their values come from. AMID: no
// boundary is beside it along y and z, so that rows and planes are compiled in.
template <bool AMID> struct OdBoundaryCells {
    OdCell cell;
    unsigned code;
    // Of a row: the cell before, this one, the one after it, counted from the first of a field.
    long long row[3];
    // To the rows and planes before and after.
    int rows[2];
    long long planes[2];
};

template <bool AMID> OD_FN OdBoundaryCells<AMID> od_boundary_cells(const OdCell &cell, unsigned code) {
    OdBoundaryCells<AMID> near = {cell, code};
    const long long here =
        (long long)cell.z * OD_PLANE + (long long)cell.y * OD_ROW + cell.x;
    near.row[0] = here + (cell.x > 0 ? -1 : (OD_WRAP_X ? OD_NX - 1 : 0));
    near.row[1] = here;
    near.row[2] = here + (cell.x < OD_NX - 1 ? 1 : (OD_WRAP_X ? 1 - OD_NX : 0));
    near.rows[0] = AMID || cell.y > 0 ? -OD_ROW : (OD_WRAP_Y ? (OD_NY - 1) * OD_ROW : 0);
    near.rows[1] = AMID || cell.y < OD_NY - 1 ? OD_ROW : (OD_WRAP_Y ? (1 - OD_NY) * OD_ROW : 0);
    const long long round = OD_WRAP_Z ? (OD_NZ - 1) * (long long)OD_PLANE : 0;
    near.planes[0] = AMID || cell.z > 0 ? -(long long)OD_PLANE : round;
    near.planes[1] = AMID || cell.z < OD_NZ - 1 ? (long long)OD_PLANE : -round;
    return near;
}

// The value of species s, or s < 0 of a potential, so far along each axis. Rules of boundaries along y,
// then z, then x.
template <bool AMID> OD_FN real od_value(
    const real *field, int s, const OdBoundaryCells<AMID> &near, int x, int y, int z, const OdStep &step) {
    const OdCell &cell = near.cell;
    real value = __ldg(
        field + near.row[1 + x] + (y == 0 ? 0 : near.rows[y > 0]) +
        (z == 0 ? 0 : near.planes[z > 0]));
    // Each face by its number, so that the compiler knows the rule.
    if (!AMID && !OD_WRAP_Y && y < 0 && cell.y == 0) value = od_ghost(s, 2, value, step);
    if (!AMID && !OD_WRAP_Y && y > 0 && cell.y == OD_NY - 1) value = od_ghost(s, 3, value, step);
    if (!AMID && !OD_WRAP_Z && z < 0 && cell.z == 0) value = od_ghost(s, 4, value, step);
    if (!AMID && !OD_WRAP_Z && z > 0 && cell.z == OD_NZ - 1) value = od_ghost(s, 5, value, step);
    if (!OD_WRAP_X && x < 0 && cell.x == 0) value = od_ghost(s, 0, value, step);
    if (!OD_WRAP_X && x > 0 && cell.x == OD_NX - 1) value = od_ghost(s, 1, value, step);
    return value;
}

template <bool AMID> OD_FN real od_laplacian(
    const real *field, int s, const OdBoundaryCells<AMID> &near, const OdStep &step) {
    const real here = __ldg(field + near.row[1]);
    // Choices, not products with zero: what a solid cell holds may be no number.
    real faces[3] = {real(0), real(0), real(0)};
    OD_EACH(f, 6) {
        const real by =
            od_value(field, s, near, od_by(f, 0), od_by(f, 1), od_by(f, 2), step) - here;
        const unsigned weight = od_face_weight(near.code, f);
        const real sum = faces[f / 2];
        faces[f / 2] = weight != 0 ? (OD_EDGES ? od_fma((real)weight, by, sum) : sum + by) : sum;
    }
#if OD_EDGES
    real edges[2] = {real(0), real(0)};
    OD_EACH(n, 12) {
        const int f = od_edge_first(n), g = od_edge_second(n);
        const real by = od_value(
            field, s, near, od_by(f, 0) + od_by(g, 0), od_by(f, 1) + od_by(g, 1),
            od_by(f, 2) + od_by(g, 2), step) - here;
        edges[n % 2] += od_edge_open(near.code, n) ? by : real(0);
    }
    return (faces[0] + (faces[1] + faces[2]) + (edges[0] + edges[1])) * OD_SCALE;
#else
    return (faces[0] + od_fma(OD_WEIGHT_Y, faces[1], OD_WEIGHT_Z * faces[2])) * OD_SCALE;
#endif
}

// u and its Laplacians: what F reads, or of these what the potentials do.
template <bool FEEDING, bool AMID> OD_FN void od_inputs(
    real *to, const real *in, const OdBoundaryCells<AMID> &near, const OdStep &step) {
    OD_EACH(s, OD_S) {
        if (FEEDING && !od_feeds(s)) {
            to[s] = to[OD_S + s] = real(0);
            continue;
        }
        to[s] = __ldg(in + s * OD_VOLUME + near.row[1]);
        to[OD_S + s] = od_laplacian(in + s * OD_VOLUME, s, near, step);
    }
}

OD_FN void od_coordinates(real *to, const OdCell &cell) {
    to[0] = od_centre(0, cell.x);
    to[1] = od_centre(1, cell.y);
    to[2] = od_centre(2, OD_CELL_Z(cell.z));
}

// Whether no boundary is beside a row.
OD_FN bool od_amid(const OdCell &cell) {
    return cell.y > 0 && cell.y < OD_NY - 1 && cell.z > 0 && cell.z < OD_NZ - 1;
}

#if OD_POTENTIALS > 0
// The potentials of these words, a field each.
extern "C" __global__ void __launch_bounds__(256, 8) od_boundary_cells_potentials(
    const real *__restrict__ in, const OdSteps steps, const int *__restrict__ words,
    const unsigned *__restrict__ codes, const int count, real *__restrict__ potentials) {
    const int n = blockIdx.x * 8 + threadIdx.y;
    if (n >= count) return;
    const OdStep &step = steps.at[0];
    const OdCell cell = od_word_cell(__ldg(words + n));
    if (cell.x >= OD_NX) return;
    const unsigned code = __ldg(codes + (long long)n * 32 + threadIdx.x);
    real inputs[2 * OD_S + 3], values[OD_POTENTIALS];
    if (od_amid(cell)) {
        od_inputs<true>(inputs, in, od_boundary_cells<true>(cell, code), step);
    } else {
        od_inputs<true>(inputs, in, od_boundary_cells<false>(cell, code), step);
    }
    od_coordinates(inputs + 2 * OD_S, cell);
    od_masked_potentials(step.t, inputs, inputs, values);
    const long long here = od_boundary_cells<true>(cell, code).row[1];
    if (!(code & OD_IN_DOMAIN)) return;
    OD_EACH(p, OD_POTENTIALS) potentials[p * OD_VOLUME + here] = values[p];
}
#endif

#if OD_VELOCITY
// What a velocity that is the same everywhere carries in through the open faces, upwind.
template <bool AMID> OD_FN real od_boundary_cells_velocity(
    const real *field, int s, const OdBoundaryCells<AMID> &near, real here, const OdStep &step) {
    const bool low[3] = {OD_VELOCITY_LOW_X != 0, OD_VELOCITY_LOW_Y != 0, OD_VELOCITY_LOW_Z != 0};
    real gain = real(0);
    OD_EACH(axis, 3) {
        const int from = 2 * axis + (low[axis] ? 0 : 1), to = 2 * axis + (low[axis] ? 1 : 0);
        const real there =
            od_value(field, s, near, od_by(from, 0), od_by(from, 1), od_by(from, 2), step);
        const real into = od_face_weight(near.code, from) != 0 ? there : real(0);
        const real away = od_face_weight(near.code, to) != 0 ? here : real(0);
        gain = od_fma(into - away, step.speed[axis], gain);
    }
    return gain;
}
#endif

// All that a result is made of which comes from other cells.
template <bool AMID> OD_FN void od_around(
    real *inputs, real *gains, const real *in, const real *potentials, const OdCell &cell,
    unsigned code, const OdStep &step) {
    const OdBoundaryCells<AMID> near = od_boundary_cells<AMID>(cell, code);
    od_inputs<false>(inputs, in, near, step);
#if OD_POTENTIALS > 0
    // Nothing of a potential passes a boundary: that of a ghost is that of its mirror image.
    OD_EACH(p, OD_POTENTIALS) {
        inputs[2 * OD_S + 3 + p] = od_laplacian(potentials + p * OD_VOLUME, -1, near, step);
    }
#endif
#if OD_VELOCITY
    OD_EACH(s, OD_S) {
        gains[s] = od_advected(s)
            ? od_boundary_cells_velocity(in + s * OD_VOLUME, s, near, inputs[s], step) : real(0);
    }
#endif
}

extern "C" __global__ void __launch_bounds__(256, 8) od_masked(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps,
    const int *__restrict__ words, const unsigned *__restrict__ codes, const int count,
    const real *__restrict__ kept, const real *__restrict__ potentials) {
    const int n = blockIdx.x * 8 + threadIdx.y;
    if (n >= count) return;
    const OdStep &step = steps.at[0];
    const OdCell cell = od_word_cell(__ldg(words + n));
    if (cell.x >= OD_NX) return;
    const unsigned code = __ldg(codes + (long long)n * 32 + threadIdx.x);
    const long long here = od_boundary_cells<true>(cell, code).row[1];
    real inputs[2 * OD_S + 3 + OD_POTENTIALS], gains[OD_S], rhs[OD_S];
    if (od_amid(cell)) {
        od_around<true>(inputs, gains, in, potentials, cell, code, step);
    } else {
        od_around<false>(inputs, gains, in, potentials, cell, code, step);
    }
    od_coordinates(inputs + 2 * OD_S, cell);
    od_masked_rhs(step.t, inputs, inputs, rhs);
    const bool rests = !OD_BLEND || OD_ITSELF || OD_OWN || OD_TERMS > 0;
    for (int s = 0; s < OD_S; ++s) {
        const long long at = s * OD_VOLUME + here;
        if (OD_VELOCITY) rhs[s] += gains[s];
        real value = od_fma(step.h, rhs[s], od_itself(inputs[s], step));
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
        out[at] = code & OD_IN_DOMAIN ? value : (rests ? inputs[s] : real(0));
    }
}

#if OD_OWN
// Keeps what the output holds in these words.
extern "C" __global__ void __launch_bounds__(256, 8) od_keep(
    const real *__restrict__ out, const int *__restrict__ words, const int count, real *kept) {
    const int n = blockIdx.x * 8 + threadIdx.y;
    if (n >= count) return;
    const OdCell cell = od_word_cell(__ldg(words + n));
    if (cell.x >= OD_NX) return;
    const long long here = od_boundary_cells<true>(cell, 0).row[1];
    for (int s = 0; s < OD_S; ++s) {
        kept[((long long)n * OD_S + s) * 32 + threadIdx.x] = out[s * OD_VOLUME + here];
    }
}
#endif
