// Laplacians of planes that stream by, from sums that neighbouring points share.
//
// With c a cell, s the sum of the two beside it along x and q that of the two along y, the 19-point
// Laplacian of Molnár et al. 2011 (eqs. 3 and 4) is A + B(below) + B(above), where
//     B = 2 c + s + q,   A = 2 B − 28 c + s(before) + s(behind),
// 10.5 operations for a point. Every plane is read once, and what is kept of the two before it is
// a sum each. Where the field is the same everywhere the result is exactly zero: the rounded 24 c
// is four times the rounded 6 c, which is what B then is.

struct OdFlow {
    // Of the plane before: A + B of the one below it; B; the cells themselves.
    real a[OD_ROWS][OD_VEC], b[OD_ROWS][OD_VEC], c[OD_ROWS][OD_VEC];
};

OD_FN void od_rest(OdFlow &flow) {
#pragma unroll
    for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
        for (int k = 0; k < OD_VEC; ++k) {
            flow.a[j][k] = flow.b[j][k] = flow.c[j][k] = real(0);
        }
    }
}

// What the ghosts of a plane beyond a wall give to B, when the plane on this side gives b.
OD_FN real od_beyond(real shift, real scale, real b) {
    return od_fma(scale, b, shift * (OD_EDGES ? R(6.0) : OD_WEIGHT_Z));
}

// How planes follow each other. Where ghosts are read like other planes, none is outermost.
struct OdEnds {
    // This plane is the lowest of the box; the one before was the highest, and this one holds
    // nothing.
    bool bottom, top;
    bool affine[2];
    real shift[2], scale[2];
};

// Takes the next plane in, and gives the Laplacian of the one before over OD_SCALE. Where planes
// end there is a choice and no branch: threads of a warp stay together.
OD_FN void od_push(
    OdFlow &flow, const OdRows &rows, real (&laplacian)[OD_ROWS][OD_VEC], const OdEnds &ends) {
    real sides[OD_ROWS + 2][OD_VEC];
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
#pragma unroll
        for (int k = 0; k < OD_VEC; ++k) {
            const real before = k == 0 ? rows.left[j] : rows.pack[j].v[k == 0 ? 0 : k - 1];
            const real after =
                k == OD_VEC - 1 ? rows.right[j] : rows.pack[j].v[k == OD_VEC - 1 ? 0 : k + 1];
            sides[j][k] = before + after;
        }
    }
#pragma unroll
    for (int j = 0; j < OD_ROWS; ++j) {
#pragma unroll
        for (int k = 0; k < OD_VEC; ++k) {
            const real c = rows.pack[j + 1].v[k];
            const real q = rows.pack[j].v[k] + rows.pack[j + 2].v[k];
#if OD_EDGES
            const real b = od_fma(R(2.0), c, sides[j + 1][k]) + q;
            const real corners = od_fma(R(-28.0), c, sides[j][k] + sides[j + 2][k]);
            const real a = od_fma(R(2.0), b, corners);
#else
            const real b = OD_WEIGHT_Z * c;
            const real along_x = od_fma(R(-2.0), c, sides[j + 1][k]);
            const real plane = od_fma(OD_WEIGHT_Y, od_fma(R(-2.0), c, q), along_x);
            const real a = od_fma(R(-2.0), b, plane);
#endif
            const real old = flow.b[j][k];
            const real under = ends.affine[0] ? od_beyond(ends.shift[0], ends.scale[0], b) : b;
            const real over = ends.affine[1] ? od_beyond(ends.shift[1], ends.scale[1], old) : old;
            laplacian[j][k] = flow.a[j][k] + (ends.top ? over : b);
            flow.a[j][k] = a + (ends.bottom ? under : old);
            flow.b[j][k] = b;
            flow.c[j][k] = c;
        }
    }
}
