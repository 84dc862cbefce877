// Blocks that go more than one neighbour deep: tiles that overlap, with what neighbours need of
// each other handed on within the block.
//
// A warp is OD_ROWS rows of a tile, OD_VEC cells to a lane: what is beside a pack comes from the
// lane beside. Rows of the warps before and behind come through shared memory. At the rim of a
// tile, where there is no neighbour, values are wrong; they spread inward by a cell from stage to
// stage, OD_HALO_X and OD_HALO_Y cells in all, and are not written. Where the rim is a wall of
// the box nothing is lost: ghosts follow from what is inside. Along a periodic axis a tile begins
// with cells of the other end.

#define OD_TILE_X (32 * OD_VEC)
#define OD_TILE_Y (OD_BY * OD_ROWS)

#ifdef __CUDACC__
OD_FN real od_from_left(real a) { return __shfl_up_sync(0xffffffffu, a, 1); }
OD_FN real od_from_right(real a) { return __shfl_down_sync(0xffffffffu, a, 1); }
#define OD_BARRIER() __syncthreads()
#define OD_TILE_MEMORY(name) \
    extern __shared__ uint4 od_tile_bytes[]; \
    OdPack *name = reinterpret_cast<OdPack *>(od_tile_bytes)
#else
OD_FN real od_from_left(real a) { return od_host_shift(a, -1); }
OD_FN real od_from_right(real a) { return od_host_shift(a, 1); }
#define OD_BARRIER() od_host_yield()
#define OD_TILE_MEMORY(name) OD_SHARED(OdPack, name)
#endif

struct OdTile {
    int x, y;
    // Rows in memory, counted from the first cell of a plane, without x.
    int row[OD_ROWS + 2];
    bool first, last, low;
    // The pack lies partly or wholly beyond the end of a periodic row.
    bool torn;
    bool writes;
};

OD_FN OdTile od_tile() {
    OdTile tile;
    const int lane = threadIdx.x * OD_VEC, line = threadIdx.y * OD_ROWS;
    const int left = blockIdx.x * (OD_TILE_X - 2 * OD_HALO_X) - (OD_WRAP_X ? OD_HALO_X : 0);
    const int lower = blockIdx.y * (OD_TILE_Y - 2 * OD_HALO_Y) - (OD_WRAP_Y ? OD_HALO_Y : 0);
    tile.x = left + lane;
    tile.y = lower + line;
    tile.first = !OD_WRAP_X && tile.x == 0;
    tile.last = !OD_WRAP_X && tile.x < OD_NX && tile.x + OD_VEC >= OD_NX;
    tile.low = !OD_WRAP_Y && tile.y == 0;
    tile.torn = OD_WRAP_X && (tile.x < 0 || tile.x + OD_VEC > OD_NX);
    const bool from = lane >= OD_HALO_X || (!OD_WRAP_X && left == 0);
    const bool to = lane < OD_TILE_X - OD_HALO_X || (!OD_WRAP_X && left + OD_TILE_X >= OD_NX);
    tile.writes = from && to && tile.x < OD_NX;
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        const int y = tile.y + j - 1;
        const int clamped = y < 0 ? 0 : (y >= OD_NY ? OD_NY - 1 : y);
        tile.row[j] = (OD_WRAP_Y ? od_modulo(y, OD_NY) : clamped) * OD_ROW;
    }
    return tile;
}

// Whether row j of a thread is written.
OD_FN bool od_writes(const OdTile &tile, int j) {
    const int line = threadIdx.y * OD_ROWS + j, lower = tile.y + j - line;
    const bool from = line >= OD_HALO_Y || (!OD_WRAP_Y && lower == 0);
    const bool to = line < OD_TILE_Y - OD_HALO_Y || (!OD_WRAP_Y && lower + OD_TILE_Y >= OD_NY);
    return tile.writes && from && to && tile.y + j < OD_NY;
}

OD_FN OdPack od_tile_load(const real *row, const OdTile &tile) {
    if (OD_WRAP_X && tile.torn) {
        OdPack pack;
#pragma unroll
        for (int k = 0; k < OD_VEC; ++k) pack.v[k] = __ldg(row + od_modulo(tile.x + k, OD_NX));
        return pack;
    }
    // Packs after the end of a row are nobody's neighbours: any place does.
    return od_load(row + (tile.x < OD_NX ? tile.x : 0));
}

// The rows of a thread and those around, of one species in one plane of memory.
OD_FN void od_tile_read(OdRows &rows, const real *plane, const OdTile &tile) {
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        rows.pack[j] = od_tile_load(plane + tile.row[j], tile);
    }
}

