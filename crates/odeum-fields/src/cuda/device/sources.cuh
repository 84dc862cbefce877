// The number of a cell: of a tile that reaches beyond a periodic face, that at the other end.
OD_FN int od_modulo(int i, int n) {
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}
#define OD_CELL_X(i) (OD_TILED && OD_WRAP_X ? od_modulo(i, OD_NX) : (i))
#define OD_CELL_Y(i) (OD_TILED && OD_WRAP_Y ? od_modulo(i, OD_NY) : (i))
#define OD_CELL_Z(i) (OD_TILED && OD_WRAP_Z ? od_modulo(i, OD_NZ) : (i))

// Point sources that lie in what a thread writes.
#if OD_SOURCES > 0
OD_FN void od_sources(
    OdPack (&result)[OD_S][OD_ROWS], int x, int y, int z, const OdStep &step) {
#pragma unroll
    for (int n = 0; n < OD_SOURCES; ++n) {
        if (OD_CELL_Z(z) != od_source_cell(n, 2)) continue;
#pragma unroll
        for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
            for (int k = 0; k < OD_VEC; ++k) {
                if (OD_CELL_X(x + k) == od_source_cell(n, 0) &&
                    OD_CELL_Y(y + j) == od_source_cell(n, 1)) {
                    real &value = result[od_source_species(n)][j].v[k];
                    value = od_fma(step.h, step.rate[n], value);
                }
            }
        }
    }
}
#endif
