// Sums over lists: of parts of the production of species, and of entries of the matrix.

// A value with the sign of a term, which is bit 15 of its word.
#if !OD_FLOAT
OD_FN double od_gas_signed(double value, unsigned term) {
    return __hiloint2double(
        __double2hiint(value) ^ (int)((term & 0x8000u) << 16), __double2loint(value));
}
#endif
OD_FN float od_gas_signed(float value, unsigned term) {
    return __int_as_float(__float_as_int(value) ^ (int)((term & 0x8000u) << 16));
}
OD_FN unsigned od_gas_index(unsigned term) { return term & 0x7fffu; }
template <typename T> OD_FN T od_gas_term(const T *values, unsigned term) {
    return od_gas_signed(values[od_gas_index(term)], term);
}

// Sections of lists of one target per thread, and of those with weights of four targets per thread.
struct OdGasLists {
    unsigned rounds, targets, terms;
};
struct OdGasWeightedLists {
    unsigned rounds, targets, terms, weights;
};

// Rounds of lists of a chunk.
struct OdGasRange {
    unsigned first, end;
};
OD_FN OdGasRange od_gas_range(const OdGroup &g, unsigned section, unsigned i) {
    const uint2 range = od_gas_table<uint2>(g, section, i);
    return OdGasRange{range.x, range.y};
}

// Words of tables read in order, a thread's own of each row, two rows before they are taken: sections have
// two rows more than there are.
template <typename T> struct OdGasStream {
    const T *next;
    T first, second;

    OD_FN_MEMBER OdGasStream(const OdGroup &g, unsigned section, unsigned row) {
        next = reinterpret_cast<const T *>(g.tables + section) + row * OD_WIDTH + g.slot;
        first = __ldg(next);
        second = __ldg(next + OD_WIDTH);
    }
    OD_FN_MEMBER T take() {
        const T word = first;
        first = second;
        next = next + OD_WIDTH;
        second = __ldg(next + OD_WIDTH);
        return word;
    }
};

// The numbers of steps of rounds, one round before they are taken, and the step with which the first begins.
struct OdGasSteps {
    const uint2 *next;
    uint2 ahead;

    OD_FN_MEMBER OdGasSteps(const OdGroup &g, unsigned section, unsigned round) {
        next = reinterpret_cast<const uint2 *>(g.tables + section) + round;
        ahead = __ldg(next);
    }
    OD_FN_MEMBER unsigned first() const { return ahead.x; }
    OD_FN_MEMBER unsigned take() {
        const unsigned steps = ahead.y;
        next = next + 1;
        ahead = __ldg(next);
        return steps;
    }
};

// What is summed over reactions, and the sum of a thread: q, or with D records.
template <bool D> struct OdProduction;

template <> struct OdProduction<false> {
    typedef real Value;
    real q;

    OD_FN_MEMBER void add(const real &value, unsigned term) { q = q + od_gas_signed(value, term); }
    OD_FN_MEMBER void add_weighted(const real &value, real weight) { q = od_fma(weight, value, q); }
    OD_FN_MEMBER void add_to(real &sum) const { sum = sum + q; }
};

template <> struct OdProduction<true> {
    typedef OdGasRecord Value;
    real q;
    od_entry a, b;

    OD_FN_MEMBER void add(const OdGasRecord &value, unsigned term) {
        const OdGasRecord all = od_gas_load(value);
        q = q + od_gas_signed(all.q, term);
        a = a + od_gas_signed(all.a, term);
        b = b + od_gas_signed(all.b, term);
    }
    OD_FN_MEMBER void add_weighted(const OdGasRecord &value, real weight) {
        const OdGasRecord all = od_gas_load(value);
        q = od_fma(weight, all.q, q);
        a = a + (od_entry)weight * all.a;
        b = b + (od_entry)weight * all.b;
    }
    OD_FN_MEMBER void add_to(OdGasRecord &sum) const {
        const OdGasRecord old = od_gas_load(sum);
        od_gas_store(sum, OdGasRecord{old.q + q, old.a + a, old.b + b});
    }
};

template <bool D>
OD_FN void od_gas_add(
    OdProduction<D> &sum, const typename OdProduction<D>::Value *values, unsigned term) {
    sum.add(values[od_gas_index(term)], term);
}

// Lists of a chunk whose first words are read before its reactions are computed: afterwards threads would wait for them.
struct OdGasBegun {
    OdGasRange rounds;
    OdGasSteps steps;
    OdGasStream<uint2> stream;
    const unsigned short *targets;
    unsigned target;

