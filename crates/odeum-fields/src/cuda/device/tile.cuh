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

// Every thread copies at most one pack and one cell of what surrounds a plane, and computes at most
// one pack of it.
static_assert(OD_BY >= 4 && 4 * (OD_TILE_Y + 4) <= OD_BX * OD_BY, "a block is wide enough");
static_assert(2 * OD_BX + 2 * (OD_TILE_Y + 2) <= OD_BX * OD_BY, "a block is wide enough");

// What is computed on the tile and one cell around is needed again: potentials, or species a step
// later. Species that it is computed from are needed two cells far, with potentials in the planes
// that come and in three before, without in those that come. Of all else two planes are kept.
#define OD_AGAIN (OD_POTENTIALS > 0 ? OD_POTENTIALS : OD_S)
OD_FN bool od_is_far(int s) { return OD_POTENTIALS == 0 || od_feeds(s); }
OD_FN int od_tile_reach(int s) { return od_is_far(s) ? 2 : 1; }
OD_FN int od_tile_slots(int s) { return OD_POTENTIALS > 0 && od_feeds(s) ? 4 : 2; }

// Where plane z of species s is kept; what is needed again is behind all species.
OD_FN int od_tile_at(int s, int z) {
    int at = 0;
    OD_EACH(n, OD_S) {
        if (n < s) at += od_tile_slots(n) * OD_TILE_PLANE(od_tile_reach(n));
    }
    return at + (z & (od_tile_slots(s) - 1)) * OD_TILE_PLANE(od_tile_reach(s));
}
OD_FN int od_tile_again(int n, int z) {
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

// A tile of a block, and what a thread has to do with it.
struct OdTile {
    real *planes;
    OdGate gate;
    // The thread's cells: the first in memory, where rows go on behind that, and in a plane without
    // what surrounds it.
    const real *from;
    int own;
    OdPlace place;
    OdRim<2> far_rim;
    OdRim<1> near_rim;
    // A pack around the tile: that of other blocks' cells, with its place in planes of what is
    // needed again.
    OdPlace around;
    int around_at;
    bool has_around;
};

OD_FN OdTile od_tile(const real *in, real *memory) {
    const int x0 = blockIdx.x * OD_TILE_X, y0 = blockIdx.y * OD_TILE_Y;
    const int x = threadIdx.x * OD_VEC, y = threadIdx.y * OD_ROWS;
    const int own = od_cell(x0 + x, y0 + y);
    OdTile tile;
    tile.planes = memory + OD_GATE;
    tile.gate = od_gate(memory);
    tile.from = in + own;
    tile.own = y * OD_TILE_ROW + OD_MARGIN + x;
    tile.place = od_place(x0 + x, y0 + y);
    tile.far_rim = od_rim<2>(x0, y0, own);
    tile.near_rim = od_rim<1>(x0, y0, own);
    // Two rows of packs, then the packs left and right of all rows.
    const int n = OD_BX * OD_BY - 1 - (threadIdx.y * OD_BX + threadIdx.x), side = n - 2 * OD_BX;
    const int row = side < 0 ? (n < OD_BX ? 0 : OD_TILE_Y + 1) : side / 2;
    const int pack = side < 0 ? n % OD_BX : (side % 2 == 0 ? -1 : OD_BX);
    tile.has_around = row < OD_TILE_Y + 2;
    tile.around = od_place(x0 + pack * OD_VEC, y0 + row - 1);
    tile.around_at = row * OD_TILE_ROW + OD_MARGIN + pack * OD_VEC;
    return tile;
}

// Copies a plane: the thread's cells, from the first on, whose rows lie `rows` behind that, and
// what it copies of those around.
template <int REACH> OD_FN void od_bring_plane(
    const OdTile &tile, real *to, const real *from, const int (&rows)[OD_ROWS],
    const OdRim<REACH> &rim) {
    const int x = tile.place.x;
    OD_EACH(j, OD_ROWS) {
        od_copy_pack(to + tile.own + (REACH + j) * OD_TILE_ROW, from + rows[j], x);
    }
    if (rim.pack.used) od_copy_pack(to + rim.pack.to, from + rim.pack.from, x);
    if (rim.cell.used) od_copy<sizeof(real)>(to + rim.cell.to, from + rim.cell.from);
}

// Has plane i of species that are needed far copied, and plane i − 2 of the others.
template <bool INNER> OD_FN void od_bring(const OdTile &tile, OdLevel<INNER> level) {
    const OdLevel<INNER> before = {level.z - 2};
    int rows[OD_ROWS];
    OD_EACH(j, OD_ROWS) {
        const bool whole = OD_NY % OD_TILE_Y == 0;
        const int y = tile.place.y;
        rows[j] = whole ? j * OD_ROW : od_cell(0, y + j) - od_cell(0, y);
    }
    OD_EACH(s, OD_S) {
        const OdLevel<INNER> z = od_is_far(s) ? level : before;
        real *to = tile.planes + od_tile_at(s, z.z);
        const real *from = tile.from + od_plane_at(z) + s * OD_VOLUME;
        if (od_is_far(s)) {
            od_bring_plane(tile, to, from, rows, tile.far_rim);
        } else {
            od_bring_plane(tile, to, from, rows, tile.near_rim);
        }
    }
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

// Goes up through the planes of a column, of which the first is brought before.
template <class Column, class Step> OD_FN void od_climb_tile(
    Column &column, const real *in, real *out, const Step &step) {
    const int first = column.begin < 2 && !OD_WRAP_Z ? 0 : column.begin - 2;
    od_bring(column.tile, OdLevel<false>{first});
    od_gate_copied(column.tile.gate);
    od_gate_leave(column.tile.gate);
    od_climb<2, 3>(column, in, out, step);
}
