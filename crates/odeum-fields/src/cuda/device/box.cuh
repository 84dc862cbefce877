// Two steps of forward Euler at once, for fields that stay in the second-level cache.
//
// There a kernel's start and the way to that cache cost as much as a step. A block computes the
// first step of a box of whole rows, OD_BOX_ROWS by OD_BOX_PLANES, and of what surrounds it, into
// shared memory, and from there the second step of the box. Of the surroundings that lie beyond a
// wall nothing is computed: ghosts follow from the box.

// Threads of a block along x take a row, those along y rows and one of two halves of the planes.
#define OD_BOX_FIRST ((OD_BOX_PLANES + 2) / 2)
#define OD_BOX_SECOND (OD_BOX_PLANES / 2)
// The box with what surrounds it: OD_ROWS rows on either side, one plane.
#define OD_BOX_GROUPS (OD_BOX_ROWS / OD_ROWS + 2)
#define OD_BOX_ROW (OD_BX * OD_VEC)
#define OD_BOX_PLANE (OD_BOX_GROUPS * OD_ROWS * OD_BOX_ROW)
#define OD_BOX_VOLUME ((OD_BOX_PLANES + 2) * OD_BOX_PLANE)

// Where a warp is a row of wide packs, neighbours along x come from its other threads; along a
// periodic axis the last and the first are neighbours too.
#if defined(__CUDA_ARCH__) && OD_BX == 32 && OD_VEC == 4 && (!OD_WRAP_X || OD_NX == OD_BOX_ROW)
#define OD_BOX_SHUFFLES 1
#else
#define OD_BOX_SHUFFLES 0
#endif

// A patch, given where each of its rows lies.
template <class Row> OD_FN void od_box_read(OdPatch<1> &patch, Row row_of, const OdPlace &place) {
    OD_EACH(j, OD_ROWS + 2) {
        const real *row = row_of(j);
        const OdPack pack = od_reload(row);
        OD_EACH(k, OD_VEC) patch.v[j][1 + k] = pack.v[k];
#if OD_BOX_SHUFFLES
        const int lane = threadIdx.x;
        patch.v[j][0] = __shfl_sync(~0u, pack.v[OD_VEC - 1], lane - 1);
        patch.v[j][OD_VEC + 1] = __shfl_sync(~0u, pack.v[0], lane + 1);
#else
        patch.v[j][0] = row[OD_WRAP_X ? place.left[0] : -1];
        patch.v[j][OD_VEC + 1] = row[OD_WRAP_X ? place.right[0] : OD_VEC];
#endif
    }
}

// Takes `planes` planes of a group of rows, from plane z on, through step `step`. `read` gives
// patches of a plane, `write` is given what becomes of it, with its number counted from z.
template <int planes, class Read, class Write> OD_FN void od_box_step(
    int z, const OdPlace &place, const OdStep &step, Read read, Write write) {
    OdFlow<0> flow[OD_S];
    OD_EACH(s, OD_S) od_rest(flow[s]);
    OD_EACH(n, planes + 2) {
        const OdLevel<false> level = {z + n - 1};
        OdPatch<1> u[OD_S];
        OdPatch<0> result[OD_S];
        OD_EACH(s, OD_S) read(u[s], s, level, n);
        if (OD_WRAP_Z || (level.z >= 0 && level.z <= OD_NZ)) {
            OD_EACH(s, OD_S) od_mend<1>(u[s], s, place, step);
            od_stage<0>(flow, u, level, place, step, result);
            if (n >= 2) write(result, n - 2);
        }
    }
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_box(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan) {
    OD_BLOCK_MEMORY(memory);
    // Neighbours of the first and the last value are read, and not used.
    real *const box = memory + OD_VEC;
    const int x = threadIdx.x * OD_VEC;
    const int y0 = blockIdx.y * OD_BOX_ROWS, z0 = blockIdx.z * OD_BOX_PLANES;
    const int group = threadIdx.y % OD_BOX_GROUPS, half = threadIdx.y / OD_BOX_GROUPS;
    const int y = y0 + (group - 1) * OD_ROWS;
    if (OD_WRAP_Y || (y >= 0 && y < OD_NY)) {
        const OdPlace place = od_place(x, OD_WRAP_Y ? od_modulo(y, OD_NY) : y);
        real *const to = box + group * OD_ROWS * OD_BOX_ROW + x;
        const int first = half * OD_BOX_FIRST;
        od_box_step<OD_BOX_FIRST>(
            z0 - 1 + first, place, steps.at[0],
            [&](OdPatch<1> &u, int s, OdLevel<false> level, int) {
                const real *plane = od_plane(in, level) + s * OD_VOLUME;
                od_box_read(u, [&](int j) { return od_row<1>(plane, place, j); }, place);
            },
            [&](const OdPatch<0> (&result)[OD_S], int n) {
                OD_EACH(s, OD_S) {
                    OD_EACH(j, OD_ROWS) {
                        OdPack pack;
                        OD_EACH(k, OD_VEC) pack.v[k] = result[s].v[j][k];
                        od_put(
                            to + s * OD_BOX_VOLUME + (first + n) * OD_BOX_PLANE + j * OD_BOX_ROW,
                            pack);
                    }
                }
            });
    }
    OD_BLOCK_BARRIER();
    const int inside = threadIdx.y % (OD_BOX_GROUPS - 2);
    const int part = threadIdx.y / (OD_BOX_GROUPS - 2);
    const int row = y0 + inside * OD_ROWS;
    if (part >= 2 || row >= OD_NY) return;
    const OdPlace place = od_place(x, row);
    const int first = part * OD_BOX_SECOND, z = z0 + first;
    const real *const from = box + (inside + 1) * OD_ROWS * OD_BOX_ROW + x;
    od_box_step<OD_BOX_SECOND>(
        z, place, steps.at[1],
        [&](OdPatch<1> &u, int s, OdLevel<false>, int n) {
            const real *plane = from + s * OD_BOX_VOLUME + (first + n) * OD_BOX_PLANE;
            od_box_read(u, [&](int j) { return plane + (j - 1) * OD_BOX_ROW; }, place);
        },
        [&](const OdPatch<0> (&result)[OD_S], int n) {
            if (z + n < OD_NZ) od_write(result, out, z + n, place);
        });
}