    OD_FN_MEMBER OdGasBegun(const OdGroup &g, const OdGasLists &lists, const OdGasRange &rounds)
        : rounds(rounds), steps(g, lists.rounds, rounds.first),
          stream(g, lists.terms, steps.first()),
          targets(reinterpret_cast<const unsigned short *>(g.tables + lists.targets) +
                  rounds.first * OD_WIDTH + g.slot),
          target(__ldg(targets)) {}
    OD_FN_MEMBER unsigned take_target() {
        const unsigned now = target;
        targets = targets + OD_WIDTH;
        target = __ldg(targets);
        return now;
    }
};

// Adds the terms of the reactions of a chunk to the parts.
template <bool D> OD_FN void od_add_production(const OdGas &gas, OdGasBegun &lists) {
    typedef typename OdProduction<D>::Value Value;
    const Value *values = gas.array_of<Value>(OD_GAS_BUFFER);
    Value *parts = gas.array_of<Value>(OD_GAS_PARTS);
    for (unsigned r = lists.rounds.first; r < lists.rounds.end; ++r) {
        const unsigned part = lists.take_target();
        OdProduction<D> sum = {};
#pragma unroll 2
        for (unsigned left = lists.steps.take(); left > 0; --left) {
            const uint2 terms = lists.stream.take();
            od_gas_add(sum, values, od_gas_low(terms.x));
            od_gas_add(sum, values, od_gas_high(terms.x));
            od_gas_add(sum, values, od_gas_low(terms.y));
            od_gas_add(sum, values, od_gas_high(terms.y));
        }
        // What fills up a row of threads has no part.
        if (part < OD_GAS_PART_COUNT) sum.add_to(parts[part]);
    }
}

// Four targets of a thread.
OD_FN uint4 od_gas_halves(const uint2 &words) {
    return make_uint4(
        od_gas_low(words.x), od_gas_high(words.x), od_gas_low(words.y), od_gas_high(words.y));
}
OD_FN uint4 od_gas_parts_at(const OdGroup &g, unsigned section, unsigned i) {
    return od_gas_halves(od_gas_table<uint2>(g, section, i));
}
#if OD_GAS_PART_WEIGHTS
// The same with weights; a species has a part for these alone.
template <bool D>
OD_FN void od_add_weighted_production(
    const OdGas &gas, const OdGasWeightedLists &lists, const OdGasRange &rounds) {
    const OdGroup &g = gas.g;
    typedef typename OdProduction<D>::Value Value;
    const Value *values = gas.array_of<Value>(OD_GAS_BUFFER);
    Value *parts = gas.array_of<Value>(OD_GAS_PARTS);
    for (unsigned r = rounds.first; r < rounds.end; ++r) {
        const uint2 steps = od_gas_table<uint2>(g, lists.rounds, r);
        const uint4 part = od_gas_parts_at(g, lists.targets, r * OD_WIDTH + g.slot);
        OdProduction<D> sum0 = {}, sum1 = {}, sum2 = {}, sum3 = {};
        for (unsigned step = steps.x; step < steps.x + steps.y; ++step) {
            const unsigned at = step * OD_WIDTH + g.slot;
            const uint2 terms = od_gas_table<uint2>(g, lists.terms, at);
            const OdGasPair left = od_gas_pair(g, lists.weights, 2 * at);
            const OdGasPair right = od_gas_pair(g, lists.weights, 2 * at + 1);
            sum0.add_weighted(values[od_gas_low(terms.x)], left.first);
            sum1.add_weighted(values[od_gas_high(terms.x)], left.second);
            sum2.add_weighted(values[od_gas_low(terms.y)], right.first);
            sum3.add_weighted(values[od_gas_high(terms.y)], right.second);
        }
        if (part.x < OD_GAS_PART_COUNT) sum0.add_to(parts[part.x]);
        if (part.y < OD_GAS_PART_COUNT) sum1.add_to(parts[part.y]);
        if (part.z < OD_GAS_PART_COUNT) sum2.add_to(parts[part.z]);
        if (part.w < OD_GAS_PART_COUNT) sum3.add_to(parts[part.w]);
    }
}
#endif

#if OD_GAS_LINEARISES
// Places as tables have them.
#if OD_GAS_WIDE_PLACES
typedef uint4 OdGasPlaces;
OD_FN uint4 od_gas_places(const OdGasPlaces &places) { return places; }
#else
typedef uint2 OdGasPlaces;
OD_FN uint4 od_gas_places(const OdGasPlaces &places) { return od_gas_halves(places); }
#endif
OD_FN uint4 od_gas_places_at(const OdGroup &g, unsigned section, unsigned i) {
    return od_gas_places(od_gas_table<OdGasPlaces>(g, section, i));
}
OD_FN unsigned od_gas_place(const OdGroup &g, unsigned section, unsigned i) {
#if OD_GAS_WIDE_PLACES
    return od_gas_table<unsigned>(g, section, i);
#else
    return od_gas_short(g, section, i);
#endif
}

