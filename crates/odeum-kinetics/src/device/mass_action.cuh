// The law of mass action, q = k (prod C - prod e_r/e_p prod C_p) with e = exp(-gamma) p0/(R T) of each species,
// and what a reaction leaves in the buffer of its chunk.
//
// Reactants and products are multiplied in pairs of similar gamma, so that what lies between stays in range.

// Net rate and, where derivatives are asked for, what follows from it at a constant rate constant.
struct OdProgress {
    real net;       // q/k, also where k vanishes
    real by_t;      // dq/dT at constant concentrations and k
    real scaled;    // sum of C dq/dC over the factors
};

// Where the threads of a round leave the derivatives of their reactions.
struct OdGasSlots {
    od_entry *first;
    OD_FN_MEMBER void put(unsigned derivative, real value) const {
        first[derivative * OD_WIDTH] = (od_entry)value;
    }
};

// Prod f, and the derivatives of k prod f with respect to each factor in the slots from `at` on.
template <unsigned K>
OD_FN real od_partial_products(const real *f, real k, const OdGasSlots &slots, unsigned at) {
    real partial[K], before = f[0], after = f[K - 1];
    partial[0] = k;
#pragma unroll
    for (unsigned s = 1; s < K; ++s) {
        partial[s] = k * before;
        before = before * f[s];
    }
#pragma unroll
    for (unsigned s = K - 1; s-- > 0;) {
        partial[s] = partial[s] * after;
        after = after * f[s];
    }
#pragma unroll
    for (unsigned s = 0; s < K; ++s) slots.put(at + s, partial[s]);
    return before;
}

// K reactants and K products, each to the power one; those of number OD_GAS_SPECIES are not there.
template <unsigned K> struct OdGasFactors {
    static const bool TAKES_BODY = K > 2;
    static const unsigned BODY_SLOT = 2 * K;
    // Rounds that are computed side by side; most reactions have two factors.
    static const unsigned TOGETHER = K > 2 ? 1 : 3;

    unsigned from[K], to[K];
    OdColliders colliders;

    OD_FN_MEMBER OdGasFactors(const OdGas &gas, unsigned in_shape);

    OD_FN_MEMBER bool goes_back() const { return to[0] != OD_GAS_NEVER * OD_GAS_PLACE; }

    // q/k without derivatives.
    OD_FN_MEMBER real net(const OdGas &gas) const {
        real forward = gas.at(OD_GAS_C, from[0]);
        real reverse = gas.at(OD_GAS_E, from[0]) * gas.at(OD_GAS_Z, to[0]);
#pragma unroll
        for (unsigned s = 1; s < K; ++s) {
            forward = forward * gas.at(OD_GAS_C, from[s]);
            reverse = reverse * (gas.at(OD_GAS_E, from[s]) * gas.at(OD_GAS_Z, to[s]));
        }
        return goes_back() ? forward - reverse : forward;
    }

    OD_FN_MEMBER OdProgress progress(const OdGas &gas, real k, const OdGasSlots &slots) const {
        real c[K], back[K], recip_kc = 1, heat = 0;
#pragma unroll
        for (unsigned s = 0; s < K; ++s) {
            c[s] = gas.at(OD_GAS_C, from[s]);
            back[s] = gas.at(OD_GAS_C, to[s]);
            // Here Z is 1/e.
            recip_kc = recip_kc * (gas.at(OD_GAS_E, from[s]) * gas.at(OD_GAS_Z, to[s]));
            heat = heat + (gas.at(OD_GAS_U, to[s]) - gas.at(OD_GAS_U, from[s]));
        }
        if (!goes_back()) {
            recip_kc = 0;
            heat = 0;
        }
        const real product = od_partial_products<K>(c, k, slots, 0);
        const real returns = od_partial_products<K>(back, -(k * recip_kc), slots, K);
        const real net = product - recip_kc * returns;
        const real forward = k * product, reverse = forward - k * net;
        real scaled = 0;
#pragma unroll
        for (unsigned s = 0; s < K; ++s) {
            scaled = scaled + (from[s] < OD_GAS_SPECIES ? forward : (real)0);
            scaled = scaled - (to[s] < OD_GAS_SPECIES ? reverse : (real)0);
        }
        return OdProgress{net, reverse * heat * gas.recip_t, scaled};
    }
};

template <> OD_FN_MEMBER OdGasFactors<2>::OdGasFactors(const OdGas &gas, unsigned in_shape) {
    const uint2 k = od_gas_table<uint2>(gas.g, OD_GAS_FACTORS_2, in_shape * OD_WIDTH + gas.g.slot);
    from[0] = od_gas_low(k.x);
    from[1] = od_gas_high(k.x);
    to[0] = od_gas_low(k.y);
    to[1] = od_gas_high(k.y);
    colliders = OdColliders{OD_GAS_SETS, 0};
}

template <> OD_FN_MEMBER OdGasFactors<3>::OdGasFactors(const OdGas &gas, unsigned in_shape) {
    const uint4 k = od_gas_table<uint4>(gas.g, OD_GAS_FACTORS_3, in_shape * OD_WIDTH + gas.g.slot);
    from[0] = od_gas_low(k.x);
    from[1] = od_gas_high(k.x);
    from[2] = od_gas_low(k.y);
    to[0] = od_gas_high(k.y);
    to[1] = od_gas_low(k.z);
    to[2] = od_gas_high(k.z);
    colliders = OdColliders{od_gas_low(k.w), od_gas_high(k.w)};
}

