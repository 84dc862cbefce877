// The equations of table 1 are functions of a thread's own point in a tile: `c[n]` of array n, whose
// neighbours along y and z are OD_PAPER_Y and OD_PAPER_Z values away.

// Eqs. 3 and 4.
OD_FN real od_published_laplacian(const real *c) {
    const int y = OD_PUBLISHED_Y, z = OD_PUBLISHED_Z;
    const real faces = c[-1] + c[1] + c[-y] + c[y] + c[-z] + c[z];
    const real edges = c[-1 - y] + c[1 - y] + c[-1 + y] + c[1 + y] + c[-1 - z] + c[1 - z] +
        c[-1 + z] + c[1 + z] + c[-y - z] + c[y - z] + c[-y + z] + c[y + z];
    return od_fma(R(2.0), faces, od_fma(R(-24.0), c[0], edges)) * OD_PUBLISHED_SCALE;
}