// Adds to four places, one after the other: two of them may be parts of the same sum. The place that nobody reads is not
// written either, as all threads would write it.
OD_FN void od_gas_add_to(
    od_entry *matrix, const uint4 &place, od_entry a, od_entry b, od_entry c, od_entry d) {
    if (place.x != OD_GAS_UNUSED) matrix[place.x] = matrix[place.x] + a;
    if (place.y != OD_GAS_UNUSED) matrix[place.y] = matrix[place.y] + b;
    if (place.z != OD_GAS_UNUSED) matrix[place.z] = matrix[place.z] + c;
    if (place.w != OD_GAS_UNUSED) matrix[place.w] = matrix[place.w] + d;
}

// Adds the derivatives of the reactions of a chunk to entries of the species block: sums of nu dq/dC, without their
// factor -W/W of the row and the column.
OD_FN void od_add_entries(const OdGas &gas, const OdGasRange &rounds, od_entry *matrix) {
    if (rounds.first == rounds.end) return;
    const OdGroup &g = gas.g;
    const od_entry *slots = gas.array_of<od_entry>(OD_GAS_BUFFER);
    OdGasSteps steps(g, OD_GAS_ENTRY_ROUNDS, rounds.first);
    OdGasStream<uint2> stream(g, OD_GAS_ENTRY_TERMS, steps.first());
    const OdGasPlaces *targets = reinterpret_cast<const OdGasPlaces *>(g.tables + OD_GAS_ENTRY_TARGETS) +
                                 rounds.first * OD_WIDTH + g.slot;
    // Read a round before they are taken.
    OdGasPlaces ahead = __ldg(targets);
    for (unsigned r = rounds.first; r < rounds.end; ++r) {
        const OdGasPlaces places = ahead;
        targets = targets + OD_WIDTH;
        ahead = __ldg(targets);
        od_entry sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#pragma unroll 4
        for (unsigned left = steps.take(); left > 0; --left) {
            const uint2 terms = stream.take();
            sum0 = sum0 + od_gas_term(slots, od_gas_low(terms.x));
            sum1 = sum1 + od_gas_term(slots, od_gas_high(terms.x));
            sum2 = sum2 + od_gas_term(slots, od_gas_low(terms.y));
            sum3 = sum3 + od_gas_term(slots, od_gas_high(terms.y));
        }
        od_gas_add_to(matrix, od_gas_places(places), sum0, sum1, sum2, sum3);
    }
}

// The same with weights.
OD_FN void od_add_weighted_entries(const OdGas &gas, const OdGasRange &rounds, od_entry *matrix) {
    const OdGroup &g = gas.g;
    const od_entry *slots = gas.array_of<od_entry>(OD_GAS_BUFFER);
    for (unsigned r = rounds.first; r < rounds.end; ++r) {
        const uint2 steps = od_gas_table<uint2>(g, OD_GAS_WEIGHTED_ENTRY_ROUNDS, r);
        const unsigned row = r * OD_WIDTH + g.slot;
        const uint4 place = od_gas_places_at(g, OD_GAS_WEIGHTED_ENTRY_TARGETS, row);
        od_entry sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
        for (unsigned step = steps.x; step < steps.x + steps.y; ++step) {
            const unsigned at = step * OD_WIDTH + g.slot;
            const uint2 terms = od_gas_table<uint2>(g, OD_GAS_WEIGHTED_ENTRY_TERMS, at);
            const OdGasPair left = od_gas_pair(g, OD_GAS_WEIGHTED_ENTRY_WEIGHTS, 2 * at);
            const OdGasPair right = od_gas_pair(g, OD_GAS_WEIGHTED_ENTRY_WEIGHTS, 2 * at + 1);
            sum0 = sum0 + (od_entry)left.first * slots[od_gas_low(terms.x)];
            sum1 = sum1 + (od_entry)left.second * slots[od_gas_high(terms.x)];
            sum2 = sum2 + (od_entry)right.first * slots[od_gas_low(terms.y)];
            sum3 = sum3 + (od_entry)right.second * slots[od_gas_high(terms.y)];
        }
        od_gas_add_to(matrix, place, sum0, sum1, sum2, sum3);
    }
}
#endif
