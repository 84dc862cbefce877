// A step of forward Euler of a model with potentials, whose Laplacians make it reach two cells
// far: every cell is read once from memory and written once.
//
// A block takes the planes of a tile, as they come, through three stages. Plane i of the species
// that potentials depend on gives potentials in plane i − 1, on the tile and one cell around; all
// species and potentials of plane i − 2 go into the step; plane i − 3 comes out. What threads need
// of each other lies in shared memory, and there is one gate for each plane.

static_assert(2 * OD_BX + 2 * (OD_TILE_Y + 2) <= OD_BX * OD_BY, "a thread for all around a tile");

// Potentials of planes that stream by.
template <int H> struct OdPotentials {
    OdPatch<0, H> b[OD_S];
#if OD_LINEAR
    // μ so far.
    OdPatch<0, H> sum[OD_POTENTIALS];
#else
    OdPatch<0, H> sum[OD_S], here[OD_S];
#endif
};

template <int H> OD_FN void od_rest(OdPotentials<H> &flow) {
    OD_EACH(s, OD_S) od_clear(flow.b[s]);
#if OD_LINEAR
    OD_EACH(n, OD_POTENTIALS) od_clear(flow.sum[n]);
#else
    OD_EACH(s, OD_S) {
        od_clear(flow.sum[s]);
        od_clear(flow.here[s]);
    }
#endif
}

// Plane z of species goes in, plane z − 1 of the potentials comes out.
template <int H, bool INNER> OD_FN void od_potentials_of(
    OdPotentials<H> &flow, const OdPatch<1, H> (&u)[OD_S], OdLevel<INNER> z, const OdPlace &place,
    const OdStep &step, OdPatch<0, H> (&result)[OD_POTENTIALS]) {
    OdPatch<0, H> above[OD_S], own[OD_S];
    const bool ended = od_is(z, OD_NZ);
    OD_EACH(s, OD_S) {
        if (!od_feeds(s)) continue;
        if (ended) {
            od_clear(above[s]);
            od_clear(own[s]);
        } else {
            od_take_plane<0>(u[s], s, z, place, step, flow.b[s], above[s], own[s]);
        }
    }
    OD_EACH(j, H) {
        OD_EACH(k, OD_VEC) {
            real inputs[2 * OD_S + 3], values[OD_POTENTIALS];
#if OD_LINEAR
            OD_EACH(n, OD_POTENTIALS) {
                real value = flow.sum[n].v[j][k];
                OD_EACH(s, OD_S) {
                    if (!od_feeds(s)) continue;
                    value = od_fma(od_potential_part(n, s), above[s].v[j][k], value);
                }
                result[n].v[j][k] = value;
            }
            OD_EACH(s, OD_S) inputs[s] = od_feeds(s) ? u[s].v[j + 1][k + 1] : real(0);
            od_centres<0>(inputs + OD_S, place, j, k, z.z);
            od_local_potentials(step.t, inputs, inputs, values);
            OD_EACH(n, OD_POTENTIALS) {
                real value = values[n];
                OD_EACH(s, OD_S) {
                    if (!od_feeds(s)) continue;
                    value = od_fma(od_potential_part(n, s), own[s].v[j][k], value);
                }
                flow.sum[n].v[j][k] = value;
            }
#else
            OD_EACH(s, OD_S) {
                inputs[s] = inputs[OD_S + s] = real(0);
                if (!od_feeds(s)) continue;
                inputs[s] = flow.here[s].v[j][k];
                inputs[OD_S + s] = (flow.sum[s].v[j][k] + above[s].v[j][k]) * OD_SCALE;
                flow.sum[s].v[j][k] = own[s].v[j][k];
                flow.here[s].v[j][k] = u[s].v[j + 1][k + 1];
            }
            od_centres<0>(inputs + 2 * OD_S, place, j, k, z.z - 1);
            od_potentials(step.t, inputs, inputs, values);
            OD_EACH(n, OD_POTENTIALS) result[n].v[j][k] = values[n];
#endif
        }
    }
}

// Rows of cells whose potentials a thread computes: its own, or a pack of those around the tile.
template <int H> struct OdSource {
    OdPlace place;
    // Where its first cell lies in tiles of potentials.
    int at;
    OdPotentials<H> flow;
};

template <int H, bool INNER> OD_FN void od_feed(
    OdSource<H> &source, OdLevel<INNER> top, const OdStep &step, real *tiles) {
    OdPatch<1, H> u[OD_S];
    OdPatch<0, H> mu[OD_POTENTIALS];
    OD_EACH(s, OD_S) {
        if (!od_feeds(s)) continue;
        od_read_tile(u[s], tiles + od_tile_at(s, top.z) + source.at + OD_TILE_ROW);
        od_mend<1>(u[s], s, source.place, step);
    }
    od_potentials_of(source.flow, u, top, source.place, step, mu);
    OD_EACH(n, OD_POTENTIALS) {
        od_write_tile(mu[n], tiles + od_tile_of_potential(n, top.z) + source.at);
    }
}

// Planes from `begin` to before `end` of the cells of a thread.
struct OdColumn {
    int begin, end;
    real *tiles;
    OdGate gate;
    // Of the cells in memory, and in a tile without what surrounds it.
    const real *from;
    int own;
    OdRim<2> far_rim;
    OdRim<1> near_rim;
    OdSource<OD_ROWS> source;
    OdSource<1> around;
    bool has_around;
    OdFlow<0> flow[OD_S];
    OdPatch<0> b[OD_POTENTIALS], partial[OD_POTENTIALS + 1];
};

