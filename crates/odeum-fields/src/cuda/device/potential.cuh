// A step of forward Euler of a model with potentials, whose Laplacians make it reach two cells
// far: every cell is read once and written once.
//
// Plane i of the field gives Laplacians in plane i − 1, with which potentials there; these give
// their own Laplacians in plane i − 2, where F can then be computed.

extern "C" __global__ void __launch_bounds__(32 * OD_BY, OD_BLOCKS_PER_SM) od_potential(
    const real *__restrict__ in, real *__restrict__ out, const OdStep step, const int planes) {
    OD_TILE_MEMORY(memory);
    const OdTile tile = od_tile();
    const int begin = blockIdx.z * planes;
    const int end = begin + planes < OD_NZ ? begin + planes : OD_NZ;
    OdFlow flow[OD_S], beyond_flow[OD_POTENTIALS];
    OdCells blown;
    // Plane i − 2.
    OdCells here, laplacian, gain;
#pragma unroll
    for (int s = 0; s < OD_S; ++s) {
        od_rest(flow[s]);
#pragma unroll
        for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
            for (int k = 0; k < OD_VEC; ++k) {
                blown.v[s][j][k] = here.v[s][j][k] = laplacian.v[s][j][k] = real(0);
                gain.v[s][j][k] = real(0);
            }
        }
    }
#pragma unroll
    for (int n = 0; n < OD_POTENTIALS; ++n) od_rest(beyond_flow[n]);
    const int start = begin - 2 < 0 && !OD_WRAP_Z ? 0 : begin - 2;
#if OD_AHEAD > 0
    OdRows next[OD_S];
#pragma unroll
    for (int s = 0; s < OD_S; ++s) od_tile_read(next[s], od_plane(in, start) + s * OD_VOLUME, tile);
#endif
    for (int i = start; i < end + 2; ++i) {
        OdRows rows[OD_S];
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
#if OD_AHEAD > 0
            rows[s] = next[s];
            od_tile_read(next[s], od_plane(in, i + 1 < end + 2 ? i + 1 : i) + s * OD_VOLUME, tile);
#else
            od_tile_read(rows[s], od_plane(in, i) + s * OD_VOLUME, tile);
#endif
        }
        // Plane i − 1.
        OdCells next_here = here, next_laplacian = laplacian, next_gain = gain;
        if (OD_WRAP_Z || i <= OD_NZ) {
#pragma unroll
            for (int s = 0; s < OD_S; ++s) {
                const OdRules rules = od_rules(s, step);
                od_tile_walls(rows[s], tile, rules);
#pragma unroll
                for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                    for (int k = 0; k < OD_VEC; ++k) {
                        const real c = flow[s].c[j][k], now = rows[s].pack[j + 1].v[k];
                        next_here.v[s][j][k] = c;
#if OD_WIND
                        const bool bottom = !OD_WRAP_Z && i == 0, top = !OD_WRAP_Z && i == OD_NZ;
                        const real above = top ? od_fma(rules.scale[5], c, rules.shift[5]) : now;
                        const real below =
                            bottom ? od_fma(rules.scale[4], now, rules.shift[4]) : c;
                        const real brought = blown.v[s][j][k];
                        next_gain.v[s][j][k] =
                            OD_WIND_LOW_Z ? brought : od_fma(above - c, step.speed[2], brought);
                        blown.v[s][j][k] = od_blown(rows[s], j, k, below, step);
#endif
                    }
                }
                od_tile_push(flow[s], rows[s], i, rules, next_laplacian.v[s]);
            }
        }
        // Plane i − 1 of the potentials, or the ghosts above it.
        real beyond[OD_POTENTIALS + 1][OD_ROWS][OD_VEC] = {};
        if (OD_WRAP_Z || (i >= 1 && i <= OD_NZ + 1)) {
            OdRows potentials[OD_POTENTIALS];
#pragma unroll
            for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                for (int k = 0; k < OD_VEC; ++k) {
                    real inputs[2 * OD_S + 3], values[OD_POTENTIALS];
#pragma unroll
                    for (int s = 0; s < OD_S; ++s) {
                        inputs[s] = next_here.v[s][j][k];
                        inputs[OD_S + s] = next_laplacian.v[s][j][k] * OD_SCALE;
                    }
                    inputs[2 * OD_S] = od_centre(0, OD_CELL_X(tile.x + k));
                    inputs[2 * OD_S + 1] = od_centre(1, OD_CELL_Y(tile.y + j));
                    inputs[2 * OD_S + 2] = od_centre(2, OD_CELL_Z(i - 1));
                    od_potentials(step.t, inputs, inputs, values);
#pragma unroll
                    for (int n = 0; n < OD_POTENTIALS; ++n) {
                        potentials[n].pack[j + 1].v[k] = values[n];
                    }
                }
            }
#pragma unroll
            for (int n = 0; n < OD_POTENTIALS; ++n) {
                od_hand_on(memory, (i & 1) * OD_POTENTIALS + n, potentials[n]);
            }
            OD_BARRIER();
            const OdRules closed = od_closed();
#pragma unroll
            for (int n = 0; n < OD_POTENTIALS; ++n) {
                od_take_over(memory, (i & 1) * OD_POTENTIALS + n, potentials[n]);
                od_tile_walls(potentials[n], tile, closed);
                od_tile_push(beyond_flow[n], potentials[n], i - 1, closed, beyond[n]);
            }
        }
        const int z = i - 2;
        if (z >= begin) {
            OdPack result[OD_S][OD_ROWS];
            od_advance(here, laplacian, gain, beyond, tile.x, tile.y, z, step, result);
            real *to = out + (long long)z * OD_PLANE;
#pragma unroll
            for (int s = 0; s < OD_S; ++s) {
#pragma unroll
                for (int j = 0; j < OD_ROWS; ++j) {
                    if (od_writes(tile, j)) {
                        od_store(to + s * OD_VOLUME + (tile.y + j) * OD_ROW + tile.x, result[s][j]);
                    }
                }
            }
        }
        here = next_here;
        laplacian = next_laplacian;
        gain = next_gain;
    }
}
