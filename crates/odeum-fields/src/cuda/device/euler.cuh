// A step of forward Euler: every cell is read once from memory and written once.
//
// A thread owns OD_VEC by OD_ROWS columns of cells and goes up along z through `planes` planes,
// OD_AHEAD planes of loads under way. There is no barrier and no shared memory: what neighbours
// read both comes from the caches.

#define OD_THREADS (OD_BX * OD_BY)

// What a wind that is the same everywhere carries in, upwind, but for the part along z when it
// comes from above, which is not read yet.
OD_FN real od_blown(const OdRows &rows, int j, int k, real below, const OdStep &step) {
    const real c = rows.pack[j + 1].v[k];
#if OD_WIND_LOW_X
    const real along_x = k == 0 ? rows.left[j + 1] : rows.pack[j + 1].v[k == 0 ? 0 : k - 1];
#else
    const real along_x =
        k == OD_VEC - 1 ? rows.right[j + 1] : rows.pack[j + 1].v[k == OD_VEC - 1 ? 0 : k + 1];
#endif
    const real along_y = OD_WIND_LOW_Y ? rows.pack[j].v[k] : rows.pack[j + 2].v[k];
    const real plane = od_fma(along_x - c, step.speed[0], (along_y - c) * step.speed[1]);
    return OD_WIND_LOW_Z ? od_fma(below - c, step.speed[2], plane) : plane;
}

extern "C" __global__ void __launch_bounds__(OD_THREADS, OD_BLOCKS_PER_SM)
od_euler(const real *__restrict__ in, real *__restrict__ out, const OdStep step, const int planes) {
    const int x = (blockIdx.x * OD_BX + threadIdx.x) * OD_VEC;
    const int y = (blockIdx.y * OD_BY + threadIdx.y) * OD_ROWS;
    if (x >= OD_NX || y >= OD_NY) return;
    const int begin = blockIdx.z * planes;
    const int end = begin + planes < OD_NZ ? begin + planes : OD_NZ;
    const OdPlace place = od_place(x, y);
    OdFlow flow[OD_S];
#if OD_WIND
    real blown[OD_S][OD_ROWS][OD_VEC];
#endif
#pragma unroll
    for (int s = 0; s < OD_S; ++s) {
#pragma unroll
        for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
            for (int k = 0; k < OD_VEC; ++k) {
                flow[s].a[j][k] = flow[s].b[j][k] = flow[s].c[j][k] = real(0);
#if OD_WIND
                blown[s][j][k] = real(0);
#endif
            }
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
        real laplacian[OD_S][OD_ROWS][OD_VEC], here[OD_S][OD_ROWS][OD_VEC];
#if OD_WIND
        real gain[OD_S][OD_ROWS][OD_VEC];
#endif
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            od_walls(rows[0][s], s, z, place, step);
#pragma unroll
            for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                for (int k = 0; k < OD_VEC; ++k) {
                    const real c = flow[s].c[j][k];
                    here[s][j][k] = c;
#if OD_WIND
                    gain[s][j][k] = blown[s][j][k];
                    if (!OD_WIND_LOW_Z) {
                        const real above = rows[0][s].pack[j + 1].v[k];
                        gain[s][j][k] = od_fma(above - c, step.speed[2], gain[s][j][k]);
                    }
                    blown[s][j][k] = od_blown(rows[0][s], j, k, c, step);
#endif
                }
            }
            od_push(flow[s], rows[0][s], laplacian[s]);
        }
        if (z > begin) {
            OdPack result[OD_S][OD_ROWS];
#pragma unroll
            for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                for (int k = 0; k < OD_VEC; ++k) {
                    real inputs[2 * OD_S + 3], slope[OD_S];
#pragma unroll
                    for (int s = 0; s < OD_S; ++s) {
                        inputs[s] = here[s][j][k];
                        inputs[OD_S + s] = laplacian[s][j][k] * OD_SCALE;
                    }
                    inputs[2 * OD_S] = od_centre(0, x + k);
                    inputs[2 * OD_S + 1] = od_centre(1, y + j);
                    inputs[2 * OD_S + 2] = od_centre(2, z - 1);
                    od_rhs(step.t, inputs, inputs, slope);
#pragma unroll
                    for (int s = 0; s < OD_S; ++s) {
#if OD_WIND
                        if (od_carried(s)) slope[s] = slope[s] + gain[s][j][k];
#endif
                        result[s][j].v[k] = od_fma(step.h, slope[s], inputs[s]);
                    }
                }
            }
#if OD_SOURCES > 0
            od_sources(result, x, y, z - 1, step);
#endif
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
