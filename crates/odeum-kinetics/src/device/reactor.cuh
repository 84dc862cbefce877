// The right-hand side and the Jacobian of a reactor.
//
// dY_k/dt = W_k w_k with w = omega/rho, dm/dt = sum of w, dT/dt = -T (sum of h_k w_k) / (sum of Y_k/W_k cp_k)
// with h/RT and cp/R, or u and cv at constant volume.

// What of the chunk is zero; by one thread, before the barrier that completes the buffer.
template <bool D> OD_FN void od_keep_zero(const OdGas &gas, const OdGasChunk &chunk) {
    typedef typename OdProduction<D>::Value Value;
    if (gas.g.slot == 0) gas.array_of<Value>(OD_GAS_BUFFER)[chunk.zero()] = Value{};
}

template <bool D> OD_FN void od_clear_parts(const OdGas &gas) {
    typedef typename OdProduction<D>::Value Value;
#pragma unroll 1
    for (unsigned i = gas.g.slot; i <= OD_GAS_PART_COUNT; i += OD_WIDTH) {
        gas.array_of<Value>(OD_GAS_PARTS)[i] = Value{};
    }
}

// The sum of the parts of a species.
template <bool D>
OD_FN typename OdProduction<D>::Value od_gas_production(const OdGas &gas, unsigned k) {
    typedef typename OdProduction<D>::Value Value;
    const Value *parts = gas.array_of<Value>(OD_GAS_PARTS);
    const unsigned end = od_gas_table<unsigned>(gas.g, OD_GAS_PART_STARTS, k + 1);
    OdProduction<D> sum = {};
#pragma unroll 1
    for (unsigned i = od_gas_table<unsigned>(gas.g, OD_GAS_PART_STARTS, k); i < end; ++i) {
        sum.add(parts[i], 0);
    }
    Value all = Value{};
    sum.add_to(all);
    return all;
}

// f of T and m from the sums over the species.
OD_FN void od_keep_rest(const OdGas &gas, real slope, real moles, real *f) {
    if (gas.g.slot != 0) return;
    f[0] = slope;
    f[OD_GAS_SPECIES + 1u] = moles;
}

// dT/dt from sum of h w and sum of Y/W cp.
OD_FN real od_gas_slope(const OdGas &gas, real released, real capacity) {
#if OD_GAS_ADIABATIC
    return -(gas.t * released / capacity);
#else
    return 0;
#endif
}

// Rounds of a chunk of the right-hand side: of reactions, of lists, and of those with weights.
OD_FN OdGasRange od_gas_rhs_range(const OdGroup &g, unsigned chunk, unsigned which) {
#if OD_GAS_RHS_CHUNK_COUNT == 1 && OD_GAS_READS_AHEAD
    // Known to the compiler.
    return OdGasRange{0u, which == 0 ? OD_GAS_RHS_REACTIONS_END
                          : which == 1 ? OD_GAS_RHS_LISTS_END : OD_GAS_WEIGHTED_RHS_END};
#else
    return od_gas_range(g, OD_GAS_RHS_CHUNKS, 3 * chunk + which);
#endif
}

