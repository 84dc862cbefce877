// The Shared method (fig. 3, table 4): blocks of threads with a point each overlap by a layer and
// go through the box along z; of the OD_PAPER_D layers in shared memory the last two are kept from
// one place to the next.
//
// Where table 4 cannot be meant as printed: the index of the next layers lacks the thread's own tz;
// and with three layers to a block (first generation) the shift of table 4 reads and writes layer 1
// at once, so that values wait in registers over a barrier.

#define OD_PUBLISHED_Y OD_PUBLISHED_W
#define OD_PUBLISHED_Z (OD_PUBLISHED_W * OD_PUBLISHED_H)
// Values of an array in shared memory.
#define OD_PUBLISHED_TILE (OD_PUBLISHED_Z * OD_PUBLISHED_D)

// `Rule` says how many arrays it reads and computes a point from them.
template <class Rule>
static __device__ __forceinline__ void od_published_walk(
    const real *const (&from)[Rule::arrays], real *to, const OdPublishedTask &task) {
    OD_PUBLISHED_MEMORY(tile, Rule::arrays * OD_PUBLISHED_TILE);
    const int tx = threadIdx.x, ty = threadIdx.y % OD_PUBLISHED_H, tz = threadIdx.y / OD_PUBLISHED_H;
    const int x = blockIdx.x * (OD_PUBLISHED_W - 2) + tx, y = blockIdx.y * (OD_PUBLISHED_H - 2) + ty;
    const bool inside = x < task.width && y < task.height;
    const bool computes = tx > 0 && tx < OD_PUBLISHED_W - 1 && ty > 0 && ty < OD_PUBLISHED_H - 1 &&
        tz > 0 && tz < OD_PUBLISHED_D - 1 && x < task.width - 1 && y < task.height - 1;
    real *own = tile + tz * OD_PUBLISHED_Z + ty * OD_PUBLISHED_Y + tx;
    int z = tz;
    long long i = z * task.plane + (long long)y * task.row + x;
    if (inside && z < task.depth) {
#pragma unroll
        for (int n = 0; n < Rule::arrays; ++n) own[n * OD_PUBLISHED_TILE] = from[n][i];
    }
    const int last = (task.depth - 3) / (OD_PUBLISHED_D - 2);
    for (int k = 0; k <= last; ++k) {
        OD_PUBLISHED_BARRIER();
        if (computes && z < task.depth - 1) Rule::update(own, to, i, task);
        OD_PUBLISHED_BARRIER();
#if OD_PUBLISHED_D > 3
        if (tz >= OD_PUBLISHED_D - 2) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) {
                real *at = own + n * OD_PUBLISHED_TILE;
                at[-(OD_PUBLISHED_D - 2) * OD_PUBLISHED_Z] = at[0];
            }
        }
#else
        real kept[Rule::arrays];
#pragma unroll
        for (int n = 0; n < Rule::arrays; ++n) kept[n] = own[n * OD_PUBLISHED_TILE];
        OD_PUBLISHED_BARRIER();
        if (tz >= OD_PUBLISHED_D - 2) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) {
                own[n * OD_PUBLISHED_TILE - (OD_PUBLISHED_D - 2) * OD_PUBLISHED_Z] = kept[n];
            }
        }
#endif
        OD_PUBLISHED_BARRIER();
        z += OD_PUBLISHED_D - 2;
        i += (OD_PUBLISHED_D - 2) * task.plane;
        if (tz >= 2 && inside && z < task.depth) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) own[n * OD_PUBLISHED_TILE] = from[n][i];
        }
    }
}