// a and b of a reaction, which are summed as q is. With A and B their sums over the reactions of a species,
// dw/dT and dw/dm of the reactor are
// - at constant pressure A - B/T and -B/m, up to those of 1/rho;
// - at constant volume A and B.
struct OdGasTotal {
    real a, b;
};

template <class Law, class Shape>
OD_FN OdGasTotal od_total(
    const OdGas &gas, const Shape &shape, const OdGasRate &rate, const OdProgress &progress) {
    const real q = rate.k * progress.net;
    OdGasTotal total = {
        od_fma(rate.dlnk, q, progress.by_t), OD_GAS_AT_VOLUME ? (real)0 : progress.scaled};
    if (Law::HAS_BODY && Shape::TAKES_BODY) {
        const unsigned set = shape.colliders.set;
        const real by_x = rate.dk_dx * progress.net;
        const real base = od_gas_number(gas.g, OD_GAS_SET_DEFAULT, set);
        if (OD_GAS_AT_VOLUME) {
            total.b = od_fma(by_x * base, gas.density, total.b);
        } else {
            const real of_all = base * gas.total;
            total.a = total.a - by_x * of_all * gas.recip_t;
            total.b = od_fma(by_x, gas.at(OD_GAS_X, set) - of_all, total.b);
        }
    }
    if (Law::IS_TABULATED && OD_GAS_AT_VOLUME) {
        const real by_ln_p = rate.dlnk_dlnp * q;
        total.a = od_fma(by_ln_p, gas.recip_t, total.a);
        total.b = od_fma(by_ln_p, gas.recip_m, total.b);
    }
    return total;
}

// The net rate of the reaction of a thread in a round.
template <class Law, class Shape>
OD_FN real od_gas_rate(const OdGas &gas, const OdGasRounds &rounds, unsigned round) {
    const unsigned in_class = round - rounds.first;
    const Shape shape(gas, in_class + rounds.in_shape);
    const OdGasRate rate = Law::template rate<false, Shape::TAKES_BODY>(
        gas, round, in_class + rounds.in_law, shape.colliders);
    return rate.k * shape.net(gas);
}

// The same with its derivatives: a and b, and all others in their slots.
template <class Law, class Shape>
OD_FN OdGasRecord od_gas_derivatives(
    const OdGas &gas, const OdGasRounds &rounds, unsigned round) {
    const unsigned in_class = round - rounds.first;
    const Shape shape(gas, in_class + rounds.in_shape);
    const OdGasRate rate = Law::template rate<true, Shape::TAKES_BODY>(
        gas, round, in_class + rounds.in_law, shape.colliders);
    const unsigned at = od_gas_table<unsigned>(gas.g, OD_GAS_DERIVATIVES, round);
    const OdGasSlots slots = {gas.array_of<od_entry>(OD_GAS_BUFFER) + at + gas.g.slot};
    const OdProgress progress = shape.progress(gas, rate.k, slots);
    if (Law::HAS_BODY && Shape::TAKES_BODY) {
        slots.put(Shape::BODY_SLOT, rate.dk_dx * progress.net);
    }
    const OdGasTotal total = od_total<Law>(gas, shape, rate, progress);
    return OdGasRecord{rate.k * progress.net, (od_entry)total.a, (od_entry)total.b};
}

// The rounds of a class that a chunk has: q into the buffer, or with D records and all derivatives.
template <bool D, class Law, class Shape>
OD_FN void od_gas_rounds(const OdGas &gas, const OdGasChunk &chunk, const OdGasRounds &rounds) {
    unsigned round = chunk.first > rounds.first ? chunk.first : rounds.first;
    const unsigned end = chunk.end < rounds.end ? chunk.end : rounds.end;
    if (D) {
        OdGasRecord *records = gas.array_of<OdGasRecord>(OD_GAS_BUFFER) + gas.g.slot;
        for (; round < end; ++round) {
            const OdGasRecord all = od_gas_derivatives<Law, Shape>(gas, rounds, round);
            od_gas_store(records[(round - chunk.first) * OD_WIDTH], all);
        }
        return;
    }
    const auto q = gas.array(OD_GAS_BUFFER) + gas.g.slot;
    // Several rounds before the first of them is kept: none waits for another.
    for (; round + Shape::TOGETHER <= end; round += Shape::TOGETHER) {
        real some[Shape::TOGETHER];
#pragma unroll
        for (unsigned i = 0; i < Shape::TOGETHER; ++i) {
            some[i] = od_gas_rate<Law, Shape>(gas, rounds, round + i);
        }
#pragma unroll
        for (unsigned i = 0; i < Shape::TOGETHER; ++i) {
            q[(round + i - chunk.first) * OD_WIDTH] = some[i];
        }
    }
    for (; round < end; ++round) {
        q[(round - chunk.first) * OD_WIDTH] = od_gas_rate<Law, Shape>(gas, rounds, round);
    }
}