// Where the outermost row of a warp is handed on: `side` 0 its first, 1 its last.
OD_FN int od_hand(int channel, int warp, int side) {
    return ((channel * OD_BY + warp) * 2 + side) * 32 + threadIdx.x;
}
OD_FN void od_hand_on(OdPack *memory, int channel, const OdRows &rows) {
    memory[od_hand(channel, threadIdx.y, 0)] = rows.pack[1];
    memory[od_hand(channel, threadIdx.y, 1)] = rows.pack[OD_ROWS];
}
OD_FN void od_take_over(const OdPack *memory, int channel, OdRows &rows) {
    const int warp = threadIdx.y;
    rows.pack[0] = memory[od_hand(channel, warp > 0 ? warp - 1 : 0, 1)];
    rows.pack[OD_ROWS + 1] = memory[od_hand(channel, warp < OD_BY - 1 ? warp + 1 : warp, 0)];
}

// The rule of a wall: the identity where the ghost is the mirror image.
struct OdRules {
    real shift[6], scale[6];
    bool affine[6];
};
OD_FN OdRules od_rules(int s, const OdStep &step) {
    OdRules rules;
#pragma unroll
    for (int face = 0; face < 6; ++face) {
        rules.affine[face] = od_wall(s, face) == OD_AFFINE;
        rules.shift[face] = rules.affine[face] ? step.shift[6 * s + face] : real(0);
        rules.scale[face] = rules.affine[face] ? od_wall_scale(s, face) : real(1);
    }
    return rules;
}
// Nothing passes: the walls of potentials.
OD_FN OdRules od_closed() {
    OdRules rules;
#pragma unroll
    for (int face = 0; face < 6; ++face) {
        rules.affine[face] = false;
        rules.shift[face] = real(0);
        rules.scale[face] = real(1);
    }
    return rules;
}

// Ghost rows, and the cells beside each row. Choices, no branches: lanes that exchange values must
// not go apart.
OD_FN void od_tile_walls(OdRows &rows, const OdTile &tile, const OdRules &rules) {
#if !OD_WRAP_Y
#pragma unroll
    for (int k = 0; k < OD_VEC; ++k) {
        const real mirror = rows.pack[1].v[k];
        const real ghost =
            rules.affine[2] ? od_fma(rules.scale[2], mirror, rules.shift[2]) : mirror;
        rows.pack[0].v[k] = tile.low ? ghost : rows.pack[0].v[k];
    }
#pragma unroll
    for (int j = 2; j < OD_ROWS + 2; ++j) {
        const bool high = tile.y + j - 1 == OD_NY;
#pragma unroll
        for (int k = 0; k < OD_VEC; ++k) {
            const real mirror = rows.pack[j - 1].v[k];
            const real ghost =
                rules.affine[3] ? od_fma(rules.scale[3], mirror, rules.shift[3]) : mirror;
            rows.pack[j].v[k] = high ? ghost : rows.pack[j].v[k];
        }
    }
#endif
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        rows.left[j] = rows.right[j] = real(0);
        if (!od_has_sides(j)) continue;
        rows.left[j] = od_from_left(rows.pack[j].v[OD_VEC - 1]);
        rows.right[j] = od_from_right(rows.pack[j].v[0]);
    }
#if !OD_WRAP_X
#pragma unroll
    for (int j = 0; j < OD_ROWS + 2; ++j) {
        if (!od_has_sides(j)) continue;
        const real left = rows.pack[j].v[0];
        const real right = rows.pack[j].v[(OD_TAIL == 0 ? OD_VEC : OD_TAIL) - 1];
        const real before = rules.affine[0] ? od_fma(rules.scale[0], left, rules.shift[0]) : left;
        const real after = rules.affine[1] ? od_fma(rules.scale[1], right, rules.shift[1]) : right;
        rows.left[j] = tile.first ? before : rows.left[j];
        real &end = OD_TAIL == 0 ? rows.right[j] : rows.pack[j].v[OD_TAIL];
        end = tile.last ? after : end;
    }
#endif
}

// As od_push, for plane z of the box; z = OD_NZ for the ghosts at its top.
OD_FN void od_tile_push(
    OdFlow &flow, const OdRows &rows, int z, const OdRules &rules,
    real (&laplacian)[OD_ROWS][OD_VEC]) {
    const OdEnds ends = {
        !OD_WRAP_Z && z == 0,
        !OD_WRAP_Z && z == OD_NZ,
        {rules.affine[4], rules.affine[5]},
        {rules.shift[4], rules.shift[5]},
        {rules.scale[4], rules.scale[5]},
    };
    od_push(flow, rows, laplacian, ends);
}

// Plane z in memory.
OD_FN const real *od_plane(const real *in, int z) {
    const int clamped = z < 0 ? 0 : (z >= OD_NZ ? OD_NZ - 1 : z);
    return in + (long long)(OD_WRAP_Z ? od_modulo(z, OD_NZ) : clamped) * OD_PLANE;
}
