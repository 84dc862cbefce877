// Rate constants of one Arrhenius expression, and between a low-pressure and a high-pressure limit.

// A T^b exp(-Ta/T), the binary logarithm of what A multiplies, and the derivative of its logarithm; `ta` is Ta log2 e.
OD_FN real od_arrhenius_power(const OdGas &gas, real b, real ta) {
    return od_fma(b, gas.log2_t, -(ta * gas.recip_t));
}
OD_FN real od_arrhenius(const OdGas &gas, real a, real b, real ta) {
    return a * od_gas_exp2(od_arrhenius_power(gas, b, ta));
}
OD_FN real od_arrhenius_slope(const OdGas &gas, real b, real ta) {
    return od_fma(ta * OD_GAS_LN_2, gas.recip_t, b) * gas.recip_t;
}

// A reaction with one expression, times X where it has colliders. `round` counts all rounds, `in_law` those of
// the law.
struct OdArrhenius {
    static const bool HAS_BODY = true, IS_TABULATED = false;

    template <bool D, bool BODY>
    static OD_FN_MEMBER OdGasRate rate(
        const OdGas &gas, unsigned round, unsigned, const OdColliders &colliders) {
        const unsigned j = round * OD_WIDTH + gas.g.slot;
        const OdGasPair ab = od_gas_pair(gas.g, OD_GAS_ARRHENIUS_AB, j);
        const real ta = od_gas_number(gas.g, OD_GAS_ARRHENIUS_TA, j);
        OdGasRate rate = {od_arrhenius(gas, ab.first, ab.second, ta), 0, 0, 0};
        if (D) rate.dlnk = od_arrhenius_slope(gas, ab.second, ta);
        if (BODY) {
            // X of the last set is one, whatever the state.
            rate.dk_dx = colliders.set == OD_GAS_SETS ? (real)0 : rate.k;
            rate.k = rate.k * gas.at(OD_GAS_X, colliders.set);
        }
        return rate;
    }
};

// F, d ln F/dT at constant Pr, and phi = d ln F/d ln Pr.
struct OdBlend {
    real f, dlnf_dt, phi;
};

// Troe's width (Gilbert, Luther & Troe 1983) about a centre Fc and its slope in T:
// log10 F = L / (1 + f1^2), L = log10 Fc, f1 = x / d, x = log10 Pr - 0.4 - 0.67 L, d = 0.75 - 1.27 L - 0.14 x.
template <bool D> OD_FN OdBlend od_broaden(real centre, real slope, real log10_pr) {
    const bool clipped = centre < OD_GAS_TINY;
    const real safe = clipped ? OD_GAS_TINY : centre;
    const real l = od_gas_log2(safe) * OD_GAS_LOG10_2;
    const real x = log10_pr - od_fma((real)0.67, l, (real)0.4);
    const real n = od_fma((real)-1.27, l, (real)0.75);
    const real d = od_fma((real)-0.14, x, n), d_squared = d * d;
    const real width = d_squared * od_recip(od_fma(x, x, d_squared));
    const real log10_f = l * width;
    OdBlend blend = {od_gas_exp2(log10_f * OD_GAS_LOG2_10), 0, 0};
    if (D) {
        const real recip = od_recip(d), f1 = x * recip;
        const real by_f1 = (real)-2 * log10_f * f1 * width;
        const real by_l = od_fma(by_f1, od_fma((real)1.1762, f1, (real)-0.67) * recip, width);
        blend.dlnf_dt = by_l * (clipped ? (real)0 : slope) * od_recip(safe);
        blend.phi = by_f1 * n * recip * recip;
    }
    return blend;
}

// Lindemann, Troe and Tsang: Fc = a + b T + w1 exp(-T/theta1) + w2 exp(-T/theta2) + w3 exp(-theta3/T).
struct OdBroadened {
    static const unsigned PAIRS = 4, SECTION = OD_GAS_BROADENED;

    template <bool D>
    static OD_FN_MEMBER OdBlend blend(const OdGas &gas, unsigned row, real log10_pr) {
        const OdGasPair line = od_gas_pair(gas.g, SECTION, row);
        const OdGasPair p1 = od_gas_pair(gas.g, SECTION, row + OD_WIDTH);
        const OdGasPair p2 = od_gas_pair(gas.g, SECTION, row + 2 * OD_WIDTH);
        const OdGasPair p3 = od_gas_pair(gas.g, SECTION, row + 3 * OD_WIDTH);
#ifdef OD_INTERLEAVED
        // Warps have one reaction and branch as one.
        const bool is_plain = p1.first == 0 && p2.first == 0 && p3.first == 0;
        if (is_plain && line.first == 1 && line.second == 0) return OdBlend{1, 0, 0};
#endif
        const real w1 = p1.first * od_gas_exp2(-(p1.second * gas.t));
        const real w2 = p2.first * od_gas_exp2(-(p2.second * gas.t));
        const real w3 = p3.first * od_gas_exp2(-(p3.second * gas.recip_t));
        const real centre = od_fma(line.second, gas.t, line.first) + w1 + w2 + w3;
        real slope = 0;
        if (D) {
            const real grows = w3 * p3.second * gas.recip_t * gas.recip_t;
            const real decays = od_fma(w1, p1.second, w2 * p2.second);
            slope = od_fma(grows - decays, OD_GAS_LN_2, line.second);
        }
        return od_broaden<D>(centre, slope, log10_pr);
    }
};

