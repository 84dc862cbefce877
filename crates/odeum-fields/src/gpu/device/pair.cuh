// Two steps of forward Euler at once: every cell is read once from memory and written once for
// both of them.
//
// A block takes the planes of a tile, as they come, through both. Plane i of the field gives plane
// i − 1 of the field a step later, on the tile and one cell around; of that, plane i − 2 goes into
// the second step, and plane i − 3 comes out. What threads need of each other lies in shared
// memory, and there is one gate for each plane.

// Takes rows of cells, whose first lies at `at` in planes of the tile, through the first step.
template <int H, bool INNER> OD_FN void od_feed(
    OdFlow<H> (&flow)[OD_S], OdLevel<INNER> top, const OdPlace &place, int at,
    const OdStep &step, real *planes) {
    OdPatch<0, H> result[OD_S];
    const auto read = [&](OdPatch<1, H> &u, int s) {
        od_read_species(u, s, top.z, planes, at, place, step);
    };
    od_stage(flow, top, place, step, read, [] {}, result);
    OD_EACH(s, OD_S) od_write_tile(result[s], planes + od_tile_again(s, top.z) + at);
}

// Planes from `begin` to before `end` of the cells of a thread.
struct OdColumn {
    int begin, end;
    OdTile tile;
    OdFlow<> first[OD_S], second[OD_S];
    OdFlow<1> around[OD_S];
};

template <bool INNER> OD_FN void od_up(
    OdColumn &column, OdLevel<INNER> top, const real *, real *out, const OdSteps &steps) {
    OdTile &tile = column.tile;
    const OdPlace &place = tile.place;
    const OdLevel<INNER> level = {top.z - 2};
    od_enter(tile, top, column.end);
    if (OD_WRAP_Z || INNER || top.z <= OD_NZ) {
        const OdStep &step = steps.at[0];
        od_feed(column.first, top, place, tile.own, step, tile.planes);
        if (tile.has_around) {
            od_feed(column.around, top, tile.around, tile.around_at, step, tile.planes);
        }
    }
    if (!OD_WRAP_Z && !INNER && level.z < 0) {
        od_gate_leave(tile.gate);
        return;
    }
    OdPatch<0> result[OD_S];
    const auto read = [&](OdPatch<1> &u, int s) {
        od_read_tile(u, tile.planes + od_tile_again(s, level.z + 1) + tile.own);
        od_mend(u, s, place, steps.at[1]);
    };
    const auto leave = [&] { od_gate_leave(tile.gate); };
    od_stage(column.second, level, place, steps.at[1], read, leave, result);
    if (level.z > column.begin) od_write(result, out, level.z - 1, place);
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_pair(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan span) {
    OD_BLOCK_MEMORY(memory);
    OdColumn column;
    column.begin = od_span_begin(span);
    column.end = od_span_end(span);
    column.tile = od_tile(in, memory);
    OD_EACH(s, OD_S) {
        od_rest(column.first[s]);
        od_rest(column.second[s]);
        od_rest(column.around[s]);
    }
    od_climb_tile(column, in, out, steps);
}
