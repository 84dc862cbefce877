// Boundary points (section 4.1): three kernels for pairs of faces, three for the edges along an
// axis, before each step. Corners are not used by the stencil.
//
// No flux: a point has the value of its inner neighbour, so that the boundary lies between them and
// the sum over inner points is conserved. The inflow of the front is the value of the points at
// x = 0 themselves. Edges follow from the faces.

#define OD_PUBLISHED_KERNEL(name) \
    extern "C" __global__ void name(const real *, real *field, real *, const OdPublishedTask task)

#define OD_PUBLISHED_U (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define OD_PUBLISHED_V (int)(blockIdx.y * blockDim.y + threadIdx.y)

// Left and right.
OD_PUBLISHED_KERNEL(od_published_faces_x) {
    const int y = OD_PUBLISHED_U + 1, z = OD_PUBLISHED_V + 1;
    if (y >= task.height - 1 || z >= task.depth - 1) return;
    for (int s = 0; s < task.arrays; ++s) {
        real *row = field + s * task.volume + z * task.plane + (long long)y * task.row;
        row[0] = task.inflow && s == 0 ? OD_PUBLISHED_INFLOW : row[1];
        row[task.width - 1] = row[task.width - 2];
    }
}

// Top and bottom.
OD_PUBLISHED_KERNEL(od_published_faces_y) {
    const int x = OD_PUBLISHED_U + 1, z = OD_PUBLISHED_V + 1;
    if (x >= task.width - 1 || z >= task.depth - 1) return;
    const long long top = (long long)(task.height - 1) * task.row;
    for (int s = 0; s < task.arrays; ++s) {
        real *plane = field + s * task.volume + z * task.plane + x;
        plane[0] = plane[task.row];
        plane[top] = plane[top - task.row];
    }
}

// Front and back.
OD_PUBLISHED_KERNEL(od_published_faces_z) {
    const int x = OD_PUBLISHED_U + 1, y = OD_PUBLISHED_V + 1;
    if (x >= task.width - 1 || y >= task.height - 1) return;
    const long long back = (task.depth - 1) * task.plane;
    for (int s = 0; s < task.arrays; ++s) {
        real *column = field + s * task.volume + (long long)y * task.row + x;
        column[0] = column[task.plane];
        column[back] = column[back - task.plane];
    }
}

// The four edges of a box of columns: `near` and `far` lead from a face to the other along two
// axes, `by` a point along the second.
OD_FN void od_published_edges(real *from, long long near, long long far, long long by) {
    from[0] = from[by];
    from[near] = from[near + by];
    from[far] = from[far - by];
    from[near + far] = from[near + far - by];
}

// Edges along x.
OD_PUBLISHED_KERNEL(od_published_edges_x) {
    const int x = OD_PUBLISHED_U + 1;
    if (x >= task.width - 1) return;
    const long long y = (long long)(task.height - 1) * task.row, z = (task.depth - 1) * task.plane;
    for (int s = 0; s < task.arrays; ++s) {
        od_published_edges(field + s * task.volume + x, y, z, task.plane);
    }
}

// Edges along y.
OD_PUBLISHED_KERNEL(od_published_edges_y) {
    const int y = OD_PUBLISHED_U + 1;
    if (y >= task.height - 1) return;
    const long long z = (task.depth - 1) * task.plane;
    for (int s = 0; s < task.arrays; ++s) {
        real *from = field + s * task.volume + (long long)y * task.row;
        od_published_edges(from, task.width - 1, z, task.plane);
    }
}

// Edges along z.
OD_PUBLISHED_KERNEL(od_published_edges_z) {
    const int z = OD_PUBLISHED_U + 1;
    if (z >= task.depth - 1) return;
    const long long y = (long long)(task.height - 1) * task.row;
    for (int s = 0; s < task.arrays; ++s) {
        real *from = field + s * task.volume + z * task.plane;
        od_published_edges(from, task.width - 1, y, task.row);
    }
}
