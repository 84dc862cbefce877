// Table 1, phase separation behind a chemical front: two kernels, as the Laplacian of the third
// species must be complete, boundary included, before the other begins. The second reads four
// arrays (table 2): the three species and that Laplacian.

struct OdPublishedLaplacian {
    static constexpr int arrays = 1;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPublishedTask &) {
        to[i] = od_published_laplacian(c);
    }
};

// The potential of the third species where `c` points.
OD_FN real od_published_potential(const real *c) {
    const real lap = c[OD_PUBLISHED_TILE];
    return od_fma(c[0], OD_PUBLISHED_EPSILON - OD_PUBLISHED_GAMMA * c[0] * c[0], OD_PUBLISHED_SIGMA * lap);
}

// Its Laplacian: the potential is computed anew at each of the 19 points, as the paper names no
// fifth array to keep it in.
OD_FN real od_published_beyond(const real *c) {
    const int y = OD_PUBLISHED_Y, z = OD_PUBLISHED_Z;
    real faces = R(0.0), edges = R(0.0);
#pragma unroll
    for (int k = -1; k <= 1; ++k) {
#pragma unroll
        for (int j = -1; j <= 1; ++j) {
#pragma unroll
            for (int n = -1; n <= 1; ++n) {
                const int far = k * k + j * j + n * n;
                if (far == 0 || far == 3) continue;
                const real potential = od_published_potential(c + k * z + j * y + n);
                if (far == 1) faces += potential;
                if (far == 2) edges += potential;
            }
        }
    }
    const real here = od_published_potential(c);
    return od_fma(R(2.0), faces, od_fma(R(-24.0), here, edges)) * OD_PUBLISHED_SCALE;
}

struct OdPublishedRule {
    static constexpr int arrays = 4;
    OD_FN_MEMBER static void update(
        const real *tile, real *to, long long i, const OdPublishedTask &task) {
        const real *second = tile + OD_PUBLISHED_TILE, *third = second + OD_PUBLISHED_TILE;
        const real a = tile[0], b = second[0], c = third[0];
        const real formed = OD_PUBLISHED_K1 * a * b, dissolved = OD_PUBLISHED_K2 * a * c;
        const real da = od_fma(OD_PUBLISHED_D0, od_published_laplacian(tile), -formed - dissolved);
        const real db = od_fma(OD_PUBLISHED_D1, od_published_laplacian(second), -formed);
        const real dc = od_fma(-OD_PUBLISHED_LAMBDA, od_published_beyond(third), formed - dissolved);
        to[i] = od_fma(task.step, da, a);
        to[task.volume + i] = od_fma(task.step, db, b);
        to[2 * task.volume + i] = od_fma(task.step, dc, c);
    }
};