OD_FN void od_group_rhs(const OdGroup &g, real t, const real *y, const OdParams &p, real *f) {
    const OdGas gas = od_gas(g, y, p);
    const OdSpeciesSums own = od_gas_species<false>(gas, y);
    od_clear_parts<false>(gas);
    OD_GROUP_BARRIER();
    const OdGasLists lists = {OD_GAS_RHS_ROUNDS, OD_GAS_RHS_TARGETS, OD_GAS_RHS_TERMS};
    for (unsigned i = 0; i < OD_GAS_RHS_CHUNK_COUNT; ++i) {
        const OdGasRange rounds = od_gas_rhs_range(g, i, 0);
        const OdGasChunk chunk = {rounds.first, rounds.end};
#if OD_GAS_READS_AHEAD
        OdGasBegun begun(g, lists, od_gas_rhs_range(g, i, 1));
        od_gas_reactions<false>(gas, chunk);
#else
        od_gas_reactions<false>(gas, chunk);
        OdGasBegun begun(g, lists, od_gas_rhs_range(g, i, 1));
#endif
        od_keep_zero<false>(gas, chunk);
        OD_GROUP_BARRIER();
        od_add_production<false>(gas, begun);
#if OD_GAS_PART_WEIGHTS
        const OdGasWeightedLists weighted = {
            OD_GAS_WEIGHTED_RHS_ROUNDS, OD_GAS_WEIGHTED_RHS_TARGETS, OD_GAS_WEIGHTED_RHS_TERMS,
            OD_GAS_WEIGHTED_RHS_WEIGHTS};
        od_add_weighted_production<false>(gas, weighted, od_gas_rhs_range(g, i, 2));
#endif
        OD_GROUP_BARRIER();
    }
    real released = 0, moles = 0;
#pragma unroll 1
    for (unsigned k = g.slot; k < OD_GAS_SPECIES; k += OD_WIDTH) {
        const real w = od_gas_production<false>(gas, k) * gas.recip_density;
        f[1 + k] = od_gas_number(g, OD_GAS_WEIGHT, k) * w;
        released = od_fma(gas.energy(k), w, released);
        moles = moles + w;
    }
    real sums[3] = {moles, released, own.capacity};
    od_group_sums(g, sums);
    const auto &[all_moles, all_released, capacity] = sums;
    od_keep_rest(gas, od_gas_slope(gas, all_released, capacity), all_moles, f);
    OD_GROUP_BARRIER();
}

#if OD_GAS_LINEARISES

// What columns T and m, and rows T and m, need of the sums over all species.
struct OdGasHeat {
    real slope;             // dT/dt
    real recip_capacity;
};

// Reactions of all chunks: their sums into the parts and into the species block of the matrix.
OD_FN void od_linearise_reactions(const OdGas &gas, od_entry *matrix) {
    const OdGroup &g = gas.g;
    const OdGasLists lists = {
        OD_GAS_PRODUCTION_ROUNDS, OD_GAS_PRODUCTION_TARGETS, OD_GAS_PRODUCTION_TERMS};
    for (unsigned i = 0; i < OD_GAS_CHUNK_COUNT; ++i) {
        const OdGasRange rounds = od_gas_range(g, OD_GAS_CHUNKS, 5 * i);
        const OdGasRange entries = od_gas_range(g, OD_GAS_CHUNKS, 5 * i + 3);
        const OdGasRange colliders = od_gas_range(g, OD_GAS_CHUNKS, 5 * i + 4);
        const OdGasChunk chunk = {rounds.first, rounds.end};
        OdGasBegun begun(g, lists, od_gas_range(g, OD_GAS_CHUNKS, 5 * i + 1));
        od_gas_reactions<true>(gas, chunk);
        od_keep_zero<true>(gas, chunk);
        OD_GROUP_BARRIER();
        od_add_production<true>(gas, begun);
#if OD_GAS_PART_WEIGHTS
        const OdGasWeightedLists weighted = {
            OD_GAS_WEIGHTED_PRODUCTION_ROUNDS, OD_GAS_WEIGHTED_PRODUCTION_TARGETS,
            OD_GAS_WEIGHTED_PRODUCTION_TERMS, OD_GAS_WEIGHTED_PRODUCTION_WEIGHTS};
        const OdGasRange others = od_gas_range(g, OD_GAS_CHUNKS, 5 * i + 2);
        od_add_weighted_production<true>(gas, weighted, others);
#endif
        od_add_entries(gas, entries, matrix);
        OD_GROUP_BARRIER();
        // The same for all threads: other threads add to entries of these.
        if (colliders.first < colliders.end) {
            od_add_weighted_entries(gas, colliders, matrix);
            OD_GROUP_BARRIER();
        }
    }
}

// An entry, unless the matrix has no such place.
OD_FN void od_gas_set(od_entry *matrix, unsigned place, real value) {
    if (place != OD_GAS_UNUSED) matrix[place] = (od_entry)value;
}

