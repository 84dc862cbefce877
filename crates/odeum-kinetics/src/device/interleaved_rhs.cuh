// The right-hand side of interleaved reactors: sums of production in parts, of which each warp takes about as many terms, and f.

// The sum of q at four places.
OD_FN real od_gas_four(const OdGas &gas, unsigned i) {
    const uint4 places = od_gas_table<uint4>(gas.g, OD_GAS_NET_PLACES, i);
    return (gas.at(OD_GAS_BUFFER, places.x) + gas.at(OD_GAS_BUFFER, places.y)) +
           (gas.at(OD_GAS_BUFFER, places.z) + gas.at(OD_GAS_BUFFER, places.w));
}

// The parts of production that a warp takes, and of all of them the sum and the heat, both over rho.
OD_FN void od_gas_parts(const OdGas &gas, real (&sums)[2]) {
    const OdGroup &g = gas.g;
    const auto parts = gas.array(OD_GAS_PARTS);
    const unsigned first = od_gas_table<unsigned>(g, OD_GAS_NET_SHARES, g.warp);
    const unsigned end = od_gas_table<unsigned>(g, OD_GAS_NET_SHARES, g.warp + 1u);
    // Ends of the fours that are added, of those that are taken away, and of the terms with weights.
    uint4 last = od_gas_table<uint4>(g, OD_GAS_NET_ENDS, first);
#pragma unroll 1
    for (unsigned s = first; s < end; ++s) {
        const uint4 ends = od_gas_table<uint4>(g, OD_GAS_NET_ENDS, s + 1u);
        real sum = 0;
        unsigned i = last.y;
#pragma unroll 2
        for (; i < ends.x; ++i) sum = sum + od_gas_four(gas, i);
#pragma unroll 2
        for (; i < ends.y; ++i) sum = sum - od_gas_four(gas, i);
#if OD_GAS_NET_WEIGHTED
        for (unsigned j = last.z; j < ends.z; ++j) {
            const unsigned place = od_gas_table<unsigned>(g, OD_GAS_NET_WEIGHTED_PLACES, j);
            sum = od_fma(od_gas_number(g, OD_GAS_NET_WEIGHTS, j), gas.at(OD_GAS_BUFFER, place), sum);
        }
#endif
        last = ends;
        const real w = sum * gas.recip_density;
        parts[ends.w & 0xffffu] = w;
        sums[0] = sums[0] + w;
        sums[1] = od_fma(gas.energy(ends.w >> 16), w, sums[1]);
    }
}

// Of the numbers of all warps that begin there, the sum.
OD_FN real od_gas_sum(const OdGas &gas, unsigned first) {
    const auto numbers = gas.array(OD_GAS_SUMS) + first;
    real sum = numbers[0];
#pragma unroll
    for (unsigned i = 1; i < OD_WARPS; ++i) sum = sum + numbers[i];
    return sum;
}

// f of the components that a thread has: warp, warp + OD_WARPS, ... Before the memory is used again, there has to be a barrier.
template <class OdF>
OD_FN void od_group_rhs(const OdGroup &g, real, OdNumbers y, const OdParams &p, OdF &f) {
    const OdGas gas = od_gas(g, y, p);
    const OdSpeciesSums own = od_gas_species<false>(gas, y);
    OD_GROUP_BARRIER();
    od_gas_reactions(gas);
    // What fills up a four.
    if (g.warp == 0) gas.array(OD_GAS_BUFFER)[OD_GAS_NET_ZERO] = 0;
    OD_GROUP_BARRIER();
    real sums[2] = {0, 0};
    od_gas_parts(gas, sums);
    const auto numbers = gas.array(OD_GAS_SUMS) + g.warp;
    numbers[0] = sums[0];
    numbers[OD_WARPS] = sums[1];
    numbers[2u * OD_WARPS] = own.capacity;
    OD_GROUP_BARRIER();
    const auto parts = gas.array(OD_GAS_PARTS);
    const unsigned last = OD_GAS_SPECIES + 1u;
#pragma unroll
    for (unsigned e = 0; e <= last / OD_WARPS; ++e) {
        const unsigned i = g.warp + e * OD_WARPS, k = i - 1u;
        if (k < OD_GAS_SPECIES) {
            const unsigned end = od_gas_table<unsigned>(g, OD_GAS_NET_PARTS, i);
            unsigned part = od_gas_table<unsigned>(g, OD_GAS_NET_PARTS, k);
            real w = parts[part];
#pragma unroll 1
            while (++part < end) w = w + parts[part];
            f[e] = od_gas_number(g, OD_GAS_WEIGHT, k) * w;
        }
    }
    if (g.warp == 0) {
#if OD_GAS_ADIABATIC
        f[0] = -(gas.t * od_gas_sum(gas, OD_WARPS) / od_gas_sum(gas, 2u * OD_WARPS));
#else
        f[0] = 0;
#endif
    }
    if (g.warp == last % OD_WARPS) f[last / OD_WARPS] = od_gas_sum(gas, 0);
}
