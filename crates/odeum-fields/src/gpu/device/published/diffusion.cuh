// Table 1, diffusion: one species.

struct OdPublishedRule {
    static constexpr int arrays = 1;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPublishedTask &task) {
        to[i] = od_fma(task.step, OD_PUBLISHED_D0 * od_published_laplacian(c), c[0]);
    }
};
