// Table 1, atmospheric advection and diffusion: as diffusion, with upwind differences of first
// order from the same tile, and an emission in one point.

OD_FN real od_published_upwind(real velocity, real before, real here, real after) {
    return velocity > R(0.0) ? velocity * (before - here) : velocity * (here - after);
}

struct OdPublishedRule {
    static constexpr int arrays = 1;
    OD_FN_MEMBER static void update(
        const real *c, real *to, long long i, const OdPublishedTask &task) {
        const int y = OD_PUBLISHED_Y, z = OD_PUBLISHED_Z;
        real rhs = OD_PUBLISHED_D0 * od_published_laplacian(c);
        rhs += od_published_upwind(task.velocity[0], c[-1], c[0], c[1]);
        rhs += od_published_upwind(task.velocity[1], c[-y], c[0], c[y]);
        rhs += od_published_upwind(task.velocity[2], c[-z], c[0], c[z]);
        if (i == task.source) rhs += task.emission;
        to[i] = od_fma(task.step, rhs, c[0]);
    }
};
