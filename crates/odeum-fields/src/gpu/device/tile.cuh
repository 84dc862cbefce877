// Planes of a tile of cells in shared memory: those of a block, with the cells around that they
// need. Copies bring them while planes before are computed, from the other end of the box along
// periodic axes, and beyond boundaries from the cell before the boundary.

#define OD_TILE_X (OD_BX * OD_VEC)
#define OD_TILE_Y (OD_BY * OD_ROWS)
// Cells on either side of a row, of which two are used.
#define OD_MARGIN (OD_VEC > 2 ? OD_VEC : 2)
#define OD_TILE_ROW (OD_TILE_X + 2 * OD_MARGIN)
// A plane, with two rows on either side.
#define OD_TILE_PLANE ((OD_TILE_Y + 4) * OD_TILE_ROW)

// Every thread copies at most one pack and one cell of what surrounds a plane, and computes at most
// one pack of it.
static_assert(OD_BY >= 4 && 4 * (OD_TILE_Y + 4) <= OD_BX * OD_BY, "a block is wide enough");
static_assert(2 * OD_BX + 2 * (OD_TILE_Y + 2) <= OD_BX * OD_BY, "a block is wide enough");

// Two planes of each species are kept: the one that has come, and the next. Those of species that
// potentials depend on wait for the potentials, two planes longer.
OD_FN int od_tile_slots(int s) { return OD_POTENTIALS > 0 && od_feeds(s) ? 4 : 2; }

// Where plane z of species s is kept.
OD_FN int od_tile_at(int s, int z) {
    int before = 0;
    OD_EACH(n, OD_S) {
        if (n < s) before += od_tile_slots(n);
    }
    return (before + (z & (od_tile_slots(s) - 1))) * OD_TILE_PLANE;
}
// Behind all species, where what is computed on the tile and one cell around is kept until it is
// needed again: potential n, or species n a step later.
OD_FN int od_tile_again(int n, int z) {
    int before = 2 * n;
    OD_EACH(s, OD_S) before += od_tile_slots(s);
    return (before + (z & 1)) * OD_TILE_PLANE;
}

// A cell in memory, counted from the first of a plane.
OD_FN int od_cell(int x, int y) {
    return od_source(y, OD_NY, OD_WRAP_Y) * OD_ROW + od_source(x, OD_NX, OD_WRAP_X);
}

// Where a thread copies from, counted from its first cell in memory, and to, from the beginning of
// a plane of a tile; whether that is within two cells around, and within one.
struct OdRoute {
    int from, to;
    bool far, near;
};

