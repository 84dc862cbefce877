// The rows of a plane that a thread needs, ghosts included.
//
// Fields have no ghost layers. What lies beyond a wall is read where its value comes from: at the
// mirror image, or at the other end of the box. Of walls that scale and shift (Dirichlet, Robin)
// the rule is applied to what was read: along y, then z, then x, which is the order of the
// processor's sweeps.

// What changes from step to step. Of walls that do not shift the numbers are not read.
struct OdStep {
    real t, h;
    real shift[OD_S * 6];
    // |w| / edge of a cell.
    real speed[3];
    real rate[OD_SOURCES + 1];
#if OD_BLEND
    // The result is h F + itself u + Σ factor term + own (what stands there).
    real itself, own, factor[OD_TERMS + 1];
    const real *term[OD_TERMS + 1];
    real *out;
#endif
};

#define OD_MIRROR 0
#define OD_WRAP 1
#define OD_AFFINE 2

// Cells of the row's last pack that lie in the box; 0 for all.
#define OD_TAIL (OD_NX % OD_VEC)
// Where a ghost row stands among those of a thread at the high end of y.
#define OD_HIGH_ROW (OD_NY % OD_ROWS == 0 ? OD_ROWS + 1 : OD_NY % OD_ROWS + 1)

// Where cell i of an axis of n cells is read.
OD_FN int od_source(int i, int n, bool wraps) {
    if (wraps) return i < 0 ? i + n : (i >= n ? i - n : i);
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

// The place of a thread: OD_VEC cells by OD_ROWS rows.
struct OdPlace {
    int x, y;
    // Of the row before, its own, and the row after: the first cell, counted from that of a plane.
    int row[OD_ROWS + 2];
    // To the cells left and right of the pack.
    int left, right;
    bool first, last, low, high;
};

OD_FN OdPlace od_place(int x, int y) {
    OdPlace place;
    place.x = x;
    place.y = y;
    place.first = x == 0;
    place.last = x + OD_VEC >= OD_NX;
    place.low = y == 0;
    place.high = y + OD_ROWS >= OD_NY;
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        // A row far beyond the wall is nobody's neighbour: any place does.
        const int at = y + j - 1 > OD_NY ? OD_NY : y + j - 1;
        place.row[j] = od_source(at, OD_NY, OD_WRAP_Y) * OD_ROW + x;
    }
    place.left = place.first ? (OD_WRAP_X ? OD_NX - 1 : 0) : -1;
    place.right = place.last ? (OD_WRAP_X ? 0 : OD_NX - 1) - x : OD_VEC;
    return place;
}

// Rows of one species in one plane.
struct OdRows {
    OdPack pack[OD_ROWS + 2];
    real left[OD_ROWS + 2], right[OD_ROWS + 2];
};

// Whether the cells beside row j are needed: the star has no corners.
OD_FN constexpr bool od_has_sides(int j) { return OD_EDGES || (j > 0 && j <= OD_ROWS); }

OD_FN void od_read(OdRows &rows, const real *plane, const OdPlace &place) {
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        const real *row = plane + place.row[j];
        rows.pack[j] = od_load(row);
        rows.left[j] = rows.right[j] = real(0);
        if (od_has_sides(j)) {
            rows.left[j] = __ldg(row + place.left);
            rows.right[j] = __ldg(row + place.right);
        }
    }
}

OD_FN void od_ghost_row(OdRows &rows, int j, real shift, real scale) {
#pragma unroll
    for (int k = 0; k < OD_VEC; ++k) {
        rows.pack[j].v[k] = od_fma(scale, rows.pack[j].v[k], shift);
    }
    rows.left[j] = od_fma(scale, rows.left[j], shift);
    rows.right[j] = od_fma(scale, rows.right[j], shift);
}

// Makes ghosts of what was read in their place. z is the plane, which may be a ghost itself.
OD_FN void od_walls(OdRows &rows, int s, int z, const OdPlace &place, const OdStep &step) {
    const real *shift = step.shift + 6 * s;
    if (od_wall(s, 2) == OD_AFFINE && place.low) {
        od_ghost_row(rows, 0, shift[2], od_wall_scale(s, 2));
    }
    if (od_wall(s, 3) == OD_AFFINE && place.high) {
        od_ghost_row(rows, OD_HIGH_ROW, shift[3], od_wall_scale(s, 3));
    }
#pragma unroll
    for (int side = 0; side < 2; ++side) {
        if (od_wall(s, 4 + side) == OD_AFFINE && z == (side == 0 ? -1 : OD_NZ)) {
#pragma unroll
            for (int j = 0; j < OD_ROWS + 2; ++j) {
                od_ghost_row(rows, j, shift[4 + side], od_wall_scale(s, 4 + side));
            }
        }
    }
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        if (od_wall(s, 0) == OD_AFFINE && place.first) {
            rows.left[j] = od_fma(od_wall_scale(s, 0), rows.left[j], shift[0]);
        }
        if (od_wall(s, 1) == OD_AFFINE && place.last) {
            rows.right[j] = od_fma(od_wall_scale(s, 1), rows.right[j], shift[1]);
        }
        // In a row's last pack the ghost may stand amid.
        if (OD_TAIL != 0 && place.last) rows.pack[j].v[OD_TAIL] = rows.right[j];
    }
}