// f and the columns T and m.
OD_FN OdGasHeat od_linearise_state(
    const OdGas &gas, const OdSpeciesSums &own, real *f, od_entry *matrix) {
    const OdGroup &g = gas.g;
    real released = 0, moles = 0, released_t = 0, released_m = 0, moles_t = 0, moles_m = 0;
#pragma unroll 1
    for (unsigned k = g.slot; k < OD_GAS_SPECIES; k += OD_WIDTH) {
        const OdGasRecord sum = od_gas_production<true>(gas, k);
        const real w = sum.q * gas.recip_density;
        real by_t = (real)sum.a * gas.recip_density, by_m = (real)sum.b * gas.recip_density;
#if !OD_GAS_AT_VOLUME
        // 1/rho grows with T and m, too.
        const real spread = w - by_m;
        by_t = od_fma(spread, gas.recip_t, by_t);
        by_m = spread * gas.recip_m;
#endif
        const real weight = od_gas_number(g, OD_GAS_WEIGHT, k), energy = gas.energy(k);
        // For the columns, which read it from here; nobody wants e any more.
        gas.array(OD_GAS_E)[k] = weight;
        f[1 + k] = weight * w;
        od_gas_set(matrix, od_gas_place(g, OD_GAS_COLUMN_T, k), -(weight * by_t));
        od_gas_set(matrix, od_gas_place(g, OD_GAS_COLUMN_M, k), -(weight * by_m));
        moles = moles + w;
        released = od_fma(energy, w, released);
        moles_t = moles_t + by_t;
        moles_m = moles_m + by_m;
        released_t = od_fma(gas.cp(k) - OD_GAS_EXPANSION, w, released_t);
        released_t = od_fma(gas.t * energy, by_t, released_t);
        released_m = od_fma(energy, by_m, released_m);
    }
    real sums[8] = {moles,        released,   moles_t,    moles_m,
                    own.capacity, released_t, released_m, own.capacity_slope};
    od_group_sums(g, sums);
    const auto &[all_moles, all_released, all_moles_t, all_moles_m, capacity, all_released_t,
                 all_released_m, capacity_slope] = sums;
    const OdGasHeat heat = {od_gas_slope(gas, all_released, capacity), od_recip(capacity)};
    od_keep_rest(gas, heat.slope, all_moles, f);
    if (g.slot == 0) {
        od_gas_set(matrix, od_gas_place(g, OD_GAS_CORNER, 2), -all_moles_t);
        od_gas_set(matrix, od_gas_place(g, OD_GAS_CORNER, 3), -all_moles_m);
    }
#if OD_GAS_ADIABATIC
    if (g.slot == 0) {
        const real by_t = od_fma(heat.slope, capacity_slope, all_released_t) * heat.recip_capacity;
        od_gas_set(matrix, od_gas_place(g, OD_GAS_CORNER, 0), by_t);
        const real by_m = gas.t * all_released_m * heat.recip_capacity;
        od_gas_set(matrix, od_gas_place(g, OD_GAS_CORNER, 1), by_m);
    }
#endif
    return heat;
}

// An entry of the species block by its place and row: completed, and added to the sums of its column.
struct OdGasColumn {
    real released, moles;

    OD_FN_MEMBER void add(
        const OdGas &gas, unsigned place, unsigned row, real recip_weight, od_entry *matrix) {
        const real value = matrix[place];
        released = od_fma(gas.at(OD_GAS_U, row), value, released);
        moles = moles + value;
        const real scale = gas.at(OD_GAS_E, row) * recip_weight;
        // Several threads may read the entry that fills rows up: it stays as it is.
        if (place != OD_GAS_ZERO) matrix[place] = (od_entry)-(scale * value);
    }
};

