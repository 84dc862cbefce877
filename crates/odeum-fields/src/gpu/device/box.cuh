// OD_DEPTH steps of forward Euler at once, for fields that stay in the second-level cache.
//
// There a kernel's start and the way to that cache cost as much as a step. A block computes the
// first step of a box of whole rows, OD_BOX_ROWS by OD_BOX_PLANES, and of what surrounds it, into
// shared memory, from there the second of the box and of a row and a plane less around it, and so
// on; the last leaves the block. What it then costs is to bring numbers into registers and to
// choose between them: so packs are wide, neighbours along x come from other threads, and ghosts
// that mirror are read where their images lie, not chosen.

// Threads of a block along x take a row, those along y a group of rows and a part of the planes.
// All take all steps, those beside the box too, of whose last results nothing is used.
#define OD_BOX_SIDE ((OD_DEPTH + OD_ROWS - 2) / OD_ROWS)
#define OD_BOX_GROUPS (OD_BOX_ROWS / OD_ROWS + 2 * OD_BOX_SIDE)
#define OD_BOX_PARTS (OD_BY / OD_BOX_GROUPS)
#define OD_BOX_ROW (OD_BX * OD_VEC)
#define OD_BOX_PLANE (OD_BOX_GROUPS * OD_ROWS * OD_BOX_ROW)
#define OD_BOX_VOLUME ((OD_BOX_PLANES + 2 * (OD_DEPTH - 1)) * OD_BOX_PLANE)

// Where warps are whole rows, neighbours along x come from their other threads; along a periodic
// axis the last and the first of them are neighbours too.
#if defined(__CUDA_ARCH__) && 32 % OD_BX == 0 && OD_BX * OD_BY % 32 == 0 && \
    (!OD_WRAP_X || OD_NX == OD_BOX_ROW)
#define OD_BOX_SHUFFLES 1
#else
#define OD_BOX_SHUFFLES 0
#endif

// What a thread has of a box and of what surrounds it.
struct OdBoxColumn {
    OdPlace place;
    // Its first cell in the lowest plane in shared memory; the rows before and behind its own,
    // counted from there.
    real *at;
    int below, above;
    // The first plane of the box.
    int z;
    int part;
    // Whether its rows are of the box itself.
    bool inside;
};

// A patch, given where each of its rows lies.
template <class Row> OD_FN void od_box_read(OdPatch<1> &patch, Row row_of, const OdPlace &place) {
    OD_EACH(j, OD_ROWS + 2) {
        const real *row = row_of(j);
        const OdPack pack = od_reload(row);
        OD_EACH(k, OD_VEC) patch.v[j][1 + k] = pack.v[k];
#if OD_BOX_SHUFFLES
        const int lane = threadIdx.x;
        const real left = __shfl_sync(~0u, pack.v[OD_VEC - 1], lane - 1, OD_BX);
        const real right = __shfl_sync(~0u, pack.v[0], lane + 1, OD_BX);
        patch.v[j][0] = !OD_WRAP_X && lane == 0 ? pack.v[0] : left;
        patch.v[j][OD_VEC + 1] = !OD_WRAP_X && lane == OD_BX - 1 ? pack.v[OD_VEC - 1] : right;
#else
        patch.v[j][0] = row[place.left];
        patch.v[j][OD_VEC + 1] = row[place.right];
#endif
    }
}

// Plane z of the results of step `taken`, in shared memory: two such fields take turns.
template <int taken> OD_FN real *od_box_plane(const OdBoxColumn &column, int s, int z) {
    const int n = z - column.z + OD_DEPTH - 1;
    return column.at + (taken % 2 * OD_S + s) * OD_BOX_VOLUME + n * OD_BOX_PLANE;
}

