// The Moving Tiles method (fig. 4, table 5): blocks overlap along y and z and go through the box
// along x, so that rows are read and written from multiples of the block's width on. Shared memory
// holds a point to the left, the points that are computed, and as many that come next.
//
// Table 5 reads tile k + 2 up to k = Width/bW - 1, two tiles beyond the end of the row; here no
// tile is read that is not there, and none is computed.

// Of a line in shared memory.
#define OD_PUBLISHED_Y (2 * OD_PUBLISHED_W + 1)
#define OD_PUBLISHED_Z (OD_PUBLISHED_Y * OD_PUBLISHED_H)
// Values of an array in shared memory.
#define OD_PUBLISHED_TILE (OD_PUBLISHED_Z * OD_PUBLISHED_D)

// `Rule` says how many arrays it reads and computes a point from them.
template <class Rule>
static __device__ __forceinline__ void od_published_walk(
    const real *const (&from)[Rule::arrays], real *to, const OdPublishedTask &task) {
    OD_PUBLISHED_MEMORY(tile, Rule::arrays * OD_PUBLISHED_TILE);
    const int tx = threadIdx.x, ty = threadIdx.y % OD_PUBLISHED_H, tz = threadIdx.y / OD_PUBLISHED_H;
    const int y = blockIdx.x * (OD_PUBLISHED_H - 2) + ty, z = blockIdx.y * (OD_PUBLISHED_D - 2) + tz;
    const bool inside = y < task.height && z < task.depth;
    const bool computes = ty > 0 && ty < OD_PUBLISHED_H - 1 && tz > 0 && tz < OD_PUBLISHED_D - 1 &&
        y < task.height - 1 && z < task.depth - 1;
    real *line = tile + tz * OD_PUBLISHED_Z + ty * OD_PUBLISHED_Y;
    real *own = line + tx + 1;
    long long i = z * task.plane + (long long)y * task.row + tx;
    if (inside) {
#pragma unroll
        for (int n = 0; n < Rule::arrays; ++n) {
            own[n * OD_PUBLISHED_TILE] = from[n][i];
            // The padding of a row is a whole number of tiles.
            if (OD_PUBLISHED_W < task.row) {
                own[n * OD_PUBLISHED_TILE + OD_PUBLISHED_W] = from[n][i + OD_PUBLISHED_W];
            }
        }
    }
    for (int begin = 0; begin < task.width; begin += OD_PUBLISHED_W) {
        const int x = begin + tx;
        OD_PUBLISHED_BARRIER();
        if (computes && x > 0 && x < task.width - 1) Rule::update(own, to, i, task);
        OD_PUBLISHED_BARRIER();
#pragma unroll
        for (int n = 0; n < Rule::arrays; ++n) {
            // The last thread reads this place before it writes it.
            if (tx == OD_PUBLISHED_W - 1) line[n * OD_PUBLISHED_TILE] = own[n * OD_PUBLISHED_TILE];
            own[n * OD_PUBLISHED_TILE] = own[n * OD_PUBLISHED_TILE + OD_PUBLISHED_W];
        }
        OD_PUBLISHED_BARRIER();
        i += OD_PUBLISHED_W;
        if (inside && begin + 2 * OD_PUBLISHED_W < task.row) {
#pragma unroll
            for (int n = 0; n < Rule::arrays; ++n) {
                own[n * OD_PUBLISHED_TILE + OD_PUBLISHED_W] = from[n][i + OD_PUBLISHED_W];
            }
        }
    }
}
