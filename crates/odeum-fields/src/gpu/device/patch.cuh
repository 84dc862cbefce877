// Cells of a thread, with a ring of neighbours around them.
//
// A thread owns OD_VEC by OD_ROWS columns of cells and goes up along z. What it needs of its
// neighbours it reads from the field, or from memory that the threads of a block share.
//
// Fields have no ghost layers. The first ghost beyond a boundary follows from the cell before the
// boundary: its mirror image, or that scaled and shifted (Dirichlet, Robin). Where two boundaries meet the
// rules are applied along y, then z, then x, the order of the CPU's sweeps. What stands
// farther out is never used. Along a periodic axis neighbours are read at the other end.

#define OD_EACH(i, n) _Pragma("unroll") for (int i = 0; i < (n); ++i)

// Keeps a branch that is seldom taken a branch, where the compiler would choose between values
// every time.
#ifdef __CUDACC__
#define OD_SELDOM() asm volatile("")
#else
#define OD_SELDOM()
#endif

// Cells of H rows, those of a thread, and N around.
template <int N, int H = OD_ROWS> struct OdPatch {
    real v[H + 2 * N][OD_VEC + 2 * N];
};

// What changes from step to step. Of boundaries that do not shift the numbers are not read.
struct OdStep {
    real t, h;
    // h times the factor of a Laplacian over OD_SCALE, of each species and potential in F.
    real spread[OD_SPREADS + 1];
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

// Those of the steps that a kernel takes at once.
struct OdSteps {
    OdStep at[OD_DEPTH];
};

#define OD_AFFINE 2

OD_FN int od_modulo(int i, int n) {
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}

// Where cell i of an axis of n cells is read. Beyond a boundary any place does.
OD_FN int od_source(int i, int n, bool wraps) {
    if (wraps) return od_modulo(i, n);
    return i < 0 ? 0 : (i >= n ? n - 1 : i);
}

// The place of a thread.
struct OdPlace {
    int x, y;
    // Its first cell, counted from that of a plane.
    int at;
    // Where neighbours beyond a face are: at the other end of a periodic axis, else before the
    // boundary; rows counted from that of a plane, and cells from `at`.
    int below, above, left, right;
    // A boundary goes through what the thread reads.
    bool rim_x, rim_y;
};

OD_FN OdPlace od_place(int x, int y) {
    OdPlace place;
    place.x = x;
    place.y = y;
    place.at = y * OD_ROW + x;
    place.rim_x = !OD_WRAP_X && (x < 1 || x + OD_VEC + 1 > OD_NX);
    place.rim_y = !OD_WRAP_Y && (y < 1 || y + OD_ROWS + 1 > OD_NY);
    place.below = od_source(y - 1, OD_NY, OD_WRAP_Y) * OD_ROW + x;
    place.above = od_source(y + OD_ROWS, OD_NY, OD_WRAP_Y) * OD_ROW + x;
    place.left = x > 0 ? -1 : (OD_WRAP_X ? OD_NX - 1 : 0);
    place.right = x + OD_VEC < OD_NX ? OD_VEC : (OD_WRAP_X ? -x : OD_NX - 1 - x);
    return place;
}

// The row before those of a thread, counted as row 0, one of them, or the row after them, in
// memory. Beyond a boundary that is some other row, or memory that is kept free before and after a
// field.
OD_FN const real *od_row(const real *plane, const OdPlace &place, int j) {
    if ((OD_WRAP_Y || OD_BOX_ROWS > 0) && j == 0) return plane + place.below;
    if ((OD_WRAP_Y || OD_BOX_ROWS > 0) && j > OD_ROWS) return plane + place.above;
    if (OD_WRAP_Y && OD_NY % OD_ROWS != 0) {
        return plane + od_modulo(place.y + j - 1, OD_NY) * OD_ROW + place.x;
    }
    return plane + place.at + (long long)(j - 1) * OD_ROW;
}

OD_FN void od_read(OdPatch<1> &patch, const real *plane, const OdPlace &place) {
    OD_EACH(j, OD_ROWS + 2) {
        const real *row = od_row(plane, place, j);
        const OdPack pack = od_load(row);
        OD_EACH(k, OD_VEC) patch.v[j][1 + k] = pack.v[k];
        patch.v[j][0] = __ldg(row + (OD_WRAP_X ? place.left : -1));
        patch.v[j][OD_VEC + 1] = __ldg(row + (OD_WRAP_X ? place.right : OD_VEC));
    }
}

// The ghost of a value before a boundary of species s; of potentials, s < 0, nothing passes a boundary.
OD_FN real od_ghost(int s, int face, real v, const OdStep &step) {
    if (s < 0 || od_boundary(s < 0 ? 0 : s, face) != OD_AFFINE) return v;
    return od_fma(od_boundary_scale(s, face), v, step.shift[6 * s + face]);
}

// Whether the ghosts beyond a boundary that does not shift have been read from where their mirror images
// are: in MIRRORED patches, and in boxes unless the boundary lies amid the cells of a thread.
template <bool MIRRORED = false> OD_FN bool od_mirrors(int s, int face) {
    const bool amid = (face == 1 && OD_NX % OD_VEC != 0) || (face == 3 && OD_NY % OD_ROWS != 0);
    const bool read = MIRRORED || (OD_BOX_ROWS > 0 && !amid);
    return read && od_boundary(s < 0 ? 0 : s, face) != OD_AFFINE;
}

// Where so few ghosts are left to be put in their places that choices take less than a branch.
#define OD_CHOOSES (OD_TILED || OD_BOX_ROWS > 0)

template <bool MIRRORED, int H> OD_FN void od_mend_x(
    OdPatch<1, H> &patch, int s, const OdPlace &place, const OdStep &step) {
    if (OD_WRAP_X || (!OD_CHOOSES && !place.rim_x)) return;
    OD_EACH(j, H + 2) {
        real *v = patch.v[j];
        if (!od_mirrors<MIRRORED>(s, 0) && place.x == 0) v[0] = od_ghost(s, 0, v[1], step);
        OD_EACH(k, OD_VEC) {
            if (od_mirrors<MIRRORED>(s, 1)) continue;
            if ((1 + k - OD_NX) % OD_VEC == 0 && place.x + 1 + k == OD_NX) {
                v[k + 2] = od_ghost(s, 1, v[k + 1], step);
            }
        }
    }
}

// Puts the ghosts of a plane in their places.
template <bool MIRRORED = false, int H> OD_FN void od_mend(
    OdPatch<1, H> &patch, int s, const OdPlace &place, const OdStep &step) {
    if (!OD_WRAP_Y && (OD_CHOOSES || place.rim_y)) {
        OD_EACH(k, OD_VEC + 2) {
            if (!od_mirrors<MIRRORED>(s, 2) && place.y == 0) {
                patch.v[0][k] = od_ghost(s, 2, patch.v[1][k], step);
            }
            OD_EACH(j, H) {
                if (od_mirrors<MIRRORED>(s, 3)) continue;
                if ((1 + j - OD_NY) % H == 0 && place.y + 1 + j == OD_NY) {
                    patch.v[j + 2][k] = od_ghost(s, 3, patch.v[j + 1][k], step);
                }
            }
        }
    }
    od_mend_x<MIRRORED>(patch, s, place, step);
}

// The plane of ghosts beyond the bottom (face 4) or the top (5) of the box.
template <int H> OD_FN OdPatch<1, H> od_beyond(
    const OdPatch<1, H> &plane, int s, int face, const OdPlace &place, const OdStep &step) {
    OdPatch<1, H> ghosts;
    OD_EACH(j, H + 2) {
        OD_EACH(k, OD_VEC + 2) ghosts.v[j][k] = od_ghost(s, face, plane.v[j][k], step);
    }
    od_mend_x<false>(ghosts, s, place, step);
    return ghosts;
}

// The number of a plane. INNER: nothing that is read or computed with it is at an end of the box
// along z, as is known when the kernel is compiled.
template <bool INNER> struct OdLevel {
    int z;
};

// Whether the plane is this one, for what is done at a boundary.
template <bool INNER> OD_FN bool od_is(OdLevel<INNER> level, int z) {
    return !OD_WRAP_Z && !INNER && level.z == z;
}

// The same for a boundary of species s.
template <bool INNER> OD_FN bool od_is(OdLevel<INNER> level, int z, int s, int face) {
    return !od_mirrors(s, face) && od_is(level, z);
}

// A plane in memory, counted from the first.
template <bool INNER> OD_FN long long od_plane_at(OdLevel<INNER> level) {
    return (long long)(INNER ? level.z : od_source(level.z, OD_NZ, OD_WRAP_Z)) * OD_PLANE;
}

template <bool INNER> OD_FN const real *od_plane(const real *in, OdLevel<INNER> level) {
    return in + od_plane_at(level);
}

// Goes up through the planes of a column, BELOW before them and ABOVE after them; `od_up` takes in
// one of them, and reads no farther than the next.
template <int BELOW, int ABOVE, class Column, class Step> OD_FN void od_climb(
    Column &column, const real *in, real *out, const Step &step) {
    int i = column.begin < BELOW && !OD_WRAP_Z ? 0 : column.begin - BELOW;
    const int last = column.end + ABOVE;
    const int inner = last < OD_NZ - 1 ? last : OD_NZ - 1;
    while (i < last) {
        od_up(column, OdLevel<false>{i++}, in, out, step);
        if (!OD_INNER || i < ABOVE) continue;
        for (; i < inner; ++i) od_up(column, OdLevel<true>{i}, in, out, step);
    }
}

// Of tiles that hang over, threads whose cells are none.
OD_FN bool od_outside(const OdPlace &place) {
    return OD_TILED && ((OD_NX % (OD_BX * OD_VEC) != 0 && place.x >= OD_NX) ||
                        (OD_NY % (OD_BY * OD_ROWS) != 0 && place.y >= OD_NY));
}

OD_FN void od_write(
    const OdPatch<0> (&result)[OD_S], real *out, int z, const OdPlace &place) {
    if (od_outside(place)) return;
    real *to = out + (long long)z * OD_PLANE;
    OD_EACH(s, OD_S) {
        OD_EACH(j, OD_ROWS) {
            // Cells after the end of a row are padding.
            if (OD_NY % OD_ROWS == 0 || place.y + j < OD_NY) {
                OdPack pack;
                OD_EACH(k, OD_VEC) pack.v[k] = result[s].v[j][k];
                od_store(to + s * OD_VOLUME + place.at + (long long)j * OD_ROW, pack);
            }
        }
    }
}

// The numbers of cells, which around a periodic box are those at its other end.
#define OD_CELL_X(i) (OD_WRAP_X && OD_CHOOSES ? od_modulo(i, OD_NX) : (i))
#define OD_CELL_Y(i) (OD_WRAP_Y && OD_CHOOSES ? od_modulo(i, OD_NY) : (i))
// Along z OD_NZ planes of OD_WHOLE_Z, from plane OD_FIRST_Z on.
#define OD_CELL_Z(i) \
    (OD_ROUND_Z && OD_CHOOSES ? od_modulo((i) + OD_FIRST_Z, OD_WHOLE_Z) : (i) + OD_FIRST_Z)
