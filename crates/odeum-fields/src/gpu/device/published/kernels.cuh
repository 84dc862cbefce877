// The kernels that compute: a step, and what the front needs before it.

extern "C" __global__ void __launch_bounds__(OD_PUBLISHED_THREADS)
od_published_step(const real *in, real *out, real *laplacian, const OdPublishedTask task) {
    const real *from[OdPublishedRule::arrays];
#pragma unroll
    for (int n = 0; n < OdPublishedRule::arrays; ++n) {
        from[n] = n < OD_PUBLISHED_SPECIES ? in + n * task.volume : laplacian;
    }
    od_published_walk<OdPublishedRule>(from, out, task);
}

#if OD_PUBLISHED_FRONT
extern "C" __global__ void __launch_bounds__(OD_PUBLISHED_THREADS)
od_published_laplacian_of_c(const real *in, real *, real *laplacian, const OdPublishedTask task) {
    const real *from[1] = {in + 2 * task.volume};
    od_published_walk<OdPublishedLaplacian>(from, laplacian, task);
}
#endif