// Copies a pack that begins with cell x of a row.
OD_FN void od_copy_pack(real *to, const real *from, int x) {
    if (OD_WRAP_X || OD_NX % OD_TILE_X == 0 || x + OD_VEC <= OD_NX) {
        od_copy<sizeof(OdPack)>(to, from);
    } else if (x < OD_NX + 2) {
        // Of what lies farther beyond a boundary nobody reads anything that leaves the block.
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
    // The thread's cells: the first in memory and in a plane.
    const real *from;
    int own;
    OdPlace place;
    // A pack and a cell of the two rows and cells around that it copies.
    OdRoute pack, cell;
    // A pack of other blocks' cells that it computes, with its place in a plane.
    OdPlace around;
    int around_at;
    bool has_around;
};

OD_FN OdTile od_tile(const real *in, real *memory) {
    const int x0 = blockIdx.x * OD_TILE_X, y0 = blockIdx.y * OD_TILE_Y;
    const int x = threadIdx.x * OD_VEC, y = threadIdx.y * OD_ROWS;
    const int n = threadIdx.y * OD_BX + threadIdx.x, last = OD_BX * OD_BY - 1;
    const int own = od_cell(x0 + x, y0 + y);
    OdTile tile;
    tile.planes = memory + OD_GATE;
    tile.gate = od_gate(memory);
    tile.from = in + own;
    tile.own = (2 + y) * OD_TILE_ROW + OD_MARGIN + x;
    tile.place = od_place(x0 + x, y0 + y);
    {
        const int side = threadIdx.y, row = side < 2 ? side : OD_TILE_Y + side;
        const int from = od_cell(x0 + x, y0 + row - 2);
        const int to = row * OD_TILE_ROW + OD_MARGIN + x;
        tile.pack = {from - own, to, side < 4, side == 1 || side == 2};
    }
    {
        const int side = n % 4, at = side < 2 ? side - 2 : OD_TILE_X + side - 2;
        const int row = n / 4, from = od_cell(x0 + at, y0 + row - 2);
        const int to = row * OD_TILE_ROW + OD_MARGIN + at;
        const bool inner = row > 0 && row < OD_TILE_Y + 3 && (side == 1 || side == 2);
        tile.cell = {from - own, to, row < OD_TILE_Y + 4, inner};
    }
    {
        // Two rows of packs, then the packs left and right of all rows.
        const int k = last - n, side = k - 2 * OD_BX;
        const int row = side < 0 ? (k < OD_BX ? 0 : OD_TILE_Y + 1) : side / 2;
        const int at = (side < 0 ? k % OD_BX : (side % 2 == 0 ? -1 : OD_BX)) * OD_VEC;
        tile.has_around = row < OD_TILE_Y + 2;
        tile.around = od_place(x0 + at, y0 + row - 1);
        tile.around_at = (1 + row) * OD_TILE_ROW + OD_MARGIN + at;
    }
    return tile;
}

// Has plane i copied of all species; where there are potentials, of species that do not feed them
// plane i − 2, and no more than one cell around.
template <bool INNER> OD_FN void od_bring(const OdTile &tile, OdLevel<INNER> level) {
    const int x = tile.place.x, y = tile.place.y;
    int rows[OD_ROWS];
    OD_EACH(j, OD_ROWS) {
        const bool whole = OD_NY % OD_TILE_Y == 0;
        rows[j] = whole ? j * OD_ROW : od_cell(0, y + j) - od_cell(0, y);
    }
    OD_EACH(s, OD_S) {
        const bool far = OD_POTENTIALS == 0 || od_feeds(s);
        const OdLevel<INNER> z = {far ? level.z : level.z - 2};
        real *to = tile.planes + od_tile_at(s, z.z);
        const real *from = tile.from + od_plane_at(z) + s * OD_VOLUME;
        OD_EACH(j, OD_ROWS) od_copy_pack(to + tile.own + j * OD_TILE_ROW, from + rows[j], x);
        const OdRoute &pack = tile.pack, &cell = tile.cell;
        if (far ? pack.far : pack.near) od_copy_pack(to + pack.to, from + pack.from, x);
        if (far ? cell.far : cell.near) od_copy<sizeof(real)>(to + cell.to, from + cell.from);
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

// The same of plane z of species s, whose first cell lies at `at` in a plane.
template <int H> OD_FN void od_read_species(
    OdPatch<1, H> &patch, int s, int z, const real *planes, int at, const OdPlace &place,
    const OdStep &step) {
    od_read_tile(patch, planes + od_tile_at(s, z) + at);
    od_mend<true>(patch, s, place, step);
}

template <int H> OD_FN void od_write_tile(const OdPatch<0, H> &patch, real *first) {
    OD_EACH(j, H) {
        OdPack pack;
        OD_EACH(k, OD_VEC) pack.v[k] = patch.v[j][k];
        od_put(first + j * OD_TILE_ROW, pack);
    }
}

// Waits for plane i of a column that ends before `end`, and has the next copied while this one is
// computed. Species that do not feed potentials are a plane longer in coming.
template <bool INNER> OD_FN void od_enter(OdTile &tile, OdLevel<INNER> level, int end) {
    const int last = end + (OD_POTENTIALS > 0 ? 2 : 1);
    od_gate_pass(tile.gate);
    if (level.z < last) od_bring(tile, OdLevel<INNER>{level.z + 1});
    od_gate_copied(tile.gate);
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
