// The codes of cells that solid ones are near, written once. Edges as the CPU's sweeps take
// them.

OD_FN unsigned od_code(const unsigned *mask, const OdCell &cell) {
    const auto belongs = [&](int f, int g) {
        return od_belongs(
            mask, cell.x + od_by(f, 0) + od_by(g, 0), cell.y + od_by(f, 1) + od_by(g, 1),
            cell.z + od_by(f, 2) + od_by(g, 2));
    };
    // No face has this number.
    const int none = 6;
    if (!belongs(none, none)) return 0;
    bool open[6];
    unsigned weights[6], code = OD_IN_DOMAIN;
#pragma unroll
    for (int f = 0; f < 6; ++f) {
        open[f] = belongs(f, none);
        weights[f] = open[f] ? (OD_EDGES ? 2 : 1) : 0;
    }
#pragma unroll
    for (int n = 0; OD_EDGES && n < 12; ++n) {
        const int f = od_edge_first(n), g = od_edge_second(n);
        const bool across = belongs(f, g);
        if (across && (open[f] || open[g])) code |= 1u << (OD_FIRST_EDGE + n);
        weights[f] += !across && open[f] && !open[g];
        weights[g] += !across && open[g] && !open[f];
    }
#pragma unroll
    for (int f = 0; f < 6; ++f) code |= weights[f] << 3 * f;
    return code;
}

extern "C" __global__ void __launch_bounds__(256) od_codes(
    const unsigned *__restrict__ mask, const int *__restrict__ words, const int count,
    unsigned *__restrict__ codes) {
    const int n = blockIdx.x * 8 + threadIdx.y;
    if (n >= count) return;
    const OdCell cell = od_word_cell(__ldg(words + n));
    if (cell.x < OD_NX) codes[(long long)n * 32 + threadIdx.x] = od_code(mask, cell);
}
