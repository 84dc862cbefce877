// The law of mass action over lists of factors of any order, with one exponential of the sum of gamma.

#if OD_GAS_GENERAL

// c^n and its derivative, continued below a floor where n is no small natural number: linearly to zero, or as a constant where
// the secant is zero.
OD_FN OdGasPair od_gas_power(real c, real n, real secant) {
    if (n >= 0 && n <= 8 && n == od_floor(n)) {
        real value = 1, below = 0;
        for (unsigned i = 0; i < (unsigned)n; ++i) {
            below = od_fma(below, c, value);
            value = value * c;
        }
        return OdGasPair{value, below};
    }
    const bool low = c < OD_GAS_FLOOR;
    const real safe = low ? OD_GAS_FLOOR : c;
    const real value = od_gas_exp2(n * od_gas_log2(safe));
    const real slope = n * value * od_recip(safe);
    if (secant > 0) return OdGasPair{low ? c * secant : value, low ? secant : slope};
    return OdGasPair{value, low ? (real)0 : slope};
}

struct OdGasGeneral {
    static const bool TAKES_BODY = true;
    static const unsigned BODY_SLOT = OD_GAS_MOST_FACTORS, TOGETHER = 1;

    unsigned factors, products, end, net_first, net_end;
    bool goes_back;
    OdColliders colliders;
    // What the shift of gamma takes, and the change of the number of molecules.
    OdGasPair shift;
    real change;

    OD_FN_MEMBER OdGasGeneral(const OdGas &gas, unsigned in_shape) {
        const unsigned row = 2 * (in_shape * OD_WIDTH + gas.g.slot);
        const uint4 lists = od_gas_table<uint4>(gas.g, OD_GAS_GENERAL_LISTS, row);
        const uint4 rest = od_gas_table<uint4>(gas.g, OD_GAS_GENERAL_LISTS, row + 1);
        factors = lists.x;
        products = lists.y;
        end = lists.z;
        net_first = lists.w;
        net_end = rest.x;
        colliders = OdColliders{rest.y, rest.z};
        goes_back = rest.w != 0;
        shift = od_gas_pair(gas.g, OD_GAS_GENERAL_SHIFTS, row);
        change = od_gas_pair(gas.g, OD_GAS_GENERAL_SHIFTS, row + 1).first;
    }

    OD_FN_MEMBER OdGasPair factor(const OdGas &gas, unsigned i) const {
        const unsigned k = od_gas_table<unsigned>(gas.g, OD_GAS_GENERAL_SPECIES, i);
        const OdGasPair order = od_gas_pair(gas.g, OD_GAS_GENERAL_ORDERS, i);
        return od_gas_power(gas.at(OD_GAS_C, k), order.first, order.second);
    }

    // 1/Kc and d ln Kc/dT.
    OD_FN_MEMBER OdGasPair equilibrium(const OdGas &gas) const {
        real sum = od_fma(shift.first, gas.recip_t, shift.second), heat = 0;
        for (unsigned i = net_first; i < net_end; ++i) {
            const unsigned k = od_gas_table<unsigned>(gas.g, OD_GAS_GENERAL_NET_SPECIES, i);
            const real nu = od_gas_number(gas.g, OD_GAS_GENERAL_NET, i);
            sum = od_fma(nu, gas.at(OD_GAS_GAMMA, k), sum);
            heat = od_fma(nu, gas.at(OD_GAS_U, k), heat);
        }
        const real ln_standard = OD_GAS_LN_STANDARD - gas.log2_t * OD_GAS_LN_2;
        const real exponent = sum - change * ln_standard;
        const real bounded =
            exponent > OD_GAS_LARGEST_EXPONENT ? OD_GAS_LARGEST_EXPONENT : exponent;
        return OdGasPair{od_gas_exp2(bounded * OD_GAS_LOG2_E), heat * gas.recip_t};
    }

    // k times the factors of a list.
    OD_FN_MEMBER real product(const OdGas &gas, unsigned first, unsigned last, real k) const {
        for (unsigned i = first; i < last; ++i) k = k * factor(gas, i).first;
        return k;
    }

    // The same, with derivatives in the slots; the sum of C dq/dC is added to `scaled`.
    OD_FN_MEMBER real product(
        const OdGas &gas, unsigned first, unsigned last, real k, const OdGasSlots &slots,
        real &scaled) const {
        for (unsigned i = first; i < last; ++i) {
            real partial = k * factor(gas, i).second;
            for (unsigned other = first; other < last; ++other) {
                if (other != i) partial = partial * factor(gas, other).first;
            }
            slots.put(i - factors, partial);
            const unsigned species = od_gas_table<unsigned>(gas.g, OD_GAS_GENERAL_SPECIES, i);
            scaled = od_fma(gas.at(OD_GAS_C, species), partial, scaled);
        }
        return product(gas, first, last, k);
    }

    OD_FN_MEMBER real net(const OdGas &gas) const {
        const real forward = product(gas, factors, products, 1);
        if (!goes_back) return forward;
        return forward - product(gas, products, end, equilibrium(gas).first);
    }

    OD_FN_MEMBER OdProgress progress(const OdGas &gas, real k, const OdGasSlots &slots) const {
        OdProgress progress = {0, 0, 0};
        product(gas, factors, products, k, slots, progress.scaled);
        progress.net = product(gas, factors, products, 1);
        if (goes_back) {
            const OdGasPair constant = equilibrium(gas);
            const real recip_kc = constant.first;
            const real reverse =
                product(gas, products, end, -(k * recip_kc), slots, progress.scaled);
            progress.net = progress.net - product(gas, products, end, recip_kc);
            progress.by_t = -(reverse * constant.second);
        }
        return progress;
    }
};

#endif
