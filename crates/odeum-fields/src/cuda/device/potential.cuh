// A step of forward Euler of a model with potentials, whose Laplacians make it reach two cells
// far: every cell is read once from memory and written once.
//
// Plane i of the species that potentials depend on gives potentials in plane i − 1, on the cells
// of a thread and one around; with these, and with all species, plane i − 1 goes into the step.

// Potentials of planes that stream by.
template <int N> struct OdPotentials {
    OdPatch<N> b[OD_S];
#if OD_LINEAR
    // μ so far.
    OdPatch<N> sum[OD_POTENTIALS];
#else
    OdPatch<N> sum[OD_S], here[OD_S];
#endif
};

// Plane z of species goes in, plane z − 1 of the potentials comes out.
template <int N, bool INNER> OD_FN void od_potentials_of(
    OdPotentials<N> &flow, const OdPatch<N + 1> (&u)[OD_S], OdLevel<INNER> z,
    const OdPlace &place, const OdStep &step, OdPatch<N> (&result)[OD_POTENTIALS]) {
    OdPatch<N> above[OD_S], own[OD_S];
    const bool ended = od_is(z, OD_NZ);
    OD_EACH(s, OD_S) {
        if (!od_feeds(s)) continue;
        if (ended) {
            od_clear(above[s]);
            od_clear(own[s]);
        } else {
            od_take_plane<N>(u[s], s, z, place, step, flow.b[s], above[s], own[s]);
        }
    }
    OD_EACH(j, OD_ROWS + 2 * N) {
        OD_EACH(k, OD_VEC + 2 * N) {
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
            od_centres<N>(inputs + OD_S, place, j, k, z.z);
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
            od_centres<N>(inputs + 2 * OD_S, place, j, k, z.z - 1);
            od_potentials(step.t, inputs, inputs, values);
            OD_EACH(n, OD_POTENTIALS) result[n].v[j][k] = values[n];
#endif
        }
    }
}

// Planes from `begin` to before `end` of a column of cells.
struct OdColumn {
    OdPlace place;
    int begin, end;
    OdPotentials<1> potentials;
    OdFlow<0> flow[OD_S];
    OdPatch<0> b[OD_POTENTIALS], partial[OD_POTENTIALS + 1];
};

template <bool INNER> OD_FN void od_up(
    OdColumn &column, OdLevel<INNER> top, const real *in, real *out, const OdStep &step) {
    const OdPlace &place = column.place;
    const OdLevel<INNER> level = {top.z - 1};
    OdPatch<1> mu[OD_POTENTIALS];
    OdPatch<1> u[OD_S];
    if (OD_AHEAD > 0) od_ask_for(in, top.z + OD_AHEAD, place);
    // Asked for before they are needed, where there are registers for that.
    if (OD_FLOAT) {
        OD_EACH(s, OD_S) od_read<1>(u[s], od_plane(in, level) + s * OD_VOLUME, place);
    }
    if (OD_WRAP_Z || INNER || top.z <= OD_NZ) {
        OdPatch<2> wide[OD_S];
        const real *plane = od_plane(in, top);
        OD_EACH(s, OD_S) {
            if (!od_feeds(s)) continue;
            od_read<2>(wide[s], plane + s * OD_VOLUME, place);
            od_mend<2>(wide[s], s, place, step);
        }
        od_potentials_of<1>(column.potentials, wide, top, place, step, mu);
    }
    if (!OD_WRAP_Z && !INNER && level.z < 0) return;
    const bool ended = od_is(level, OD_NZ);
    OdPatch<0> up[OD_S], result[OD_S];
    OdInflow<0> above, own;
    OD_EACH(s, OD_S) {
        OdFlow<0> &flow = column.flow[s];
        if (!OD_FLOAT) od_read<1>(u[s], od_plane(in, level) + s * OD_VOLUME, place);
        od_mend<1>(u[s], s, place, step);
        if (ended) {
            od_clear(above.of[s]);
            od_clear(own.of[s]);
        } else {
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
            od_mend<1>(mu[n], -1, place, step);
            od_take_plane<0>(
                mu[n], -1, level, place, step, column.b[n], above.of[at], own.of[at]);
        }
    }
    od_finish<0>(column.flow, above, up, level.z - 1, place, step, column.partial, result);
    if (level.z > column.begin) od_write(result, out, level.z - 1, place);
    od_begin<0>(column.flow, own, u, level, place, step);
#if !OD_LINEAR
    OD_EACH(n, OD_POTENTIALS) column.partial[n] = own.of[OD_S + n];
#endif
}

extern "C" __global__ void __launch_bounds__(OD_BX * OD_BY, OD_BLOCKS_PER_SM) od_potential(
    const real *__restrict__ in, real *__restrict__ out, const OdSteps steps, const OdSpan span) {
    const OdStep &step = steps.at[0];
    const int x = (blockIdx.x * OD_BX + threadIdx.x) * OD_VEC;
    const int y = (blockIdx.y * OD_BY + threadIdx.y) * OD_ROWS;
    if (x >= OD_NX || y >= OD_NY) return;
    OdColumn column;
    column.place = od_place(x, y);
    column.begin = od_span_begin(span);
    column.end = od_span_end(span);
    column.potentials = {};
    OD_EACH(s, OD_S) od_rest(column.flow[s]);
    OD_EACH(n, OD_POTENTIALS) {
        od_clear(column.b[n]);
        od_clear(column.partial[n]);
    }
    od_climb<2>(column, in, out, step);
}
