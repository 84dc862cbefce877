// The right-hand side of interleaved reactors: lanes of a warp have one each, and OD_WARPS warps share the species and the reactions.
//
// What a warp reads of a table is the same for all its reactors, and loops have no lanes to fill.

// q of several reactions with one Arrhenius expression and two factors, so many rounds apart: exponentials term after term.
template <unsigned COUNT>
OD_FN void od_gas_rates(
    const OdGas &gas, const OdGasRounds &rounds, unsigned round, unsigned apart, real (&q)[COUNT]) {
    real a[COUNT];
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        const unsigned j = round + i * apart;
        const OdGasPair ab = od_gas_pair(gas.g, OD_GAS_ARRHENIUS_AB, j);
        a[i] = ab.first;
        q[i] = od_arrhenius_power(gas, ab.second, od_gas_number(gas.g, OD_GAS_ARRHENIUS_TA, j));
    }
    od_gas_exp2s(q);
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        const OdGasFactors<2> factors(gas, round + i * apart - rounds.first + rounds.in_shape);
        q[i] = a[i] * q[i] * factors.net(gas);
    }
}

// Whether a warp takes several reactions of a class together. Most are of that one.
template <class Law, class Shape> struct OdGasTogether {
    static const bool VALUE = false;
};
template <> struct OdGasTogether<OdArrhenius, OdGasFactors<2>> {
    static const bool VALUE = true;
};

// The reactions of a class that a warp takes: those whose numbers among all leave its own when they are divided by OD_WARPS.
template <class Law, class Shape>
OD_FN void od_gas_share(const OdGas &gas, const OdGasRounds &rounds) {
    const auto q = gas.array(OD_GAS_BUFFER);
    const unsigned warp = gas.g.warp;
    unsigned round = rounds.first + (warp + OD_WARPS - rounds.first % OD_WARPS) % OD_WARPS;
    if constexpr (OdGasTogether<Law, Shape>::VALUE) {
        // Three and six take the same time (RKC with ethanol, H200).
        const unsigned together = 4;
#pragma unroll 1
        for (; round + (together - 1u) * OD_WARPS < rounds.end; round += together * OD_WARPS) {
            real some[together];
            od_gas_rates(gas, rounds, round, OD_WARPS, some);
#pragma unroll
            for (unsigned i = 0; i < together; ++i) q[round + i * OD_WARPS] = some[i];
        }
    }
#pragma unroll 1
    for (; round < rounds.end; round += OD_WARPS) q[round] = od_gas_rate<Law, Shape>(gas, rounds, round);
}
