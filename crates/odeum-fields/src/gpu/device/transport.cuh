// What carries species beside the Laplacian, as differences of fluxes through the faces of a
// cell: velocities that differ from cell to cell, limited third-order advection, diffusion that differs
// from cell to cell. Added to what the main kernel wrote.
//
// A thread computes one cell at a time, with every neighbour read where it is needed.

struct OdTransport {
    // The factor of what is added.
    real h;
    real shift[OD_S * 6];
    // w / edge of a cell, of a velocity that is the same everywhere.
    real speed[3];
    // w / edge at cell centres, three components; coefficients of the species that have them.
    const real *velocity;
    const real *diffusion[OD_S];
    const unsigned *mask;
};

#define OD_MIRROR 0
#define OD_WRAP 1
#define OD_AFFINE 2

// A row of cells along any axis, and the rules beyond its ends.
struct OdLine {
    const real *first;
    long long stride;
    int n;
    bool wraps, affine[2];
    real shift[2], scale[2];
};

OD_FN real od_at(const OdLine &line, int i) {
    if (i >= 0 && i < line.n) return __ldg(line.first + i * line.stride);
    const int end = i < 0 ? 0 : 1;
    int at = i < 0 ? -1 - i : 2 * line.n - 1 - i;
    at = at < 0 ? 0 : (at >= line.n ? line.n - 1 : at);
    if (line.wraps) at = ((i % line.n) + line.n) % line.n;
    const real value = __ldg(line.first + at * line.stride);
    return line.affine[end] ? od_fma(line.scale[end], value, line.shift[end]) : value;
}

// Half the limited slope: ½ max(0, min(2 d₊, (d₋ + 2 d₊)/3, 2 d₋)) for slopes of one sign, zero at
// an extremum (Koren 1993).
OD_FN real od_limited(real behind, real ahead) {
    const real d0 = od_abs(behind), d1 = od_abs(ahead);
    const real third = R(0.16666666666666666) * od_fma(R(2.0), d1, d0);
    const real least = od_min(third, od_min(d0, d1));
    const bool same = (behind < real(0) && ahead < real(0)) || (behind > real(0) && ahead > real(0));
    return same ? (ahead < real(0) ? -least : least) : real(0);
}

// w u at the face between the second and the third of four cells; of first order where the first,
// or the last, would have to be known and is solid.
OD_FN real od_flux(
    real w, real before, real below, real above, real after, bool first, bool last) {
    const bool forward = w > real(0);
    const real from = forward ? below : above;
#if OD_KOREN
    const real behind = forward ? before : after, ahead = forward ? above : below;
    if (!(forward ? first : last)) return w * from;
    return w * (from + od_limited(from - behind, ahead - from));
#else
    return w * from;
#endif
}

OD_FN real od_mean(real a, real b) { return R(0.5) * (a + b); }

// Harmonic mean, zero when either is. The product of both might be too small, or too large, for a number.
OD_FN real od_harmonic(real a, real b) {
    const real sum = a + b;
    const real low = a < b ? a : b;
    const real high = a < b ? b : a;
    return sum > real(0) ? R(2.0) * low * (high / sum) : real(0);
}

// The line through a cell along an axis.
OD_FN OdLine od_line(const real *field, const int (&cell)[3], int axis) {
    const long long strides[3] = {1, OD_ROW, OD_PLANE};
    const int n[3] = {OD_NX, OD_NY, OD_NZ};
    const bool wraps[3] = {OD_WRAP_X != 0, OD_WRAP_Y != 0, OD_WRAP_Z != 0};
    OdLine line = {};
    line.first = field;
#pragma unroll
    for (int other = 0; other < 3; ++other) {
        if (other != axis) line.first += cell[other] * strides[other];
    }
    line.stride = strides[axis];
    line.n = n[axis];
    line.wraps = wraps[axis];
    return line;
}

extern "C" __global__ void __launch_bounds__(256, OD_FLOAT ? 5 : 3) od_transport(
    const real *__restrict__ in, real *__restrict__ out, const OdTransport step,
    const OdSpan span) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= OD_NX || y >= OD_NY) return;
    const int begin = od_span_begin(span), end = od_span_end(span);
    for (int z = begin; z < end; ++z) {
        const int cell[3] = {x, y, z};
        const long long here = (long long)z * OD_PLANE + (long long)y * OD_ROW + x;
        // Of the cells two before to two after along an axis, whether they belong to the domain.
        bool belong[3][5];
#pragma unroll
        for (int n = 0; n < 15; ++n) {
            const int axis = n / 5, by = n % 5 - 2;
#if OD_MASKED
            belong[axis][n % 5] = od_belongs(
                step.mask, x + (axis == 0 ? by : 0), y + (axis == 1 ? by : 0),
                z + (axis == 2 ? by : 0));
#else
            belong[axis][by + 2] = true;
#endif
        }
        if (!belong[0][2]) continue;
#pragma unroll
        for (int s = 0; s < OD_S; ++s) {
            real gain = real(0);
#pragma unroll
            for (int axis = 0; axis < 3; ++axis) {
                OdLine line = od_line(in + s * OD_VOLUME, cell, axis);
#pragma unroll
                for (int end = 0; end < 2; ++end) {
                    const int face = 2 * axis + end;
                    line.affine[end] = od_boundary(s, face) == OD_AFFINE;
                    line.shift[end] = step.shift[6 * s + face];
                    line.scale[end] = od_boundary_scale(s, face);
                }
                const int i = cell[axis];
                real u[5];
#pragma unroll
                for (int n = 0; n < 5; ++n) u[n] = od_at(line, i + n - 2);
                if (OD_CARRIES && od_advected(s)) {
                    real low = step.speed[axis], high = low;
#if OD_VELOCITY_CELLS
                    const OdLine w = od_line(step.velocity + axis * OD_VOLUME, cell, axis);
                    const real centre = od_at(w, i);
                    low = R(0.5) * (od_at(w, i - 1) + centre);
                    high = R(0.5) * (centre + od_at(w, i + 1));
#endif
                    const bool(&b)[5] = belong[axis];
                    real into = od_flux(low, u[0], u[1], u[2], u[3], b[0], b[3]);
                    real away = od_flux(high, u[1], u[2], u[3], u[4], b[1], b[4]);
                    // What comes in at a boundary with a value is that value, the mean of both sides.
                    const bool first = i == 0, last = i == line.n - 1;
                    if (line.affine[0] && first && low > real(0)) into = low * od_mean(u[1], u[2]);
                    if (line.affine[1] && last && high < real(0)) away = high * od_mean(u[2], u[3]);
                    const bool enters = b[1] && !(od_shut(s, 2 * axis) && first);
                    const bool leaves = b[3] && !(od_shut(s, 2 * axis + 1) && last);
                    gain += (enters ? into : real(0)) - (leaves ? away : real(0));
                }
                if (od_spreads(s)) {
                    const OdLine d = od_line(step.diffusion[s], cell, axis);
                    const real centre = od_at(d, i);
                    const real into = od_harmonic(od_at(d, i - 1), centre) * (u[1] - u[2]);
                    const real away = od_harmonic(centre, od_at(d, i + 1)) * (u[2] - u[3]);
                    const bool(&b)[5] = belong[axis];
                    const real through =
                        (b[1] ? into : real(0)) - (b[3] ? away : real(0));
                    gain = od_fma(od_per_area(axis), through, gain);
                }
            }
            if ((OD_CARRIES && od_advected(s)) || od_spreads(s)) {
                real &value = out[s * OD_VOLUME + here];
                value = od_fma(step.h, gain, value);
            }
        }
    }
}
