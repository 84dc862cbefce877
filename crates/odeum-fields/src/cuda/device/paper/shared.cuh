// The Shared method (fig. 3, table 4): blocks of threads with a point each overlap by a layer and
// go through the box along z; of the OD_PAPER_D layers in shared memory the last two are kept from
// one place to the next.
//
// Where table 4 cannot be meant as printed: the index of the next layers lacks the thread's own tz;
// and with three layers to a block (first generation) the shift of table 4 reads and writes layer 1
// at once, so that values wait in registers over a barrier.

#define OD_PAPER_Y OD_PAPER_W
#define OD_PAPER_Z (OD_PAPER_W * OD_PAPER_H)
// Values of an array in shared memory.
#define OD_PAPER_TILE (OD_PAPER_Z * OD_PAPER_D)

// `Rule` says how many arrays it reads and computes a point from them.
template <class Rule>
static __device__ __forceinline__ void od_paper_walk(
    const real *const (&from)[Rule::arrays], real *to, const OdPaperTask &task) {
    OD_PAPER_MEMORY(tile, Rule::arrays * OD_PAPER_TILE);
    const int tx = threadIdx.x, ty = threadIdx.y % OD_PAPER_H, tz = threadIdx.y / OD_PAPER_H;
    const int x = blockIdx.x * (OD_PAPER_W - 2) + tx, y = blockIdx.y * (OD_PAPER_H - 2) + ty;
    const bool inside = x < task.width && y < task.height;
    const bool computes = tx > 0 && tx < OD_PAPER_W - 1 && ty > 0 && ty < OD_PAPER_H - 1 &&
        tz > 0 && tz < OD_PAPER_D - 1 && x < task.width - 1 && y < task.height - 1;
    real *own = tile + tz * OD_PAPER_Z + ty * OD_PAPER_Y + tx;
    int z = tz;
    long long i = z * task.plane + (long long)y * task.row + x;
    if (inside && z < task.depth) {
#pragma unroll
        for (int n = 0; n < Rule::arrays; ++n) own[n * OD_PAPER_TILE] = from[n][i];
    }
    const int last = (task.depth - 3) / (OD_PAPER_D - 2);
    for (int k = 0; k <= last; ++k) {
        OD_PAPER_BARRIER();
        if (computes && z < task.depth - 1) Rule::update(own, to, i, task);
        OD_PAPER_BARRIER();
#if OD_PAPER_D > 3
        if (tz >= OD_PAPER_D - 2) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) {
                real *at = own + n * OD_PAPER_TILE;
                at[-(OD_PAPER_D - 2) * OD_PAPER_Z] = at[0];
            }
        }
#else
        real kept[Rule::arrays];
#pragma unroll
        for (int n = 0; n < Rule::arrays; ++n) kept[n] = own[n * OD_PAPER_TILE];
        OD_PAPER_BARRIER();
        if (tz >= OD_PAPER_D - 2) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) {
                own[n * OD_PAPER_TILE - (OD_PAPER_D - 2) * OD_PAPER_Z] = kept[n];
            }
        }
#endif
        OD_PAPER_BARRIER();
        z += OD_PAPER_D - 2;
        i += (OD_PAPER_D - 2) * task.plane;
        if (tz >= 2 && inside && z < task.depth) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) own[n * OD_PAPER_TILE] = from[n][i];
        }
    }
}
