// Table 1, phase separation behind a chemical front: two kernels, as the Laplacian of the third
// species must be complete, boundary included, before the other begins. The second reads four
// arrays (table 2): the three species and that Laplacian.

struct OdPaperLaplacian {
    static constexpr int arrays = 1;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPaperTask &) {
        to[i] = od_paper_laplacian(c);
    }
};

// The potential of the third species where `c` points.
OD_FN real od_paper_potential(const real *c) {
    const real lap = c[OD_PAPER_TILE];
    return od_fma(c[0], OD_PAPER_EPSILON - OD_PAPER_GAMMA * c[0] * c[0], OD_PAPER_SIGMA * lap);
}

// Its Laplacian: the potential is computed anew at each of the 19 points, as the paper names no
// fifth array to keep it in.
OD_FN real od_paper_beyond(const real *c) {
    const int y = OD_PAPER_Y, z = OD_PAPER_Z;
    real faces = R(0.0), edges = R(0.0);
#pragma unroll
    for (int k = -1; k <= 1; ++k) {
#pragma unroll
        for (int j = -1; j <= 1; ++j) {
#pragma unroll
            for (int n = -1; n <= 1; ++n) {
                const int far = k * k + j * j + n * n;
                if (far == 0 || far == 3) continue;
                const real potential = od_paper_potential(c + k * z + j * y + n);
                if (far == 1) faces += potential;
                if (far == 2) edges += potential;
            }
        }
    }
    const real here = od_paper_potential(c);
    return od_fma(R(2.0), faces, od_fma(R(-24.0), here, edges)) * OD_PAPER_SCALE;
}

struct OdPaperRule {
    static constexpr int arrays = 4;
    OD_FN_MEMBER static void update(
        const real *tile, real *to, long long i, const OdPaperTask &task) {
        const real *second = tile + OD_PAPER_TILE, *third = second + OD_PAPER_TILE;
        const real a = tile[0], b = second[0], c = third[0];
        const real formed = OD_PAPER_K1 * a * b, dissolved = OD_PAPER_K2 * a * c;
        const real da = od_fma(OD_PAPER_D0, od_paper_laplacian(tile), -formed - dissolved);
        const real db = od_fma(OD_PAPER_D1, od_paper_laplacian(second), -formed);
        const real dc = od_fma(-OD_PAPER_LAMBDA, od_paper_beyond(third), formed - dissolved);
        to[i] = od_fma(task.step, da, a);
        to[task.volume + i] = od_fma(task.step, db, b);
        to[2 * task.volume + i] = od_fma(task.step, dc, c);
    }
};
