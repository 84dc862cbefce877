// Point sources that lie in what a thread writes.
#if OD_SOURCES > 0
OD_FN void od_sources(
    OdPack (&result)[OD_S][OD_ROWS], int x, int y, int z, const OdStep &step) {
#pragma unroll
    for (int n = 0; n < OD_SOURCES; ++n) {
        if (z != od_source_cell(n, 2)) continue;
#pragma unroll
        for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
            for (int k = 0; k < OD_VEC; ++k) {
                if (x + k == od_source_cell(n, 0) && y + j == od_source_cell(n, 1)) {
                    real &value = result[od_source_species(n)][j].v[k];
                    value = od_fma(step.h, step.rate[n], value);
                }
            }
        }
    }
}
#endif