// Has plane i of species that feed potentials copied, and plane i − 2 of the others.
template <bool INNER> OD_FN void od_bring_all(const OdColumn &column, OdLevel<INNER> level) {
    const OdLevel<INNER> before = {level.z - 2};
    const OdPlace &place = column.source.place;
    int rows[OD_ROWS];
    OD_EACH(j, OD_ROWS) {
        const bool whole = OD_NY % OD_TILE_Y == 0;
        rows[j] = whole ? j * OD_ROW : od_cell(0, place.y + j) - od_cell(0, place.y);
    }
    OD_EACH(s, OD_S) {
        const OdLevel<INNER> z = od_feeds(s) ? level : before;
        real *tile = column.tiles + od_tile_at(s, z.z);
        const real *from = column.from + od_plane_at(z) + s * OD_VOLUME;
        if (od_feeds(s)) {
            od_bring(tile, column.own, from, rows, column.far_rim, place.x);
        } else {
            od_bring(tile, column.own, from, rows, column.near_rim, place.x);
        }
    }
}

template <bool INNER> OD_FN void od_up(
    OdColumn &column, OdLevel<INNER> top, const real *, real *out, const OdStep &step) {
    const OdPlace &place = column.source.place;
    const OdLevel<INNER> level = {top.z - 2};
    od_gate_pass(column.gate);
    if (top.z + 1 < column.end + 3) od_bring_all(column, OdLevel<INNER>{top.z + 1});
    od_gate_copied(column.gate);
    if (OD_WRAP_Z || INNER || top.z <= OD_NZ) {
        od_feed(column.source, top, step, column.tiles);
        if (column.has_around) od_feed(column.around, top, step, column.tiles);
    }
    if (!OD_WRAP_Z && !INNER && level.z < 0) {
        od_gate_leave(column.gate);
        return;
    }
    const bool ended = od_is(level, OD_NZ);
    OdPatch<1> u[OD_S];
    OdPatch<0> up[OD_S], result[OD_S];
    OdInflow<0> above, own;
    OD_EACH(s, OD_S) {
        OdFlow<0> &flow = column.flow[s];
        if (ended) {
            od_clear(above.of[s]);
            od_clear(own.of[s]);
        } else {
            const int rows = od_tile_reach(s) * OD_TILE_ROW;
            od_read_tile(u[s], column.tiles + od_tile_at(s, level.z) + column.own + rows);
            od_mend<1>(u[s], s, place, step);
            od_take_plane<0>(u[s], s, level, place, step, flow.b, above.of[s], own.of[s]);
        }
#if OD_WIND
        OD_EACH(j, OD_ROWS) {
            OD_EACH(k, OD_VEC) {
                up[s].v[j][k] = ended ? od_ghost(s, 5, flow.here.v[j][k], step)
                                      : u[s].v[j + 1][k + 1];
            }
        }
#endif
    }
    OD_EACH(n, OD_POTENTIALS) {
        const int at = OD_S + n;
        if (ended) {
            od_clear(above.of[at]);
            od_clear(own.of[at]);
        } else {
            OdPatch<1> mu;
            const int tile = od_tile_of_potential(n, level.z + 1);
            od_read_tile(mu, column.tiles + tile + column.own + OD_TILE_ROW);
            od_mend<1>(mu, -1, place, step);
            od_take_plane<0>(mu, -1, level, place, step, column.b[n], above.of[at], own.of[at]);
        }
    }
    od_gate_leave(column.gate);
    od_finish<0>(column.flow, above, up, level.z - 1, place, step, column.partial, result);
    if (level.z > column.begin) od_write(result, out, level.z - 1, place);
    od_begin<0>(column.flow, own, u, level, place, step);
#if !OD_LINEAR
    OD_EACH(n, OD_POTENTIALS) column.partial[n] = own.of[OD_S + n];
#endif
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_potential(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan span) {
    OD_BLOCK_MEMORY(memory);
    const OdStep &step = steps.at[0];
    const int x0 = blockIdx.x * OD_TILE_X, y0 = blockIdx.y * OD_TILE_Y;
    const int x = threadIdx.x * OD_VEC, y = threadIdx.y * OD_ROWS;
    OdColumn column;
    column.begin = od_span_begin(span);
    column.end = od_span_end(span);
    column.gate = od_gate(memory);
    column.tiles = memory + OD_GATE;
    const int own = od_cell(x0 + x, y0 + y);
    column.from = in + own;
    column.own = y * OD_TILE_ROW + OD_MARGIN + x;
    column.far_rim = od_rim<2>(x0, y0, own);
    column.near_rim = od_rim<1>(x0, y0, own);
    column.source.place = od_place(x0 + x, y0 + y);
    column.source.at = column.own + OD_TILE_ROW;
    // Around the tile: two rows of packs, then the packs left and right of all rows.
    const int n = OD_BX * OD_BY - 1 - (threadIdx.y * OD_BX + threadIdx.x), side = n - 2 * OD_BX;
    const int row = side < 0 ? (n < OD_BX ? 0 : OD_TILE_Y + 1) : side / 2;
    const int pack = side < 0 ? n % OD_BX : (side % 2 == 0 ? -1 : OD_BX);
    column.has_around = row < OD_TILE_Y + 2;
    column.around.place = od_place(x0 + pack * OD_VEC, y0 + row - 1);
    column.around.at = row * OD_TILE_ROW + OD_MARGIN + pack * OD_VEC;
    od_rest(column.source.flow);
    od_rest(column.around.flow);
    OD_EACH(s, OD_S) od_rest(column.flow[s]);
    OD_EACH(n, OD_POTENTIALS) {
        od_clear(column.b[n]);
        od_clear(column.partial[n]);
    }
    const int first = column.begin < 2 && !OD_WRAP_Z ? 0 : column.begin - 2;
    od_bring_all(column, OdLevel<false>{first});
    od_gate_copied(column.gate);
    od_gate_leave(column.gate);
    od_climb<2, 3>(column, in, out, step);
}
