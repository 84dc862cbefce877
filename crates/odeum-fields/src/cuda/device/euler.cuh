// A step of forward Euler: every cell is read once from memory and written once.
//
// A thread owns OD_VEC by OD_ROWS columns of cells and goes up along z through `planes` planes,
// OD_AHEAD planes of loads under way. There is no barrier and no shared memory: what neighbours
// read both comes from the caches.

#define OD_THREADS (OD_BX * OD_BY)

extern "C" __global__ void __launch_bounds__(OD_THREADS, OD_BLOCKS_PER_SM)
od_euler(const real *__restrict__ in, real *__restrict__ out, const OdStep step, const int planes) {
    const int x = (blockIdx.x * OD_BX + threadIdx.x) * OD_VEC;
    const int y = (blockIdx.y * OD_BY + threadIdx.y) * OD_ROWS;
    if (x >= OD_NX || y >= OD_NY) return;
    const int begin = blockIdx.z * planes;
    const int end = begin + planes < OD_NZ ? begin + planes : OD_NZ;
    const OdPlace place = od_place(x, y);
    OdFlow flow[OD_S];
    OdCells blown;
#pragma unroll
    for (int s = 0; s < OD_S; ++s) {
        od_rest(flow[s]);
#pragma unroll
        for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
            for (int k = 0; k < OD_VEC; ++k) blown.v[s][j][k] = real(0);
        }
    }
    OdRows rows[OD_AHEAD + 1][OD_S];
#pragma unroll
    for (int ahead = 0; ahead < OD_AHEAD; ++ahead) {
        // Of a thin slab there may be no such plane; what is read is then not used.
        const int z = begin - 1 + ahead < end ? begin - 1 + ahead : end;
        const real *plane = in + (long long)od_source(z, OD_NZ, OD_WRAP_Z) * OD_PLANE;
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            od_read(rows[ahead][s], plane + s * OD_VOLUME, place);
        }
    }
#pragma unroll OD_UNROLL
    for (int z = begin - 1; z <= end; ++z) {
        const int far = z + OD_AHEAD < end ? z + OD_AHEAD : end;
        const real *plane = in + (long long)od_source(far, OD_NZ, OD_WRAP_Z) * OD_PLANE;
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            od_read(rows[OD_AHEAD][s], plane + s * OD_VOLUME, place);
        }
        OdCells laplacian, here, gain;
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            od_walls(rows[0][s], s, z, place, step);
#pragma unroll
            for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                for (int k = 0; k < OD_VEC; ++k) {
                    const real c = flow[s].c[j][k];
                    here.v[s][j][k] = c;
#if OD_WIND
                    const real above = rows[0][s].pack[j + 1].v[k];
                    const real brought = blown.v[s][j][k];
                    gain.v[s][j][k] =
                        OD_WIND_LOW_Z ? brought : od_fma(above - c, step.speed[2], brought);
                    blown.v[s][j][k] = od_blown(rows[0][s], j, k, c, step);
#endif
                }
            }
            od_push(flow[s], rows[0][s], laplacian.v[s], OdEnds{});
        }
        if (z > begin) {
            OdPack result[OD_S][OD_ROWS];
            const real beyond[OD_POTENTIALS + 1][OD_ROWS][OD_VEC] = {};
            od_advance(here, laplacian, gain, beyond, x, y, z - 1, step, result);
            real *to = out + (long long)(z - 1) * OD_PLANE;
#pragma unroll
            for (int s = 0; s < OD_S; ++s) {
#pragma unroll
                for (int j = 0; j < OD_ROWS; ++j) {
                    // Cells after the end of a row are padding.
                    if (y + j < OD_NY) {
                        od_store(to + s * OD_VOLUME + (y + j) * OD_ROW + x, result[s][j]);
                    }
                }
            }
        }
#pragma unroll
        for (int ahead = 0; ahead < OD_AHEAD; ++ahead) {
#pragma unroll
            for (int s = 0; s < OD_S; ++s) rows[ahead][s] = rows[ahead + 1][s];
        }
    }
}
