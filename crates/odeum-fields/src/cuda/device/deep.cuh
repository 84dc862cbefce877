// OD_DEPTH steps of forward Euler at once: every cell is read once from memory and written once
// for all of them (overlapped tiling in x and y, streaming along z).
//
// Stage d takes in plane i − d of the field after d steps, and gives plane i − d − 1 of the field
// after d + 1.

struct OdSteps {
    OdStep at[OD_DEPTH];
};

// Two places in turn: who is late still reads the one of the plane before.
OD_FN int od_channel(int i, int d, int s) {
    return ((i & 1) * (OD_DEPTH - 1) + d - 1) * OD_S + s;
}

extern "C" __global__ void __launch_bounds__(32 * OD_BY, OD_BLOCKS_PER_SM)
od_deep(const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const int planes) {
    OD_TILE_MEMORY(memory);
    const OdTile tile = od_tile();
    const int begin = blockIdx.z * planes;
    const int end = begin + planes < OD_NZ ? begin + planes : OD_NZ;
    OdFlow flow[OD_DEPTH][OD_S];
    OdCells blown[OD_DEPTH];
#pragma unroll
    for (int d = 0; d < OD_DEPTH; ++d) {
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            od_rest(flow[d][s]);
#pragma unroll
            for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                for (int k = 0; k < OD_VEC; ++k) blown[d].v[s][j][k] = real(0);
            }
        }
    }
    const int start = begin - OD_DEPTH < 0 && !OD_WRAP_Z ? 0 : begin - OD_DEPTH;
    OdRows next[OD_S];
#pragma unroll
    for (int s = 0; s < OD_S; ++s) od_tile_read(next[s], od_plane(in, start) + s * OD_VOLUME, tile);
    for (int i = start; i < end + OD_DEPTH; ++i) {
        const int ahead = i + 1 < end + OD_DEPTH ? i + 1 : i;
        OdRows rows[OD_S];
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            rows[s] = next[s];
            od_tile_read(next[s], od_plane(in, ahead) + s * OD_VOLUME, tile);
        }
        OdPack result[OD_S][OD_ROWS];
#pragma unroll
        for (int d = 0; d < OD_DEPTH; ++d) {
            const int z = i - d;
            // The same for all threads of a block. Below the box nothing has begun, above it
            // everything has ended.
            if (!OD_WRAP_Z && (z < 0 || z > OD_NZ)) continue;
            const OdStep &step = steps.at[d];
            if (d > 0) {
#pragma unroll
                for (int s = 0; s < OD_S; ++s) {
#pragma unroll
                    for (int j = 0; j < OD_ROWS; ++j) rows[s].pack[j + 1] = result[s][j];
                    od_hand_on(memory, od_channel(i, d, s), rows[s]);
                }
                OD_BARRIER();
#pragma unroll
                for (int s = 0; s < OD_S; ++s) {
                    od_take_over(memory, od_channel(i, d, s), rows[s]);
                }
            }
            OdCells laplacian, here, gain;
#pragma unroll
            for (int s = 0; s < OD_S; ++s) {
                const OdRules rules = od_rules(s, step);
                od_tile_walls(rows[s], tile, rules);
#pragma unroll
                for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
                    for (int k = 0; k < OD_VEC; ++k) {
                        const real c = flow[d][s].c[j][k], now = rows[s].pack[j + 1].v[k];
                        here.v[s][j][k] = c;
#if OD_WIND
                        const bool bottom = !OD_WRAP_Z && z == 0, top = !OD_WRAP_Z && z == OD_NZ;
                        const real above =
                            top ? od_fma(rules.scale[5], c, rules.shift[5]) : now;
                        const real below =
                            bottom ? od_fma(rules.scale[4], now, rules.shift[4]) : c;
                        const real brought = blown[d].v[s][j][k];
                        gain.v[s][j][k] =
                            OD_WIND_LOW_Z ? brought : od_fma(above - c, step.speed[2], brought);
                        blown[d].v[s][j][k] = od_blown(rows[s], j, k, below, step);
#endif
                    }
                }
                od_tile_push(flow[d][s], rows[s], z, rules, laplacian.v[s]);
            }
            const real beyond[OD_POTENTIALS + 1][OD_ROWS][OD_VEC] = {};
            od_advance(here, laplacian, gain, beyond, tile.x, tile.y, z - 1, step, result);
        }
        const int z = i - OD_DEPTH;
        if (z < begin) continue;
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
}
