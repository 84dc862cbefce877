// What the kernels of Molnár et al. 2011 are given: arguments, which lie in constant memory as the
// paper's parameters do.

// Sizes count points, the layer of boundary points included; the text has no size in it.
struct OdPublishedTask {
    int width, height, depth;
    // From a row to the next: rows are as long as the paper's widths, multiples of 32 points.
    int row;
    // Arrays whose boundary is to be set, and whether the first of them has an inflow at x = 0.
    int arrays, inflow;
    // From a plane and from an array to the next.
    long long plane, volume;
    // The point with the emission.
    long long source;
    // Time step; velocity by h along each axis; emission.
    real step, velocity[3], emission;
};
static_assert(sizeof(OdPublishedTask) == OD_PUBLISHED_TASK, "the size of Task");

#ifdef __CUDACC__
#define OD_PUBLISHED_BARRIER() __syncthreads()
#define OD_PUBLISHED_MEMORY(name, n) __shared__ real name[n]
#else
#define OD_PUBLISHED_BARRIER() od_host_yield()
#define OD_PUBLISHED_MEMORY(name, n) OD_SHARED(real, name)
#endif

// Points of a block; it has as many threads, as OD_PAPER_W by OD_PAPER_H * OD_PAPER_D.
#define OD_PUBLISHED_THREADS (OD_PUBLISHED_W * OD_PUBLISHED_H * OD_PUBLISHED_D)
