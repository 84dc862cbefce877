// A step of forward Euler on planes that stream by: plane z of a field goes in, plane z − 1 of the
// field a step later comes out.
//
// OD_LINEAR: F = R(u, x, t) + Σ kₙ Lₙ with numbers k. Of a plane whose upper neighbour has not
// come yet only the sum so far is kept. Otherwise the parts of the Laplacian, the values, and
// what a velocity brought are.

template <int H = OD_ROWS> struct OdFlow {
    OdPatch<0, H> b, sum;
#if OD_VELOCITY || !OD_LINEAR
    OdPatch<0, H> here;
#endif
#if OD_VELOCITY && !OD_LINEAR
    OdPatch<0, H> brought;
#endif
};

template <int H> OD_FN void od_rest(OdFlow<H> &flow) {
    od_clear(flow.b);
    od_clear(flow.sum);
#if OD_VELOCITY || !OD_LINEAR
    od_clear(flow.here);
#endif
#if OD_VELOCITY && !OD_LINEAR
    od_clear(flow.brought);
#endif
}

// Coordinates of a cell of a patch, behind the values of a graph.
OD_FN void od_centres(real *to, const OdPlace &place, int j, int k, int z) {
    to[0] = od_centre(0, OD_CELL_X(place.x + k));
    to[1] = od_centre(1, OD_CELL_Y(place.y + j));
    to[2] = od_centre(2, OD_CELL_Z(z));
}

#if OD_VELOCITY
// What a velocity that is the same everywhere carries in, upwind, but for the part along z when it
// comes from above, where the next plane is. `below` is the value in the plane before.
template <int H> OD_FN real od_advected(
    const OdPatch<1, H> &u, int j, int k, real below, const OdStep &step) {
    const real c = u.v[j + 1][k + 1];
    const real along_x = u.v[j + 1][OD_VELOCITY_LOW_X ? k : k + 2];
    const real along_y = u.v[OD_VELOCITY_LOW_Y ? j : j + 2][k + 1];
    const real plane = od_fma(along_x - c, step.speed[0], (along_y - c) * step.speed[1]);
    return OD_VELOCITY_LOW_Z ? od_fma(below - c, step.speed[2], plane) : plane;
}
#endif

// Point sources.
template <int H> OD_FN void od_sources(
    OdPatch<0, H> (&result)[OD_S], const OdPlace &place, int z, const OdStep &step) {
#if OD_SOURCES > 0
    OD_EACH(n, OD_SOURCES) {
        if (OD_CELL_Z(z) != od_source_cell(n, 2)) continue;
        OD_EACH(j, H) {
            OD_EACH(k, OD_VEC) {
                if (OD_CELL_X(place.x + k) == od_source_cell(n, 0) &&
                    OD_CELL_Y(place.y + j) == od_source_cell(n, 1)) {
                    real &value = result[od_source_species(n)].v[j][k];
                    value = od_fma(step.h, step.rate[n], value);
                }
            }
        }
    }
#endif
}

// What the field itself brings into the result.
OD_FN real od_itself(real c, const OdStep &step) {
#if OD_BLEND
    return OD_ITSELF ? step.itself * c : real(0);
#else
    return c;
#endif
}

// Adds what the result is made of beside that.
template <int H> OD_FN void od_blend(
    OdPatch<0, H> (&result)[OD_S], const OdPlace &place, int z, const OdStep &step) {
#if OD_BLEND
    // What is outside of the box is not written.
    if (z < 0 || z >= OD_NZ || od_outside(place)) return;
    OD_EACH(s, OD_S) {
        OD_EACH(j, OD_ROWS) {
            const long long at =
                s * OD_VOLUME + (long long)z * OD_PLANE + place.at + (long long)j * OD_ROW;
            OD_EACH(n, OD_TERMS) {
                const OdPack term = od_load(step.term[n] + at);
                OD_EACH(k, OD_VEC) {
                    result[s].v[j][k] = od_fma(term.v[k], step.factor[n], result[s].v[j][k]);
                }
            }
            if (OD_OWN) {
                const OdPack own = od_reload(step.out + at);
                OD_EACH(k, OD_VEC) {
                    result[s].v[j][k] = od_fma(own.v[k], step.own, result[s].v[j][k]);
                }
            }
        }
    }
#endif
}

// Planes of all species, and of all potentials.
template <int H = OD_ROWS> struct OdInflow {
    OdPatch<0, H> of[OD_S + OD_POTENTIALS];
};

