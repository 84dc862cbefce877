// Species: thermodynamic functions, concentrations, colliders.

// Sums over the species that belong to a thread.
struct OdSpeciesSums {
    real capacity;          // sum of Y/W (cp/R - expansion)
    real capacity_slope;    // sum of Y/W d(cp/R)/dT
};

// cp/R, h/RT, the shifted g/RT and d(cp/R)/dT.
struct OdStandardState {
    real cp, h, gamma, dcp;
};

// What multiplies the coefficients of T, T^2, T^3, T^4 in h/RT and in g/RT, and that of one in g/RT.
struct OdGasBasis {
    real h1, h2, h3, h4, g0, g1, g2, g3, g4;
};

OD_FN OdGasBasis od_gas_basis(const OdGas &gas) {
    const real t = gas.t, t2 = t * t, t3 = t2 * t, t4 = t2 * t2;
    return OdGasBasis{t * (real)0.5,
                   t2 * (real)(1.0 / 3.0),
                   t3 * (real)0.25,
                   t4 * (real)0.2,
                   (real)1 - gas.log2_t * OD_GAS_LN_2,
                   t * (real)-0.5,
                   t2 * (real)(-1.0 / 6.0),
                   t3 * (real)(-1.0 / 12.0),
                   t4 * (real)-0.05};
}

// Polynomials of a0 ... a4, b1 and its shifted value, and the shifted b2.
OD_FN OdStandardState od_polynomials(
    const OdGas &gas, const OdGasBasis &basis, const real *a, real b1, real b1_shifted,
    real b2_shifted) {
    const real t = gas.t;
    real cp = od_fma(a[4], t, a[3]);
    cp = od_fma(cp, t, a[2]);
    cp = od_fma(cp, t, a[1]);
    cp = od_fma(cp, t, a[0]);
    real dcp = od_fma((real)4 * a[4], t, (real)3 * a[3]);
    dcp = od_fma(dcp, t, (real)2 * a[2]);
    dcp = od_fma(dcp, t, a[1]);
    const real h = od_fma(a[3], basis.h3, od_fma(a[2], basis.h2, a[4] * basis.h4)) +
                   od_fma(a[1], basis.h1, a[0]);
    const real g = od_fma(a[3], basis.g3, od_fma(a[2], basis.g2, a[4] * basis.g4)) +
                   od_fma(a[0], basis.g0, a[1] * basis.g1);
    return OdStandardState{
        cp, od_fma(b1, gas.recip_t, h), od_fma(b1_shifted, gas.recip_t, g) - b2_shifted, dcp};
}

#if OD_GAS_PAIRS > 0
// Species of one or two ranges without negative powers of T, those of a thread one after the other. The temperature that
// decides which range is read before the one before it is computed.
struct OdGasPairs {
    unsigned species;
    real a[8];
    unsigned species_ahead; // of the next one
    real mid_ahead;

    OD_FN_MEMBER explicit OdGasPairs(const OdGas &gas) : species(0) {
        look_ahead(gas, OD_GAS_FIRST(gas.g));
    }
    // Those behind the last one are the last one: they are read and never taken.
    OD_FN_MEMBER static unsigned within(unsigned i) { return i < OD_GAS_PAIRS ? i : OD_GAS_PAIRS - 1u; }
    OD_FN_MEMBER void look_ahead(const OdGas &gas, unsigned at) {
        species_ahead = od_gas_short(gas.g, OD_GAS_PAIR_SPECIES, within(at));
        mid_ahead = od_gas_number(gas.g, OD_GAS_PAIR_MID, within(at));
    }
    OD_FN_MEMBER void take(const OdGas &gas, unsigned at) {
        const bool upper = gas.t > mid_ahead;
        species = species_ahead;
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            const unsigned row = upper ? 4 + j : j;
            const OdGasPair pair =
                od_gas_pair(gas.g, OD_GAS_PAIR_COEFFICIENTS, row * OD_GAS_PAIRS + within(at));
            a[2 * j] = pair.first;
            a[2 * j + 1] = pair.second;
        }
        look_ahead(gas, at + OD_GAS_SHARES);
    }
};
#endif

