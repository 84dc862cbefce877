// Table 1, atmospheric advection and diffusion: as diffusion, with upwind differences of first
// order from the same tile, and an emission in one point.

OD_FN real od_paper_upwind(real wind, real before, real here, real after) {
    return wind > R(0.0) ? wind * (before - here) : wind * (here - after);
}

struct OdPaperRule {
    static constexpr int arrays = 1;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPaperTask &task) {
        const int y = OD_PAPER_Y, z = OD_PAPER_Z;
        real slope = OD_PAPER_D0 * od_paper_laplacian(c);
        slope += od_paper_upwind(task.wind[0], c[-1], c[0], c[1]);
        slope += od_paper_upwind(task.wind[1], c[-y], c[0], c[y]);
        slope += od_paper_upwind(task.wind[2], c[-z], c[0], c[z]);
        if (i == task.source) slope += task.emission;
        to[i] = od_fma(task.step, slope, c[0]);
    }
};