// Completes plane z, given what the plane above it adds to Laplacians, and for velocities from above
// the values there.
template <int H> OD_FN void od_finish(
    const OdFlow<H> (&flow)[OD_S], const OdInflow<H> &above, const OdPatch<0, H> (&up)[OD_S], int z,
    const OdPlace &place, const OdStep &step, const OdPatch<0, H> (&partial)[OD_POTENTIALS + 1],
    OdPatch<0, H> (&result)[OD_S]) {
    OD_EACH(j, H) {
        OD_EACH(k, OD_VEC) {
#if OD_LINEAR
            OD_EACH(s, OD_S) {
                real value = flow[s].sum.v[j][k];
                OD_EACH(n, OD_S + OD_POTENTIALS) {
                    if (!od_spreads(s, n)) continue;
                    const real part = step.spread[od_spread(s, n)];
                    value = od_fma(part, above.of[n].v[j][k], value);
                }
#if OD_VELOCITY && !OD_VELOCITY_LOW_Z
                if (od_advected(s)) {
                    const real gain = (up[s].v[j][k] - flow[s].here.v[j][k]) * step.speed[2];
                    value = od_fma(step.h, gain, value);
                }
#endif
                result[s].v[j][k] = value;
            }
#else
            real inputs[2 * OD_S + 3 + OD_POTENTIALS], rhs[OD_S];
            OD_EACH(s, OD_S) {
                inputs[s] = flow[s].here.v[j][k];
                inputs[OD_S + s] = (flow[s].sum.v[j][k] + above.of[s].v[j][k]) * OD_SCALE;
            }
            od_centres(inputs + 2 * OD_S, place, j, k, z);
            OD_EACH(n, OD_POTENTIALS) {
                const real laplacian = partial[n].v[j][k] + above.of[OD_S + n].v[j][k];
                inputs[2 * OD_S + 3 + n] = laplacian * OD_SCALE;
            }
            od_rhs(step.t, inputs, inputs, rhs);
            OD_EACH(s, OD_S) {
#if OD_VELOCITY
                if (od_advected(s)) {
                    real gain = flow[s].brought.v[j][k];
                    if (!OD_VELOCITY_LOW_Z) {
                        gain = od_fma(up[s].v[j][k] - inputs[s], step.speed[2], gain);
                    }
                    rhs[s] = rhs[s] + gain;
                }
#endif
                result[s].v[j][k] = od_fma(step.h, rhs[s], od_itself(inputs[s], step));
            }
#endif
        }
    }
    od_sources(result, place, z, step);
    od_blend(result, place, z, step);
}

// Begins plane z.
template <int H, bool INNER> OD_FN void od_begin(
    OdFlow<H> (&flow)[OD_S], const OdInflow<H> &own, const OdPatch<1, H> (&u)[OD_S],
    OdLevel<INNER> z, const OdPlace &place, const OdStep &step) {
    OD_EACH(j, H) {
        OD_EACH(k, OD_VEC) {
#if OD_LINEAR
            real inputs[OD_S + 3], rhs[OD_S];
            OD_EACH(s, OD_S) inputs[s] = u[s].v[j + 1][k + 1];
            od_centres(inputs + OD_S, place, j, k, z.z);
            od_local(step.t, inputs, inputs, rhs);
#endif
            OD_EACH(s, OD_S) {
                const real c = u[s].v[j + 1][k + 1];
#if OD_VELOCITY
                const real here = flow[s].here.v[j][k];
                const real below = od_is(z, 0, s, 4) ? od_ghost(s, 4, c, step) : here;
                const real gain = od_advected(u[s], j, k, below, step);
#endif
#if OD_LINEAR
                const real itself = od_itself(c, step);
                real value = od_reacts(s) ? od_fma(step.h, rhs[s], itself) : itself;
#if OD_VELOCITY
                if (od_advected(s)) value = od_fma(step.h, gain, value);
#endif
                OD_EACH(n, OD_S + OD_POTENTIALS) {
                    if (!od_spreads(s, n)) continue;
                    const real part = step.spread[od_spread(s, n)];
                    value = od_fma(part, own.of[n].v[j][k], value);
                }
                flow[s].sum.v[j][k] = value;
#else
                flow[s].sum.v[j][k] = own.of[s].v[j][k];
#if OD_VELOCITY
                flow[s].brought.v[j][k] = gain;
#endif
#endif
#if OD_VELOCITY || !OD_LINEAR
                flow[s].here.v[j][k] = c;
#endif
            }
        }
    }
}

// Plane z of the field goes in, plane z − 1 comes out. z = OD_NZ, beyond the top of the box, has
// nothing to go in. `read` gives the plane of a species, just before it is taken in, so that of
// those around the thread's cells no two species are held at once; `leave` follows the last.
template <int H, bool INNER, class Read, class Leave> OD_FN void od_stage(
    OdFlow<H> (&flow)[OD_S], OdLevel<INNER> z, const OdPlace &place, const OdStep &step,
    const Read &read, const Leave &leave, OdPatch<0, H> (&result)[OD_S]) {
    OdPatch<1, H> u[OD_S];
    OdInflow<H> above, own;
    OdPatch<0, H> up[OD_S];
    const OdPatch<0, H> none[1] = {};
    // Where all ghosts above are read, there is a plane like others.
    bool ends = false;
    OD_EACH(s, OD_S) ends = ends || od_is(z, OD_NZ, s, 5);
    if (ends) {
        OD_EACH(s, OD_S) {
            od_clear(above.of[s]);
#if OD_VELOCITY
            OD_EACH(j, H) {
                OD_EACH(k, OD_VEC) {
                    up[s].v[j][k] = od_ghost(s, 5, flow[s].here.v[j][k], step);
                }
            }
#endif
        }
        leave();
        od_finish(flow, above, up, z.z - 1, place, step, none, result);
        return;
    }
    OD_EACH(s, OD_S) {
        read(u[s], s);
        od_take_plane(u[s], s, z, place, step, flow[s].b, above.of[s], own.of[s]);
#if OD_VELOCITY
        OD_EACH(j, H) {
            OD_EACH(k, OD_VEC) up[s].v[j][k] = u[s].v[j + 1][k + 1];
        }
#endif
    }
    leave();
    od_finish(flow, above, up, z.z - 1, place, step, none, result);
    od_begin(flow, own, u, z, place, step);
}

// The same of planes that have been read together.
template <int H, bool INNER> OD_FN void od_stage(
    OdFlow<H> (&flow)[OD_S], const OdPatch<1, H> (&u)[OD_S], OdLevel<INNER> z,
    const OdPlace &place, const OdStep &step, OdPatch<0, H> (&result)[OD_S]) {
    const auto read = [&](OdPatch<1, H> &plane, int s) { plane = u[s]; };
    od_stage(flow, z, place, step, read, [] {}, result);
}