// Any other species.
OD_FN OdStandardState od_nasa9_state(const OdGas &gas, const OdGasBasis &basis, unsigned i) {
    const unsigned first = od_gas_table<unsigned>(gas.g, OD_GAS_NASA9_STARTS, i);
    const unsigned end = od_gas_table<unsigned>(gas.g, OD_GAS_NASA9_STARTS, i + 1);
    unsigned range = first;
    for (unsigned r = first + 1; r < end; ++r) {
        if (gas.t > od_gas_number(gas.g, OD_GAS_NASA9_LOW, r)) range = r;
    }
    real a[12];
#pragma unroll
    for (unsigned j = 0; j < 6; ++j) {
        const OdGasPair pair = od_gas_pair(gas.g, OD_GAS_NASA9_COEFFICIENTS, range * 6 + j);
        a[2 * j] = pair.first;
        a[2 * j + 1] = pair.second;
    }
    const real n2 = a[0], n1 = a[1], r = gas.recip_t, r2 = r * r, ln_t = gas.log2_t * OD_GAS_LN_2;
    OdStandardState s = od_polynomials(gas, basis, a + 2, a[7], a[9], a[10]);
    s.cp = od_fma(n2, r2, od_fma(n1, r, s.cp));
    s.h = od_fma(n1 * ln_t, r, s.h) - n2 * r2;
    s.gamma = od_fma(n1 * (ln_t + (real)1), r, s.gamma) - n2 * r2 * (real)0.5;
    s.dcp = s.dcp + (n2 * (real)-2 * r2 * r - n1 * r2);
    return s;
}

// C, e, u/RT; C/e, or 1/e and cp/R for derivatives: of species side by side, of which so many are there.
template <bool D, unsigned COUNT, class OdY>
OD_FN void od_keep_species(const OdGas &gas, OdY y, unsigned there, const unsigned (&species)[COUNT],
                           const OdStandardState (&states)[COUNT], OdSpeciesSums &sums) {
    real powers[COUNT];
#pragma unroll
    for (unsigned j = 0; j < COUNT; ++j) powers[j] = -states[j].gamma * OD_GAS_LOG2_E;
    od_gas_exp2s(powers);
#pragma unroll
    for (unsigned j = 0; j < COUNT; ++j) {
        if (j >= there) break;
        const unsigned k = species[j];
        const OdStandardState &s = states[j];
        const real amount = y[1 + k] * od_gas_number(gas.g, OD_GAS_RECIP_WEIGHT, k);
        const real c = amount * gas.density;
        const real e = powers[j] * (OD_GAS_STANDARD * gas.recip_t);
        const real recip_e = od_recip(e);
        gas.array(OD_GAS_C)[k] = c;
        gas.array(OD_GAS_E)[k] = e;
        gas.array(OD_GAS_Z)[k] = D ? recip_e : c * recip_e;
        gas.array(OD_GAS_U)[k] = s.h - (real)1;
#if OD_GAS_GENERAL
        gas.array(OD_GAS_GAMMA)[k] = s.gamma;
#endif
        sums.capacity = od_fma(amount, s.cp - OD_GAS_EXPANSION, sums.capacity);
        if (D) {
            gas.array_of<od_entry>(OD_GAS_CP)[k] = (od_entry)s.cp;
            sums.capacity_slope = od_fma(amount, s.dcp, sums.capacity_slope);
        }
    }
}

