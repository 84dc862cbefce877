// Table 1, Turing pattern formation: an activator and an inhibitor, which are coupled, so that one
// kernel computes both.

struct OdPublishedRule {
    static constexpr int arrays = 2;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPublishedTask &task) {
        const real *second = c + OD_PUBLISHED_TILE;
        const real u = c[0], v = second[0];
        const real du = od_fma(OD_PUBLISHED_D0, od_published_laplacian(c), u - u * u * u - v);
        const real reaction = OD_PUBLISHED_GAMMA * (u - OD_PUBLISHED_ALPHA * v - OD_PUBLISHED_BETA);
        const real dv = od_fma(OD_PUBLISHED_D1, od_published_laplacian(second), reaction);
        to[i] = od_fma(task.step, du, u);
        to[task.volume + i] = od_fma(task.step, dv, v);
    }
};
