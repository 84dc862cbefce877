// Rate constants that tables give over temperature and pressure.

// PLOG: ln k linear in ln p between tabulated pressures, constant beyond them.
struct OdPlog {
    static const bool HAS_BODY = false, IS_TABULATED = true;

    // Logarithm of a pressure of the table.
    static OD_FN_MEMBER real pressure(const OdGas &gas, unsigned j) {
        return od_gas_pair(gas.g, OD_GAS_PLOG_POINTS, j).first;
    }

    // log2 k and d ln k/dT at a pressure of the table: of its only expression, or of the sum of several.
    template <bool D> static OD_FN_MEMBER OdGasPair point(const OdGas &gas, unsigned j) {
        const unsigned first = od_gas_table<unsigned>(gas.g, OD_GAS_PLOG_STARTS, j);
        const unsigned end = od_gas_table<unsigned>(gas.g, OD_GAS_PLOG_STARTS, j + 1);
        real sum = 0, slope = 0;
        for (unsigned i = first; i < end; ++i) {
            const OdGasPair a = od_gas_pair(gas.g, OD_GAS_PLOG_TERMS, 2 * i);
            const OdGasPair b = od_gas_pair(gas.g, OD_GAS_PLOG_TERMS, 2 * i + 1);
            const real exponent = od_fma(b.first, gas.log2_t, -(b.second * gas.recip_t));
            const real dlnk = od_arrhenius_slope(gas, b.first, b.second);
            if (end == first + 1) return OdGasPair{a.second + exponent, dlnk};
            const real k = a.first * od_gas_exp2(exponent);
            sum = sum + k;
            slope = od_fma(k, dlnk, slope);
        }
        return OdGasPair{od_gas_log2(sum), D ? slope * od_recip(sum) : slope};
    }

    template <bool D, bool BODY>
    static OD_FN_MEMBER OdGasRate rate(
        const OdGas &gas, unsigned, unsigned in_law, const OdColliders &) {
        const OdGroup &g = gas.g;
        const uint2 points = od_gas_table<uint2>(g, OD_GAS_PLOG_RANGE, in_law * OD_WIDTH + g.slot);
        // The last point below the pressure, and the one after it.
        unsigned j = points.x;
        while (j + 1 < points.y && gas.log2_p > pressure(gas, j + 1)) ++j;
        const real here = pressure(gas, j);
        const OdGasPair below = point<D>(gas, j);
        OdGasRate rate = {0, below.second, 0, 0};
        real log2_k = below.first;
        if (gas.log2_p > here && j + 1 < points.y) {
            const OdGasPair next = od_gas_pair(g, OD_GAS_PLOG_POINTS, j + 1);
            const OdGasPair above = point<D>(gas, j + 1);
            // At the next pressure itself its rate holds, and no slope in p.
            const bool beyond = gas.log2_p >= next.first;
            const real way = beyond ? (real)1 : (gas.log2_p - here) * next.second;
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
    static OD_FN_MEMBER OdGasRate rate(
        const OdGas &gas, unsigned, unsigned in_law, const OdColliders &) {
        const OdGroup &g = gas.g;
        const unsigned thread = in_law * OD_WIDTH + g.slot;
        const uint4 shape = od_gas_table<uint4>(g, OD_GAS_CHEBYSHEV_SHAPE, thread);
        const unsigned row = in_law * 2 * OD_WIDTH + g.slot;
        const OdGasPair of_t = od_gas_pair(g, OD_GAS_CHEBYSHEV_MAP, row);
        const OdGasPair of_p = od_gas_pair(g, OD_GAS_CHEBYSHEV_MAP, row + OD_WIDTH);
        const real x = od_fma(of_t.first, gas.recip_t, of_t.second);
        const real y = od_fma(of_p.first, gas.log2_p, of_p.second);
        real log2_k = 0, by_x = 0, by_y = 0;
        OdChebyshevTerm outer = {1, 0, 0, 0};
        for (unsigned i = 0; i < shape.x; ++i) {
            real sum = 0, slope = 0;
            OdChebyshevTerm inner = {1, 0, 0, 0};
            for (unsigned j = 0; j < shape.y; ++j) {
                const unsigned at = shape.z + i * shape.y + j;
                const real a = od_gas_number(g, OD_GAS_CHEBYSHEV_COEFFICIENTS, at);
                sum = od_fma(a, inner.value, sum);
                slope = od_fma(a, inner.slope, slope);
                inner.advance(j, y);
            }
            log2_k = od_fma(sum, outer.value, log2_k);
            by_x = od_fma(sum, outer.slope, by_x);
            by_y = od_fma(slope, outer.value, by_y);
            outer.advance(i, x);
        }
        OdGasRate rate = {od_gas_exp2(log2_k), 0, 0, 0};
        if (D) {
            rate.dlnk = -(by_x * of_t.first * gas.recip_t * gas.recip_t) * OD_GAS_LN_2;
            // p enters as log2 p, and ln k is ln 2 log2 k: the factors cancel.
            rate.dlnk_dlnp = by_y * of_p.first;
        }
        return rate;
    }
};
