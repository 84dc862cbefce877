// Rate constants that tables give over temperature and pressure.

// PLOG: ln k linear in ln p between tabulated pressures, constant beyond them.
struct OdPlog {
    static const bool HAS_BODY = false, IS_TABULATED = true;

    // log2 k and d ln k/dT at a pressure of the table: of its only expression, or of the sum of several.
    template <bool D> static OD_FN_MEMBER OdPair point(const OdGas &gas, unsigned j) {
        const unsigned first = od_table<unsigned>(gas.g, OD_GAS_PLOG_STARTS, j);
        const unsigned end = od_table<unsigned>(gas.g, OD_GAS_PLOG_STARTS, j + 1);
        real sum = 0, slope = 0;
        for (unsigned i = first; i < end; ++i) {
            const OdPair a = od_pair(gas.g, OD_GAS_PLOG_TERMS, 2 * i);
            const OdPair b = od_pair(gas.g, OD_GAS_PLOG_TERMS, 2 * i + 1);
            const real exponent = od_fma(b.first, gas.log2_t, -(b.second * gas.recip_t));
            const real dlnk = od_arrhenius_slope(gas, b.first, b.second);
            if (end == first + 1) return OdPair{a.second + exponent, dlnk};
            const real k = a.first * od_gas_exp2(exponent);
            sum = sum + k;
            slope = od_fma(k, dlnk, slope);
        }
        return OdPair{od_gas_log2(sum), D ? slope * od_recip(sum) : slope};
    }

    template <bool D, bool BODY>
    static OD_FN_MEMBER OdRate rate(
        const OdGas &gas, unsigned, unsigned in_law, const OdColliders &) {
        const OdGroup &g = gas.g;
        const uint2 points = od_table<uint2>(g, OD_GAS_PLOG_RANGE, in_law * OD_WIDTH + g.slot);
        // The last point below the pressure, and the one after it.
        unsigned j = points.x;
        while (j + 1 < points.y && gas.log2_p > od_pair(g, OD_GAS_PLOG_POINTS, j + 1).first) ++j;
        const OdPair here = od_pair(g, OD_GAS_PLOG_POINTS, j);
        const OdPair below = point<D>(gas, j);
        OdRate rate = {0, below.second, 0, 0};
        real log2_k = below.first;
        if (gas.log2_p > here.first && j + 1 < points.y) {
            const OdPair next = od_pair(g, OD_GAS_PLOG_POINTS, j + 1), above = point<D>(gas, j + 1);
            // At the next pressure itself its rate holds, and no slope in p.
            const bool beyond = gas.log2_p >= next.first;
            const real way = beyond ? (real)1 : (gas.log2_p - here.first) * next.second;
            log2_k = beyond ? above.first : od_fma(way, above.first - below.first, below.first);
            rate.dlnk = od_fma(way, above.second - below.second, below.second);
            rate.dlnk_dlnp = beyond ? (real)0 : (above.first - below.first) * next.second;
        }
        rate.k = od_gas_exp2(log2_k);
        return rate;
    }
};

// T_n(x) and its derivative, n = 0, 1, ...
struct OdChebyshevTerm {
    real value, slope, value_before, slope_before;

    // From T_n to T_n+1.
    OD_FN_MEMBER void advance(unsigned n, real x) {
        const real old_value = value, old_slope = slope, twice = n == 0 ? x : x + x;
        value = n == 0 ? x : od_fma(twice, old_value, -value_before);
        slope = od_fma(twice, old_slope, (n == 0 ? (real)1 : (real)2) * old_value) - slope_before;
        value_before = old_value;
        slope_before = old_slope;
    }
};

// log10 k = sum over a_ij T_i(x) T_j(y), x linear in 1/T and y in log p; coefficients here are of log2 k.
struct OdChebyshev {
    static const bool HAS_BODY = false, IS_TABULATED = true;

    template <bool D, bool BODY>
    static OD_FN_MEMBER OdRate rate(
        const OdGas &gas, unsigned, unsigned in_law, const OdColliders &) {
        const OdGroup &g = gas.g;
        const uint4 shape = od_table<uint4>(g, OD_GAS_CHEBYSHEV_SHAPE, in_law * OD_WIDTH + g.slot);
        const unsigned row = in_law * 2 * OD_WIDTH + g.slot;
        const OdPair of_t = od_pair(g, OD_GAS_CHEBYSHEV_MAP, row);
        const OdPair of_p = od_pair(g, OD_GAS_CHEBYSHEV_MAP, row + OD_WIDTH);
        const real x = od_fma(of_t.first, gas.recip_t, of_t.second);
        const real y = od_fma(of_p.first, gas.log2_p, of_p.second);
        real log2_k = 0, by_x = 0, by_y = 0;
        OdChebyshevTerm outer = {1, 0, 0, 0};
        for (unsigned i = 0; i < shape.x; ++i) {
            real sum = 0, slope = 0;
            OdChebyshevTerm inner = {1, 0, 0, 0};
            for (unsigned j = 0; j < shape.y; ++j) {
                const unsigned at = shape.z + i * shape.y + j;
                const real a = od_number(g, OD_GAS_CHEBYSHEV_COEFFICIENTS, at);
                sum = od_fma(a, inner.value, sum);
                slope = od_fma(a, inner.slope, slope);
                inner.advance(j, y);
            }
            log2_k = od_fma(sum, outer.value, log2_k);
            by_x = od_fma(sum, outer.slope, by_x);
            by_y = od_fma(slope, outer.value, by_y);
            outer.advance(i, x);
        }
        OdRate rate = {od_gas_exp2(log2_k), 0, 0, 0};
        if (D) {
            rate.dlnk = -(by_x * of_t.first * gas.recip_t * gas.recip_t) * OD_LN_2;
            // p enters as log2 p, and ln k is ln 2 log2 k: the factors cancel.
            rate.dlnk_dlnp = by_y * of_p.first;
        }
        return rate;
    }
};
