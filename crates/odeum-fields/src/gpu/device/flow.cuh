// Laplacians of planes that stream by, from sums that neighbouring cells share.
//
// With c a cell, s the sum of the two beside it along x and q that of the two along y, let
//     B = 2 c + s + q,   P = 4 B − 28 c + s(before) + s(behind)
// in a plane. The 19-point Laplacian of Molnár et al. 2011 (eqs. 3 and 4) is then
//     P + (B(above) − B) − (B − B(below)),
// 10.5 operations for a cell and 2 for each difference of planes. Of the plane before nothing
// but B is kept. Where the field is the same everywhere all three parts are exactly zero: the
// rounded 24 c is four times the rounded 6 c, which is what B then is. The star has
// B = w c along z, and the differences along x and y for P.
//
// Models with potentials, which compute most, take B itself from the planes above and below, and
//     P = 2 (s + q) + s(before) + s(behind),   P + B(below) − 24 c + B(above),
// an operation less and no difference of planes: two steps at once (pipeline/stream.cuh) have no
// registers for one. Where the field is the same everywhere that is zero to rounding.

// What the cell itself is taken by, of models with potentials.
#if OD_EDGES
#define OD_MIDDLE R(-24.0)
#else
#define OD_MIDDLE (R(-2.0) * OD_WEIGHT_Z)
#endif

template <int H> OD_FN void od_sums(
    const OdPatch<1, H> &u, OdPatch<0, H> &b, OdPatch<0, H> &p) {
    real sides[H + 2][OD_VEC];
    OD_EACH(j, H + 2) {
        OD_EACH(k, OD_VEC) sides[j][k] = u.v[j][k] + u.v[j][k + 2];
    }
    OD_EACH(j, H) {
        OD_EACH(k, OD_VEC) {
            const real c = u.v[j + 1][k + 1];
            const real q = u.v[j][k + 1] + u.v[j + 2][k + 1];
#if OD_EDGES && OD_POTENTIALS > 0
            const real ring = q + sides[j + 1][k];
            b.v[j][k] = od_fma(R(2.0), c, ring);
            p.v[j][k] = od_fma(R(2.0), ring, sides[j][k] + sides[j + 2][k]);
#elif OD_EDGES
            b.v[j][k] = od_fma(R(2.0), c, sides[j + 1][k]) + q;
            const real corners = od_fma(R(-28.0), c, sides[j][k] + sides[j + 2][k]);
            p.v[j][k] = od_fma(R(4.0), b.v[j][k], corners);
#else
            b.v[j][k] = OD_WEIGHT_Z * c;
            const real along_x = od_fma(R(-2.0), c, sides[j + 1][k]);
            p.v[j][k] = od_fma(OD_WEIGHT_Y, od_fma(R(-2.0), c, q), along_x);
#endif
        }
    }
}

// Takes plane z of species s in (of potentials s < 0), whose B replaces that of the plane before.
// The Laplacian over OD_SCALE of the plane before gains `above`, that of this plane begins with
// `own`. Beyond a boundary along z lies no plane: what its ghosts would give is added here, but for
// models with potentials, of which B then is that of the ghosts.
template <int H, bool INNER> OD_FN void od_take_plane(
    const OdPatch<1, H> &u, int s, OdLevel<INNER> z, const OdPlace &place, const OdStep &step,
    OdPatch<0, H> &b, OdPatch<0, H> &above, OdPatch<0, H> &own) {
    OdPatch<0, H> now, in_plane, beyond, unused;
    od_sums(u, now, in_plane);
    if (od_is(z, 0, s, 4)) {
        OD_SELDOM();
        b = now;
        if (s >= 0 && od_boundary(s < 0 ? 0 : s, 4) == OD_AFFINE) {
            od_sums(od_beyond(u, s, 4, place, step), b, unused);
        }
    }
    OD_EACH(j, H) {
        OD_EACH(k, OD_VEC) {
#if OD_POTENTIALS > 0
            above.v[j][k] = now.v[j][k];
            const real below = in_plane.v[j][k] + b.v[j][k];
            own.v[j][k] = od_fma(OD_MIDDLE, u.v[j + 1][k + 1], below);
#else
            above.v[j][k] = now.v[j][k] - b.v[j][k];
            own.v[j][k] = in_plane.v[j][k] - above.v[j][k];
#endif
        }
    }
    b = now;
    if (s >= 0 && od_boundary(s < 0 ? 0 : s, 5) == OD_AFFINE && od_is(z, OD_NZ - 1)) {
        OD_SELDOM();
        od_sums(od_beyond(u, s, 5, place, step), beyond, unused);
#if OD_POTENTIALS > 0
        b = beyond;
#else
        OD_EACH(j, H) {
            OD_EACH(k, OD_VEC) own.v[j][k] += beyond.v[j][k] - now.v[j][k];
        }
#endif
    }
}

template <int H> OD_FN void od_clear(OdPatch<0, H> &patch) {
    OD_EACH(j, H) {
        OD_EACH(k, OD_VEC) patch.v[j][k] = real(0);
    }
}