// X and log2 X of every set of colliders, the last of which has none.
template <class OdY> OD_FN void od_keep_colliders(const OdGas &gas, OdY y) {
    const OdGroup &g = gas.g;
#pragma unroll 1
#ifdef OD_INTERLEAVED
    for (unsigned r = OD_WARPS - 1u - g.warp; r < OD_GAS_SET_COUNT; r += OD_WARPS) {
#else
    for (unsigned r = 0; r < OD_GAS_SET_COUNT; ++r) {
#endif
        const uint2 steps = od_gas_table<uint2>(g, OD_GAS_SET_ROUNDS, r);
        const unsigned set = od_gas_short(g, OD_GAS_SET_TARGETS, r * OD_WIDTH + g.slot);
        const real of_all = od_gas_number(g, OD_GAS_SET_DEFAULT, set) * gas.total;
        real listed = 0;
#pragma unroll 2
        for (unsigned step = steps.x; step < steps.x + steps.y; ++step) {
            const unsigned at = step * OD_WIDTH + g.slot;
            const uint2 k = od_gas_table<uint2>(g, OD_GAS_SET_SPECIES, at);
            const OdGasPair a = od_gas_pair(g, OD_GAS_SET_EXCESS, 2 * at);
            const OdGasPair b = od_gas_pair(g, OD_GAS_SET_EXCESS, 2 * at + 1);
            listed = od_fma(a.first, y[1 + od_gas_low(k.x)], listed);
            listed = od_fma(a.second, y[1 + od_gas_high(k.x)], listed);
            listed = od_fma(b.first, y[1 + od_gas_low(k.y)], listed);
            listed = od_fma(b.second, y[1 + od_gas_high(k.y)], listed);
        }
        if (set < OD_GAS_SETS) {
            const real x = od_fma(listed, gas.density, of_all);
            gas.array(OD_GAS_X)[set] = x;
            gas.array(OD_GAS_LOG2_X)[set] = od_gas_log2(x < OD_GAS_TINY ? OD_GAS_TINY : x);
        }
    }
    if (OD_GAS_FIRST(g) == 0) {
        gas.array(OD_GAS_X)[OD_GAS_SETS] = 1;
        gas.array(OD_GAS_LOG2_X)[OD_GAS_SETS] = 0;
    }
}

// What stands for a factor that is not there, and for all products of a reaction that does not go back.
OD_FN void od_keep_absent(const OdGas &gas) {
    if (OD_GAS_FIRST(gas.g) != 0) return;
    const real one = 1, zero = 0;
    const unsigned none = OD_GAS_SPECIES, never = OD_GAS_NEVER;
    gas.array(OD_GAS_C)[none] = one;
    gas.array(OD_GAS_E)[none] = one;
    gas.array(OD_GAS_Z)[none] = one;
    gas.array(OD_GAS_U)[none] = zero;
    gas.array(OD_GAS_C)[never] = zero;
    gas.array(OD_GAS_E)[never] = one;
    gas.array(OD_GAS_Z)[never] = zero;
    gas.array(OD_GAS_U)[never] = zero;
}

// All that reactions read; complete after a barrier.
template <bool D, class OdY> OD_FN OdSpeciesSums od_gas_species(const OdGas &gas, OdY y) {
    const OdGroup &g = gas.g;
    const OdGasBasis basis = od_gas_basis(gas);
    OdSpeciesSums sums = {0, 0};
#if OD_GAS_PAIRS > 0
    OdGasPairs next(gas);
#if OD_GAS_READS_AHEAD
    // Coefficients, too, are read before the species before it is computed.
    next.take(gas, OD_GAS_FIRST(g));
#endif
#pragma unroll 1
    for (unsigned i = OD_GAS_FIRST(g); i < OD_GAS_PAIRS; i += OD_GAS_TOGETHER * OD_GAS_SHARES) {
        unsigned species[OD_GAS_TOGETHER], there = 0;
        OdStandardState states[OD_GAS_TOGETHER];
#pragma unroll
        for (unsigned j = 0; j < OD_GAS_TOGETHER; ++j) {
            const unsigned at = i + j * OD_GAS_SHARES;
#if OD_GAS_READS_AHEAD
            const OdGasPairs now = next;
            next.take(gas, at + OD_GAS_SHARES);
#else
            next.take(gas, at);
            const OdGasPairs &now = next;
#endif
            const real *const a = now.a;
            there += at < OD_GAS_PAIRS;
            species[j] = now.species;
            states[j] = od_polynomials(gas, basis, a, a[5], a[6], a[7]);
        }
        od_keep_species<D>(gas, y, there, species, states, sums);
    }
#endif
    for (unsigned i = OD_GAS_FIRST(g); i < OD_GAS_NASA9; i += OD_GAS_SHARES) {
        const unsigned species[1] = {od_gas_table<unsigned>(g, OD_GAS_NASA9_SPECIES, i)};
        const OdStandardState states[1] = {od_nasa9_state(gas, basis, i)};
        od_keep_species<D>(gas, y, 1, species, states, sums);
    }
    od_keep_colliders(gas, y);
    od_keep_absent(gas);
    return sums;
}
