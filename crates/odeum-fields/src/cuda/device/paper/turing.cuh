// Table 1, Turing pattern formation: an activator and an inhibitor, which are coupled, so that one
// kernel computes both.

struct OdPaperRule {
    static constexpr int arrays = 2;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPaperTask &task) {
        const real *second = c + OD_PAPER_TILE;
        const real u = c[0], v = second[0];
        const real du = od_fma(OD_PAPER_D0, od_paper_laplacian(c), u - u * u * u - v);
        const real reaction = OD_PAPER_GAMMA * (u - OD_PAPER_ALPHA * v - OD_PAPER_BETA);
        const real dv = od_fma(OD_PAPER_D1, od_paper_laplacian(second), reaction);
        to[i] = od_fma(task.step, du, u);
        to[task.volume + i] = od_fma(task.step, dv, v);
    }
};
