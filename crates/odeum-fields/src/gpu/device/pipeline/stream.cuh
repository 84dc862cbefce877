// Planes that stream by a thread of a pipeline, which has H rows of two cells: a plane of what has
// Laplacians goes in, results of the plane before come out. The sums are those of flow.cuh and
// stage.cuh, in their order of operations, but one field after the other: of a window all rows go
// by, then the next window's.

// A row of a window, which is three cells high for each row of a thread and four wide for its two
// cells: from an aligned word on, or from the next one.
OD_FN void od_read_row(bool odd, unsigned at, real (&u)[4]) {
    if (odd) {
        const float2 mid = od_get_two(at + 8);
        u[0] = od_get(at + 4);
        u[1] = mid.x;
        u[2] = mid.y;
        u[3] = od_get(at + 16);
    } else {
        const float2 low = od_get_two(at), high = od_get_two(at + 8);
        u[0] = low.x;
        u[1] = low.y;
        u[2] = high.x;
        u[3] = high.y;
    }
}

// What a thread keeps from plane to plane: of what has Laplacians B of flow.cuh; of each result the
// sum so far.
template <class Rule, int H> struct OdStream {
    real layer[Rule::FIELDS][H][2], sum[Rule::RESULTS][H][2];
};

// Rows that are read ahead of the one that is computed.
#define OD_LOOK 2

// Takes a plane in and gives the plane of results before: `emit(r, j, v)` for row j of result r.
//
// What F or the potentials are made of without Laplacians is computed with the last of the fields
// that are species (`LAST`), when all values of a cell are at hand; what fields before that give
// waits for it in `own`.
template <int H, class Rule, class Emit>
OD_FN void od_take(const Rule &rule, OdStream<Rule, H> &stream, const Emit &emit) {
    constexpr int N = H + 2, FIELDS = Rule::FIELDS, OUT = Rule::RESULTS, LAST = Rule::LAST;
    constexpr int LOOK = OD_LOOK;
    real u[FIELDS * N][4], sides[FIELDS * N][2], own[FIELDS][H][2], begun[OUT][H][2];
    real centre[Rule::INPUTS][H][2];
    OD_EACH(f, FIELDS) {
        OD_EACH(j, H) {
            const int o = f * N + j, upto = o + 3 + LOOK;
            const int before = j > 0 ? upto - 1 : (f > 0 ? f * N + LOOK : 0);
            _Pragma("unroll") for (int q = before; q < upto && q < FIELDS * N; ++q) {
                rule.row(q / N, q % N, u[q]);
            }
            // Species that have no window: their cells alone, as far ahead.
            const int c_upto = (f - LAST) * H + j + LOOK + 1;
            const int c_before = f == 0 && j == 0 ? 0 : c_upto - 1;
            _Pragma("unroll") for (int c = c_before < 0 ? 0 : c_before; c < c_upto && c < H; ++c) {
                OD_EACH(s, Rule::INPUTS) {
                    if (!Rule::apart(s)) continue;
                    const float2 v = rule.cells(s, c);
                    centre[s][c][0] = v.x;
                    centre[s][c][1] = v.y;
                }
            }
            _Pragma("unroll") for (int r = j == 0 ? o : o + 2; r <= o + 2; ++r) {
                OD_EACH(k, 2) sides[r][k] = u[r][k] + u[r][k + 2];
            }
            OD_EACH(k, 2) {
                const real c = u[o + 1][k + 1];
                real &layer = stream.layer[f][j][k];
#if OD_POTENTIALS > 0
                const real ring = u[o][k + 1] + u[o + 2][k + 1] + sides[o + 1][k];
                const real corners = sides[o][k] + sides[o + 2][k];
                const real below = od_fma(R(2.0), ring, corners) + layer;
                layer = od_fma(R(2.0), c, ring);
                own[f][j][k] = od_fma(R(-24.0), c, below);
                const real above = layer;
#else
                const real q = u[o][k + 1] + u[o + 2][k + 1];
                const real b = od_fma(R(2.0), c, sides[o + 1][k]) + q;
                const real corners = od_fma(R(-28.0), c, sides[o][k] + sides[o + 2][k]);
                const real above = b - layer;
                own[f][j][k] = od_fma(R(4.0), b, corners) - above;
                layer = b;
#endif
                if (Rule::input(f) >= 0) centre[Rule::input(f)][j][k] = c;
                OD_EACH(r, OUT) {
                    if (!Rule::spreads(r, f)) continue;
                    stream.sum[r][j][k] = od_fma(rule.part(r, f), above, stream.sum[r][j][k]);
                }
            }
            OD_EACH(r, OUT) {
                if (Rule::ends(r) == f) emit(r, j, stream.sum[r][j]);
            }
            OD_EACH(k, 2) {
                if (f == LAST) {
                    real inputs[Rule::INPUTS], values[OUT];
                    OD_EACH(s, Rule::INPUTS) inputs[s] = centre[s][j][k];
                    rule.begin(inputs, values);
                    OD_EACH(r, OUT) {
                        begun[r][j][k] = values[r];
                        OD_EACH(n, LAST + 1) {
                            if (!Rule::spreads(r, n)) continue;
                            begun[r][j][k] = od_fma(rule.part(r, n), own[n][j][k], begun[r][j][k]);
                        }
                    }
                } else if (f > LAST) {
                    OD_EACH(r, OUT) {
                        if (!Rule::spreads(r, f)) continue;
                        begun[r][j][k] = od_fma(rule.part(r, f), own[f][j][k], begun[r][j][k]);
                    }
                }
                OD_EACH(r, OUT) {
                    // Where the result before is complete, and what begins here is too.
                    if (f == (Rule::ends(r) > LAST ? Rule::ends(r) : LAST)) {
                        stream.sum[r][j][k] = begun[r][j][k];
                    }
                }
            }
            od_keep_order();
        }
    }
}

// Takes plane z in, if a stage whose first plane is `first` has to do with it.
//
// Below plane 0 of a closed box is none: it is taken in twice, which leaves its own B as that of the
// plane below. In place of the plane after the last it is the last again.
template <int H, class Rule, class Emit>
OD_FN void od_stage(
    const Rule &rule, OdStream<Rule, H> &stream, int z, int first, const Emit &emit) {
    if (z < first || (!OD_WRAP_Z && z > OD_NZ)) return;
    int left = !OD_WRAP_Z && z == 0 ? 2 : 1;
    do {
        od_take<H>(rule, stream, emit);
    } while (--left > 0);
}

// The first plane that a stage takes in, so many planes below those of a block.
OD_FN int od_first_plane(int begin, int below) {
    return OD_WRAP_Z || begin > below ? begin - below : 0;
}
// Whether the plane is the last again.
OD_FN bool od_again(int z) { return !OD_WRAP_Z && z == OD_NZ; }
