// Values after a step, from values, Laplacians and what a wind brought, for the cells of a thread.

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

// Cells of a thread, of all species.
struct OdCells {
    real v[OD_S][OD_ROWS][OD_VEC];
};

#if OD_BLEND
// The packs of other fields and of the output that a result is made of. At the rim of a tile,
// beyond the box, any place does.
struct OdBlend {
    OdPack term[OD_TERMS + 1][OD_ROWS], own[OD_ROWS];
};
OD_FN OdBlend od_blend(int s, int x, int y, int z, const OdStep &step) {
    OdBlend blend;
#pragma unroll
    for (int j = 0; j < OD_ROWS; ++j) {
        const int row = od_source(y + j, OD_NY, false), column = x < 0 || x >= OD_NX ? 0 : x;
        const long long at =
            s * OD_VOLUME + (long long)z * OD_PLANE + (long long)row * OD_ROW + column;
#pragma unroll
        for (int n = 0; n < OD_TERMS; ++n) blend.term[n][j] = od_load(step.term[n] + at);
        if (OD_OWN) blend.own[j] = od_reload(step.out + at);
    }
    return blend;
}
#endif

// `beyond` are the Laplacians of potentials.
OD_FN void od_advance(
    const OdCells &here, const OdCells &laplacian, const OdCells &gain,
    const real (&beyond)[OD_POTENTIALS + 1][OD_ROWS][OD_VEC], int x, int y, int z,
    const OdStep &step, OdPack (&result)[OD_S][OD_ROWS]) {
#if OD_BLEND
    OdBlend blend[OD_S];
#pragma unroll
    for (int s = 0; s < OD_S; ++s) blend[s] = od_blend(s, x, y, z, step);
#endif
#pragma unroll
    for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
        for (int k = 0; k < OD_VEC; ++k) {
            real inputs[2 * OD_S + 3 + OD_POTENTIALS], slope[OD_S];
#pragma unroll
            for (int s = 0; s < OD_S; ++s) {
                inputs[s] = here.v[s][j][k];
                inputs[OD_S + s] = laplacian.v[s][j][k] * OD_SCALE;
            }
            inputs[2 * OD_S] = od_centre(0, OD_CELL_X(x + k));
            inputs[2 * OD_S + 1] = od_centre(1, OD_CELL_Y(y + j));
            inputs[2 * OD_S + 2] = od_centre(2, OD_CELL_Z(z));
#pragma unroll
            for (int n = 0; n < OD_POTENTIALS; ++n) {
                inputs[2 * OD_S + 3 + n] = beyond[n][j][k] * OD_SCALE;
            }
            od_rhs(step.t, inputs, inputs, slope);
#pragma unroll
            for (int s = 0; s < OD_S; ++s) {
                if (OD_WIND && od_carried(s)) slope[s] = slope[s] + gain.v[s][j][k];
#if OD_BLEND
                real sum = step.h * slope[s];
                if (OD_ITSELF) sum = od_fma(inputs[s], step.itself, sum);
#pragma unroll
                for (int n = 0; n < OD_TERMS; ++n) {
                    sum = od_fma(blend[s].term[n][j].v[k], step.factor[n], sum);
                }
                if (OD_OWN) sum = od_fma(blend[s].own[j].v[k], step.own, sum);
                result[s][j].v[k] = sum;
#else
                result[s][j].v[k] = od_fma(step.h, slope[s], inputs[s]);
#endif
            }
        }
    }
#if OD_SOURCES > 0
    od_sources(result, x, y, z, step);
#endif
}
