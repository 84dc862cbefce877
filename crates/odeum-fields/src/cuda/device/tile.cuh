// Planes of a tile of cells in shared memory: those of a block, with the cells around that they
// need. Copies bring them while planes before are computed, from the other end of the box along
// periodic axes, and beyond walls from the cell before the wall.

#define OD_TILE_X (OD_BX * OD_VEC)
#define OD_TILE_Y (OD_BY * OD_ROWS)
// Cells on either side of a row, of which two are used.
#define OD_MARGIN (OD_VEC > 2 ? OD_VEC : 2)
#define OD_TILE_ROW (OD_TILE_X + 2 * OD_MARGIN)
// A plane with REACH rows on either side.
#define OD_TILE_PLANE(reach) ((OD_TILE_Y + 2 * (reach)) * OD_TILE_ROW)

// Every thread copies at most one pack and one cell of what surrounds a plane.
static_assert(OD_BY >= 4 && 4 * (OD_TILE_Y + 4) <= OD_BX * OD_BY, "a block is wide enough");

// Species that potentials depend on are needed two cells far, in the planes that come and in
// three before: four are kept. Of others, and of potentials, two are.
OD_FN int od_tile_reach(int s) { return od_feeds(s) ? 2 : 1; }
OD_FN int od_tile_slots(int s) { return od_feeds(s) ? 4 : 2; }

// Where plane z of species s is kept; those of potentials are behind all species.
OD_FN int od_tile_at(int s, int z) {
    int at = 0;
    OD_EACH(n, OD_S) {
        if (n < s) at += od_tile_slots(n) * OD_TILE_PLANE(od_tile_reach(n));
    }
    return at + (z & (od_tile_slots(s) - 1)) * OD_TILE_PLANE(od_tile_reach(s));
}
OD_FN int od_tile_of_potential(int n, int z) {
    int at = 0;
    OD_EACH(s, OD_S) at += od_tile_slots(s) * OD_TILE_PLANE(od_tile_reach(s));
    return at + (2 * n + (z & 1)) * OD_TILE_PLANE(1);
}

// A cell in memory, counted from the first of a plane.
OD_FN int od_cell(int x, int y) {
    return od_source(y, OD_NY, OD_WRAP_Y) * OD_ROW + od_source(x, OD_NX, OD_WRAP_X);
}

// Where a thread copies from, counted from its first cell in memory, and to, from the beginning of
// a plane of a tile.
struct OdRoute {
    int from, to;
    bool used;
};

// Routes of the packs and of the cells around a plane.
template <int REACH> struct OdRim {
    OdRoute pack, cell;
};

template <int REACH> OD_FN OdRim<REACH> od_rim(int x0, int y0, int own) {
    OdRim<REACH> rim;
    const int n = threadIdx.y * OD_BX + threadIdx.x;
    const int x = threadIdx.x * OD_VEC, y = threadIdx.y;
    const int row = y < REACH ? y : OD_TILE_Y + y;
    rim.pack = {
        od_cell(x0 + x, y0 + row - REACH) - own, row * OD_TILE_ROW + OD_MARGIN + x,
        y < 2 * REACH};
    const int line = n / (2 * REACH), side = n % (2 * REACH);
    const int beside = side < REACH ? side - REACH : OD_TILE_X + side - REACH;
    rim.cell = {
        od_cell(x0 + beside, y0 + line - REACH) - own, line * OD_TILE_ROW + OD_MARGIN + beside,
        line < OD_TILE_Y + 2 * REACH};
    return rim;
}

// Copies a pack that begins with cell x of a row.
OD_FN void od_copy_pack(real *to, const real *from, int x) {
    if (OD_WRAP_X || OD_NX % OD_TILE_X == 0 || x + OD_VEC <= OD_NX) {
        od_copy<sizeof(OdPack)>(to, from);
    } else {
        const int first = od_source(x, OD_NX, false);
        OD_EACH(k, OD_VEC) {
            od_copy<sizeof(real)>(to + k, from + od_source(x + k, OD_NX, false) - first);
        }
    }
}

// Copies the cells of a thread, and what it copies of those around. `from` is its first cell;
// its rows lie `rows` behind that, and `own` is the place of its first cell in a tile.
template <int REACH> OD_FN void od_bring(
    real *tile, int own, const real *from, const int (&rows)[OD_ROWS], const OdRim<REACH> &rim,
    int x) {
    OD_EACH(j, OD_ROWS) {
        od_copy_pack(tile + own + (REACH + j) * OD_TILE_ROW, from + rows[j], x);
    }
    if (rim.pack.used) od_copy_pack(tile + rim.pack.to, from + rim.pack.from, x);
    if (rim.cell.used) od_copy<sizeof(real)>(tile + rim.cell.to, from + rim.cell.from);
}

// Cells of a tile with those around them.
template <int H> OD_FN void od_read_tile(OdPatch<1, H> &patch, const real *first) {
    OD_EACH(j, H + 2) {
        const real *row = first + (j - 1) * OD_TILE_ROW;
        const OdPack pack = od_reload(row);
        OD_EACH(k, OD_VEC) patch.v[j][1 + k] = pack.v[k];
        patch.v[j][0] = row[-1];
        patch.v[j][OD_VEC + 1] = row[OD_VEC];
    }
}

template <int H> OD_FN void od_write_tile(const OdPatch<0, H> &patch, real *first) {
    OD_EACH(j, H) {
        OdPack pack;
        OD_EACH(k, OD_VEC) pack.v[k] = patch.v[j][k];
        od_put(first + j * OD_TILE_ROW, pack);
    }
}