// Stewart, Larson & Golden (1989): F = d T^e (a exp(-b/T) + exp(-T/c))^xi, xi = 1/(1 + log10^2 Pr).
struct OdSri {
    static const unsigned PAIRS = 3, SECTION = OD_GAS_SRI;

    template <bool D>
    static OD_FN_MEMBER OdBlend blend(const OdGas &gas, unsigned row, real log10_pr) {
        const OdGasPair rising = od_gas_pair(gas.g, SECTION, row);
        const OdGasPair falling = od_gas_pair(gas.g, SECTION, row + OD_WIDTH);
        const OdGasPair factor = od_gas_pair(gas.g, SECTION, row + 2 * OD_WIDTH);
        const real activated = rising.first * od_gas_exp2(-(rising.second * gas.recip_t));
        const real decaying = falling.second * od_gas_exp2(-(falling.first * gas.t));
        const real sum = activated + decaying;
        const bool clipped = sum < OD_GAS_TINY;
        const real safe = clipped ? OD_GAS_TINY : sum, log2_sum = od_gas_log2(safe);
        const real xi = od_recip(od_fma(log10_pr, log10_pr, (real)1));
        const real e = factor.second;
        OdBlend blend = {factor.first * od_gas_exp2(od_fma(e, gas.log2_t, log2_sum * xi)), 0, 0};
        if (D) {
            const real rises = activated * rising.second * gas.recip_t * gas.recip_t;
            const real slope = (rises - decaying * falling.first) * OD_GAS_LN_2;
            const real part = clipped ? (real)0 : slope * od_recip(safe);
            blend.dlnf_dt = od_fma(xi, part, e * gas.recip_t);
            // d ln F / d log10 Pr, and then per d ln Pr: ln 2 log10 e = log10 2.
            blend.phi = (real)-2 * log10_pr * xi * xi * log2_sum * OD_GAS_LOG10_2;
        }
        return blend;
    }
};

// k = k0 X F / (1 + Pr), Pr = k0 X / k_high; of a chemically activated reaction k0 F / (1 + Pr).
template <class Blend> struct OdFalloff {
    static const bool HAS_BODY = true, IS_TABULATED = false;

    template <bool D, bool BODY>
    static OD_FN_MEMBER OdGasRate rate(
        const OdGas &gas, unsigned round, unsigned in_law, const OdColliders &colliders) {
        const unsigned j = round * OD_WIDTH + gas.g.slot;
        const unsigned row = in_law * (2 + Blend::PAIRS) * OD_WIDTH + gas.g.slot;
        const OdGasPair ab = od_gas_pair(gas.g, OD_GAS_ARRHENIUS_AB, j);
        const real ta = od_gas_number(gas.g, OD_GAS_ARRHENIUS_TA, j);
        const OdGasPair ab0 = od_gas_pair(gas.g, Blend::SECTION, row);
        const OdGasPair rest0 = od_gas_pair(gas.g, Blend::SECTION, row + OD_WIDTH);
        const real ta0 = rest0.first, log2_ratio = rest0.second;
        const real k0 = od_arrhenius(gas, ab0.first, ab0.second, ta0);
        const real high = od_arrhenius(gas, ab.first, ab.second, ta) + OD_GAS_TINY;
        const real x = gas.at(OD_GAS_X, colliders.set);
        const real recip = od_recip(od_fma(k0, x, high));
        const real fraction = high * recip, turn = k0 * recip;
        const real ratio = od_fma(ab0.second - ab.second, gas.log2_t, log2_ratio) -
                           (ta0 - ta) * gas.recip_t;
        const real log10_pr = (ratio + gas.at(OD_GAS_LOG2_X, colliders.set)) * OD_GAS_LOG10_2;
        const OdBlend blend = Blend::template blend<D>(gas, row + 2 * OD_WIDTH, log10_pr);
        const real base = k0 * blend.f * fraction;
        OdGasRate rate = {colliders.activated ? base : base * x, 0, 0, 0};
        if (D) {
            // Below the smallest X a logarithm is taken of, F does not depend on X.
            const bool low = x < OD_GAS_TINY;
            const real phi = low ? (real)0 : blend.phi;
            const real dlnk0 = od_arrhenius_slope(gas, ab0.second, ta0);
            const real change = dlnk0 - od_arrhenius_slope(gas, ab.second, ta);
            rate.dlnk = od_fma(blend.phi - turn * x, change, dlnk0) + blend.dlnf_dt;
            const real over_x = phi * od_recip(low ? (real)1 : x) - turn;
            rate.dk_dx = base * (colliders.activated ? over_x : phi + fraction);
        }
        return rate;
    }
};
