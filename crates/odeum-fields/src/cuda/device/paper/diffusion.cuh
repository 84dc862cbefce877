// Table 1, diffusion: one species.

struct OdPaperRule {
    static constexpr int arrays = 1;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPaperTask &task) {
        to[i] = od_fma(task.step, OD_PAPER_D0 * od_paper_laplacian(c), c[0]);
    }
};