// The entries of a column that a thread takes in a step, as tables have them.
struct OdGasColumnTerms {
    uint4 left;
#if OD_GAS_WIDE_PLACES
    uint4 right;
#endif
};
OD_FN OdGasColumnTerms od_gas_column_terms(const OdGroup &g, unsigned step) {
    const unsigned at = step * OD_WIDTH + g.slot;
#if OD_GAS_WIDE_PLACES
    return OdGasColumnTerms{od_gas_table<uint4>(g, OD_GAS_COLUMN_TERMS, 2 * at),
                            od_gas_table<uint4>(g, OD_GAS_COLUMN_TERMS, 2 * at + 1)};
#else
    return OdGasColumnTerms{od_gas_table<uint4>(g, OD_GAS_COLUMN_TERMS, at)};
#endif
}

// Columns of the species: the entries of their rows, and of the rows T and m the sums of these.
OD_FN void od_linearise_columns(const OdGas &gas, const OdGasHeat &heat, od_entry *matrix) {
    const OdGroup &g = gas.g;
#pragma unroll 1
    for (unsigned r = 0; r < OD_GAS_COLUMN_COUNT; ++r) {
        const uint2 steps = od_gas_table<uint2>(g, OD_GAS_COLUMN_ROUNDS, r);
        const unsigned j = od_gas_short(g, OD_GAS_COLUMN_TARGETS, r * OD_WIDTH + g.slot);
        // A thread without a column has entries that are zero, which it leaves so.
        if (j >= OD_GAS_SPECIES) continue;
        const real recip_weight = od_gas_number(g, OD_GAS_RECIP_WEIGHT, j);
        OdGasColumn sum = {0, 0};
        OdGasColumnTerms next = od_gas_column_terms(g, steps.x);
#pragma unroll 2
        for (unsigned step = steps.x; step < steps.x + steps.y; ++step) {
            const uint4 left = next.left;
#if OD_GAS_WIDE_PLACES
            const uint4 right = next.right;
#endif
            next = od_gas_column_terms(g, step + 1);
#if OD_GAS_WIDE_PLACES
            sum.add(gas, left.x, left.y, recip_weight, matrix);
            sum.add(gas, left.z, left.w, recip_weight, matrix);
            sum.add(gas, right.x, right.y, recip_weight, matrix);
            sum.add(gas, right.z, right.w, recip_weight, matrix);
#else
            sum.add(gas, od_gas_low(left.x), od_gas_high(left.x), recip_weight, matrix);
            sum.add(gas, od_gas_low(left.y), od_gas_high(left.y), recip_weight, matrix);
            sum.add(gas, od_gas_low(left.z), od_gas_high(left.z), recip_weight, matrix);
            sum.add(gas, od_gas_low(left.w), od_gas_high(left.w), recip_weight, matrix);
#endif
        }
        od_gas_set(matrix, od_gas_place(g, OD_GAS_ROW_M, j), -(sum.moles * recip_weight));
#if OD_GAS_ADIABATIC
        // Sums of h are those of u and of one.
        const real counted = OD_GAS_AT_VOLUME ? sum.released : sum.released + sum.moles;
        const real capacity = gas.cp(j) - OD_GAS_EXPANSION;
        const real change = od_fma(gas.t, counted, heat.slope * capacity) * recip_weight;
        od_gas_set(matrix, od_gas_place(g, OD_GAS_ROW_T, j), heat.recip_capacity * change);
#endif
    }
}

OD_FN void od_group_linearise(
    const OdGroup &g, real t, const real *y, const OdParams &p, real *f, od_entry *matrix) {
    const OdGas gas = od_gas(g, y, p);
#pragma unroll 4
    for (unsigned i = g.slot; i < OD_GAS_PLACES; i += OD_WIDTH) matrix[i] = 0;
    const OdSpeciesSums own = od_gas_species<true>(gas, y);
    od_clear_parts<true>(gas);
    OD_GROUP_BARRIER();
    od_linearise_reactions(gas, matrix);
    const OdGasHeat heat = od_linearise_state(gas, own, f, matrix);
    OD_GROUP_BARRIER();
    od_linearise_columns(gas, heat, matrix);
    OD_GROUP_BARRIER();
}

#endif