// A plane of the field after `taken` steps.
template <int taken> OD_FN void od_box_take(
    OdPatch<1> (&u)[OD_S], const OdBoxColumn &column, OdLevel<false> level, const real *in) {
    const OdPlace &place = column.place;
    OD_EACH(s, OD_S) {
        if constexpr (taken == 0) {
            const real *plane = od_plane(in, level) + s * OD_VOLUME;
            od_box_read(u[s], [&](int j) { return od_row(plane, place, j); }, place);
        } else {
            const int z = OD_WRAP_Z ? level.z : od_source(level.z, OD_NZ, false);
            const real *plane = od_box_plane<taken - 1>(column, s, z);
            const auto row_of = [&](int j) {
                if (j == 0) return plane + column.below;
                if (j > OD_ROWS) return plane + column.above;
                return plane + (j - 1) * OD_BOX_ROW;
            };
            od_box_read(u[s], row_of, place);
        }
    }
}

// Into shared memory, or out after the last step.
template <int taken> OD_FN void od_box_give(
    const OdPatch<0> (&result)[OD_S], const OdBoxColumn &column, int z, real *out) {
    if constexpr (taken + 1 < OD_DEPTH) {
        OD_EACH(s, OD_S) {
            OD_EACH(j, OD_ROWS) {
                OdPack pack;
                OD_EACH(k, OD_VEC) pack.v[k] = result[s].v[j][k];
                od_put(od_box_plane<taken>(column, s, z) + j * OD_BOX_ROW, pack);
            }
        }
    } else if (column.inside && z < OD_NZ) {
        od_write(result, out, z, column.place);
    }
}

// The step after `taken`, and those that follow.
template <int taken> OD_FN void od_box_steps(
    const OdBoxColumn &column, const real *in, real *out, const OdSteps &steps) {
    constexpr int around = OD_DEPTH - 1 - taken;
    constexpr int all = OD_BOX_PLANES + 2 * around;
    constexpr int own = (all + OD_BOX_PARTS - 1) / OD_BOX_PARTS;
    // Parts overlap where they do not divide the planes.
    const int part = column.part * own;
    const int first = all % OD_BOX_PARTS == 0 || part < all - own ? part : all - own;
    const int z = column.z - around + first;
    const OdStep &step = steps.at[taken];
    OdFlow<> flow[OD_S];
    OD_EACH(s, OD_S) od_rest(flow[s]);
    OD_EACH(n, own + 2) {
        const OdLevel<false> level = {z + n - 1};
        OdPatch<1> u[OD_S];
        OdPatch<0> result[OD_S];
        od_box_take<taken>(u, column, level, in);
        OD_EACH(s, OD_S) od_mend(u[s], s, column.place, step);
        od_stage(flow, u, level, column.place, step, result);
        if (n >= 2) od_box_give<taken>(result, column, level.z - 1, out);
    }
    if constexpr (around > 0) {
        OD_BLOCK_BARRIER();
        od_box_steps<taken + 1>(column, in, out, steps);
    }
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_box(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan) {
    OD_BLOCK_MEMORY(memory);
    const int group = threadIdx.y % OD_BOX_GROUPS;
    const int row = (group - OD_BOX_SIDE) * OD_ROWS;
    const int x = threadIdx.x * OD_VEC, y = blockIdx.y * OD_BOX_ROWS + row;
    OdBoxColumn column;
    // Rows beyond a boundary do as if they were the first, and are not used. Not the nearest: of a clamp
    // and a comparison with its bound ptxas 13.0 makes one VIMNMX.RELU whose predicate is wrong.
    const bool beyond = !OD_WRAP_Y && (y < 0 || y >= OD_NY);
    column.place = od_place(x, beyond ? 0 : od_source(y, OD_NY, OD_WRAP_Y));
    // A row before the first may be read, and is not used.
    column.at = memory + (1 + group * OD_ROWS) * OD_BOX_ROW + x;
    column.below = !OD_WRAP_Y && y == 0 ? 0 : -OD_BOX_ROW;
    column.above = (!OD_WRAP_Y && y + OD_ROWS >= OD_NY ? OD_ROWS - 1 : OD_ROWS) * OD_BOX_ROW;
    column.z = blockIdx.z * OD_BOX_PLANES;
    column.part = threadIdx.y / OD_BOX_GROUPS;
    column.inside = row >= 0 && row < OD_BOX_ROWS && y < OD_NY;
    od_box_steps<0>(column, in, out, steps);
}
