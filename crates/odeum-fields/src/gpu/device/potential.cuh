// A step of forward Euler of a model with potentials, whose Laplacians make it reach two cells
// far: every cell is read once from memory and written once.
//
// A block takes the planes of a tile, as they come, through three stages. Plane i of the species
// that potentials depend on gives potentials in plane i − 1, on the tile and one cell around; all
// species and potentials of plane i − 2 go into the step; plane i − 3 comes out. What threads need
// of each other lies in shared memory, and there is one gate for each plane.

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
            above[s] = flow.b[s];
            od_clear(own[s]);
        } else {
            od_take_plane(u[s], s, z, place, step, flow.b[s], above[s], own[s]);
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
            od_centres(inputs + OD_S, place, j, k, z.z);
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
            od_centres(inputs + 2 * OD_S, place, j, k, z.z - 1);
            od_potentials(step.t, inputs, inputs, values);
            OD_EACH(n, OD_POTENTIALS) result[n].v[j][k] = values[n];
#endif
        }
    }
}

// Computes potentials of rows of cells, whose first lies at `at` in planes of the tile.
template <int H, bool INNER> OD_FN void od_feed(
    OdPotentials<H> &flow, OdLevel<INNER> top, const OdPlace &place, int at, const OdStep &step,
    real *planes) {
    OdPatch<1, H> u[OD_S];
    OdPatch<0, H> mu[OD_POTENTIALS];
    OD_EACH(s, OD_S) {
        if (!od_feeds(s)) continue;
        od_read_species(u[s], s, top.z, planes, at, place, step);
    }
    od_potentials_of(flow, u, top, place, step, mu);
    OD_EACH(n, OD_POTENTIALS) od_write_tile(mu[n], planes + od_tile_again(n, top.z) + at);
}

// Planes from `begin` to before `end` of the cells of a thread.
struct OdColumn {
    int begin, end;
    OdTile tile;
    OdPotentials<OD_ROWS> potentials;
    OdPotentials<1> around;
    OdFlow<> flow[OD_S];
    OdPatch<0> b[OD_POTENTIALS], partial[OD_POTENTIALS + 1];
};

template <bool INNER> OD_FN void od_up(
    OdColumn &column, OdLevel<INNER> top, const real *, real *out, const OdStep &step) {
    OdTile &tile = column.tile;
    const OdPlace &place = tile.place;
    const OdLevel<INNER> level = {top.z - 2};
    od_enter(tile, top, column.end);
    if (OD_WRAP_Z || INNER || top.z <= OD_NZ) {
        od_feed(column.potentials, top, place, tile.own, step, tile.planes);
        if (tile.has_around) {
            od_feed(column.around, top, tile.around, tile.around_at, step, tile.planes);
        }
    }
    if (!OD_WRAP_Z && !INNER && level.z < 0) {
        od_gate_leave(tile.gate);
        return;
    }
    const bool ended = od_is(level, OD_NZ);
    OdPatch<1> u[OD_S];
    OdPatch<0> up[OD_S], result[OD_S];
    OdInflow<> above, own;
    OD_EACH(s, OD_S) {
        OdFlow<> &flow = column.flow[s];
        if (ended) {
            above.of[s] = flow.b;
            od_clear(own.of[s]);
        } else {
            od_read_species(u[s], s, level.z, tile.planes, tile.own, place, step);
            od_take_plane(u[s], s, level, place, step, flow.b, above.of[s], own.of[s]);
        }
#if OD_VELOCITY
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
            above.of[at] = column.b[n];
            od_clear(own.of[at]);
        } else {
            OdPatch<1> mu;
            od_read_tile(mu, tile.planes + od_tile_again(n, level.z + 1) + tile.own);
            od_mend(mu, -1, place, step);
            od_take_plane(mu, -1, level, place, step, column.b[n], above.of[at], own.of[at]);
        }
    }
    od_gate_leave(tile.gate);
    od_finish(column.flow, above, up, level.z - 1, place, step, column.partial, result);
    if (level.z > column.begin) od_write(result, out, level.z - 1, place);
    od_begin(column.flow, own, u, level, place, step);
#if !OD_LINEAR
    OD_EACH(n, OD_POTENTIALS) column.partial[n] = own.of[OD_S + n];
#endif
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_potential(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan span) {
    OD_BLOCK_MEMORY(memory);
    const OdStep &step = steps.at[0];
    OdColumn column;
    column.begin = od_span_begin(span);
    column.end = od_span_end(span);
    column.tile = od_tile(in, memory);
    od_rest(column.potentials);
    od_rest(column.around);
    OD_EACH(s, OD_S) od_rest(column.flow[s]);
    OD_EACH(n, OD_POTENTIALS) {
        od_clear(column.b[n]);
        od_clear(column.partial[n]);
    }
    od_climb_tile(column, in, out, step);
}
