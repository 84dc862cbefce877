// The kernels that compute: a step, and what the front needs before it.

extern "C" __global__ void __launch_bounds__(OD_PAPER_THREADS)
od_paper_step(const real *in, real *out, real *laplacian, const OdPaperTask task) {
    const real *from[OdPaperRule::arrays];
#pragma unroll
    for (int n = 0; n < OdPaperRule::arrays; ++n) {
        from[n] = n < OD_PAPER_SPECIES ? in + n * task.volume : laplacian;
    }
    od_paper_walk<OdPaperRule>(from, out, task);
}

#if OD_PAPER_FRONT
extern "C" __global__ void __launch_bounds__(OD_PAPER_THREADS)
od_paper_laplacian_of_c(const real *in, real *, real *laplacian, const OdPaperTask task) {
    const real *from[1] = {in + 2 * task.volume};
    od_paper_walk<OdPaperLaplacian>(from, laplacian, task);
}
#endif
