// σI − J to its factors in place, and solves with them, by the threads of a group. All of them call; what a function
// reads is complete before, and what it writes after it. Vectors and matrices begin at multiples of 16 bytes, in
// shared or in global memory.

// --- Tables ---

#if OD_LU_WIDE
typedef unsigned OdIndex;
typedef uint2 OdIndexPair;
typedef uint4 OdIndices;
struct OdTerms { uint4 one, two; };
OD_FN unsigned od_left(OdIndexPair pair) { return pair.x; }
OD_FN unsigned od_right(OdIndexPair pair) { return pair.y; }
OD_FN OdTerms od_terms(const unsigned char *at) {
    return OdTerms{__ldg((const uint4 *)at), __ldg((const uint4 *)at + 1)};
}
OD_FN OdIndexPair od_term(const OdTerms &terms, unsigned side) {
    return side == 0 ? OdIndexPair{terms.one.x, terms.one.y}
        : side == 1 ? OdIndexPair{terms.one.z, terms.one.w}
        : side == 2 ? OdIndexPair{terms.two.x, terms.two.y}
        : OdIndexPair{terms.two.z, terms.two.w};
}
OD_FN unsigned od_index(OdIndices all, unsigned side) {
    return side == 0 ? all.x : side == 1 ? all.y : side == 2 ? all.z : all.w;
}
#else
typedef unsigned short OdIndex;
typedef unsigned OdIndexPair;
typedef uint2 OdIndices;
struct OdTerms { uint4 all; };
OD_FN unsigned od_left(OdIndexPair pair) { return pair & 0xffffu; }
OD_FN unsigned od_right(OdIndexPair pair) { return pair >> 16; }
OD_FN OdTerms od_terms(const unsigned char *at) { return OdTerms{__ldg((const uint4 *)at)}; }
OD_FN OdIndexPair od_term(const OdTerms &terms, unsigned side) {
    return side == 0 ? terms.all.x : side == 1 ? terms.all.y : side == 2 ? terms.all.z : terms.all.w;
}
OD_FN unsigned od_index(OdIndices all, unsigned side) {
    const OdIndexPair pair = side < 2 ? all.x : all.y;
    return side % 2 ? od_right(pair) : od_left(pair);
}
#endif

// Sums, or terms of a sum, that a thread computes side by side.
#define OD_SIDES 4u

OD_FN unsigned od_rhs_place(const OdGroup &g, unsigned i) {
    return __ldg((const OdIndex *)(g.tables + OD_LU_RHS) + i);
}
OD_FN unsigned od_solution_place(const OdGroup &g, unsigned i) {
    const unsigned place = od_rhs_place(g, i);
    return place < OD_LU_HEAD ? place : place + OD_TAIL;
}

// --- The matrix ---

// Adds σ to the diagonal.
template <class E>
OD_FN void od_group_shift(const OdGroup &g, E *matrix, E sigma) {
    for (unsigned k = g.slot; k < OD_LU_HEAD; k += OD_WIDTH) {
        matrix[k] = od_plus(matrix[k], sigma);
    }
    for (unsigned k = g.slot; k < OD_TAIL; k += OD_WIDTH) {
        E &entry = matrix[OD_TAIL_AT + k * (OD_TAIL_LEADING + 1)];
        entry = od_plus(entry, sigma);
    }
    OD_GROUP_BARRIER();
}

// σI − J from −J, which stays: for matrices of complex entries, and where J serves several.
template <class E>
OD_FN void od_group_assemble(
    const OdGroup &g, const od_entry *negative_jacobian, E *matrix, E sigma) {
#pragma unroll 8
    for (unsigned e = g.slot; e < OD_MATRIX_ENTRIES; e += OD_WIDTH) {
        matrix[e] = E(negative_jacobian[e]);
    }
    OD_GROUP_BARRIER();
    od_group_shift(g, matrix, sigma);
}

// --- Factors ---

// Rows of the head of a thread.
#define OD_LU_HEAD_ROWS ((OD_LU_HEAD + OD_WIDTH - 1u) / OD_WIDTH)

// The size of the entries of a range.
template <class E>
OD_FN auto od_range_size(const E *matrix, unsigned from, unsigned to) -> decltype(od_size(*matrix)) {
    decltype(od_size(*matrix)) size = 0;
#pragma unroll 1
    for (unsigned e = from; e < to; ++e) size = size + od_size(matrix[e]);
    return size;
}

// Sizes of the rows that a thread watches: |σ| and those of the entries of J.
template <class E, class Size>
OD_FN void od_lu_sizes(const OdGroup &g, const E *matrix, E sigma, Size *head, Size *tail) {
    const OdIndex *const lower = (const OdIndex *)(g.tables + OD_LU_LOWER);
    const OdIndex *const upper = (const OdIndex *)(g.tables + OD_LU_UPPER);
#pragma unroll
    for (unsigned r = 0; r < OD_LU_HEAD_ROWS; ++r) {
        const unsigned k = g.slot + r * OD_WIDTH;
        if (k >= OD_LU_HEAD) continue;
        head[r] = od_size(sigma) + od_size(od_plus(matrix[k], od_negative(sigma)))
            + od_range_size(matrix, __ldg(lower + k), __ldg(lower + k + 1))
            + od_range_size(matrix, __ldg(upper + k), __ldg(upper + k + 1));
    }
#pragma unroll
    for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
        const unsigned i = g.slot + r * OD_WIDTH, k = OD_LU_HEAD + i;
        if (i >= OD_TAIL) continue;
        Size size = od_size(sigma) + od_range_size(matrix, __ldg(lower + k), __ldg(lower + k + 1));
        const E *const row = matrix + OD_TAIL_AT + i;
#pragma unroll 4
        for (unsigned j = 0; j < OD_TAIL; ++j) {
            size = size + od_size(row[j * OD_TAIL_LEADING]);
        }
        const E own = row[i * OD_TAIL_LEADING];
        tail[r] = size + (od_size(od_plus(own, od_negative(sigma))) - od_size(own));
    }
}

// Eliminates the pivots of the head, level by level.
template <class E>
OD_FN void od_lu_head(const OdGroup &g, E *matrix) {
    const OdIndexPair *const scaled = (const OdIndexPair *)(g.tables + OD_LU_SCALED);
    const OdIndices *targets = (const OdIndices *)(g.tables + OD_LU_TARGETS) + g.slot;
    const unsigned *const lengths = (const unsigned *)(g.tables + OD_LU_LENGTHS);
    const unsigned char *terms = g.tables + OD_LU_TERMS + g.slot * sizeof(OdTerms);
    const uint4 *const level_ends = (const uint4 *)(g.tables + OD_LU_LEVEL_ENDS);
    // Loads from tables run a step, a round, a level ahead: threads would wait for them, each time.
    OdTerms next = od_terms(terms);
    OdIndices to_next = __ldg(targets);
    unsigned steps_next = __ldg(lengths);
    uint4 ends_next = __ldg(level_ends);
    unsigned entry = 0, pivot = 0, round = 0;
    for (unsigned level = 0; level < OD_LU_LEVELS; ++level) {
        const uint4 ends = ends_next;
        ends_next = __ldg(level_ends + level + 1);
        for (unsigned e = entry + g.slot; e < ends.x; e += OD_WIDTH) {
            const OdIndexPair pair = __ldg(scaled + e);
            E &factor = matrix[od_left(pair)];
            factor = od_product(factor, od_reciprocal(matrix[od_right(pair)]));
        }
        OD_GROUP_BARRIER();
        for (unsigned k = pivot + g.slot; k < ends.y; k += OD_WIDTH) {
            matrix[k] = od_reciprocal(matrix[k]);
        }
        for (; round < ends.z; ++round) {
            const OdIndices to = to_next;
            targets += OD_WIDTH;
            to_next = __ldg(targets);
            unsigned steps = steps_next;
            steps_next = __ldg(lengths + round + 1);
            E sums[OD_SIDES];
#pragma unroll
            for (unsigned s = 0; s < OD_SIDES; ++s) sums[s] = matrix[od_index(to, s)];
#pragma unroll 4
            do {
                const OdTerms all = next;
                terms += OD_WIDTH * sizeof(OdTerms);
                next = od_terms(terms);
#pragma unroll
                for (unsigned s = 0; s < OD_SIDES; ++s) {
                    const OdIndexPair pair = od_term(all, s);
                    sums[s] =
                        od_minus_product(sums[s], matrix[od_left(pair)], matrix[od_right(pair)]);
                }
            } while (--steps);
#pragma unroll
            for (unsigned s = 0; s < OD_SIDES; ++s) {
                // What fills up a row of threads goes nowhere.
                if (od_index(to, s) != OD_LU_UNUSED) matrix[od_index(to, s)] = sums[s];
            }
        }
        OD_GROUP_BARRIER();
        entry = ends.x;
        pivot = ends.y;
    }
}

// σI − J to factors in place.
template <class E>
OD_FN OdPivots od_group_factor(const OdGroup &g, E *matrix, E sigma) {
    typedef decltype(od_size(sigma)) Size;
    Size head[OD_LU_HEAD_ROWS + 1], tail[OD_TAIL_ROWS];
    od_lu_sizes(g, matrix, sigma, head, tail);
    if (g.slot == 0) matrix[OD_LU_ONE] = E(1);
    // Sizes have been taken before anything changes.
    OD_GROUP_BARRIER();
    od_lu_head(g, matrix);

    const E inverse_shift = od_reciprocal(sigma);
    OdWatch<Size> watch = od_watch(sigma);
    const OdIndex *const upper = (const OdIndex *)(g.tables + OD_LU_UPPER);
#pragma unroll
    for (unsigned r = 0; r < OD_LU_HEAD_ROWS; ++r) {
        const unsigned k = g.slot + r * OD_WIDTH;
        if (k >= OD_LU_HEAD) continue;
        const Size grown = od_size(od_reciprocal(matrix[k]))
            + od_range_size(matrix, __ldg(upper + k), __ldg(upper + k + 1));
        od_watch_pivot(watch, matrix[k], inverse_shift, grown, head[r]);
    }
    E *const dense = matrix + OD_TAIL_AT;
    if constexpr (od_tail_in_registers<E>()) {
        od_tail_invert(g, dense, inverse_shift, tail, watch);
    } else {
        od_tail_invert_in_memory(g, dense, inverse_shift, tail, watch);
    }
    OD_GROUP_BARRIER();
    return OdPivots{!od_group_any(g, !watch.valid), real(watch.growth)};
}

// --- Solves ---

// Sums of products, as the tables say.
template <class E>
OD_FN void od_lu_rounds(
    const OdGroup &g, const E *matrix, E *x, unsigned round, unsigned end,
    const unsigned char *&terms, OdTerms &next) {
    const OdIndexPair *const targets =
        (const OdIndexPair *)(g.tables + OD_LU_SOLVE_TARGETS) + g.slot;
    const unsigned *const lengths = (const unsigned *)(g.tables + OD_LU_SOLVE_LENGTHS);
    OdIndexPair target_next = __ldg(targets + round * OD_WIDTH);
    unsigned length_next = __ldg(lengths + round);
    for (; round < end; ++round) {
        const OdIndexPair target = target_next;
        const unsigned length = length_next;
        target_next = __ldg(targets + (round + 1) * OD_WIDTH);
        length_next = __ldg(lengths + round + 1);
        E even = x[od_left(target)], odd = E(0);
        // Unrolled, it would take too much of the cache of instructions.
#pragma unroll 1
        for (unsigned steps = length / 2; steps; --steps) {
            const OdTerms all = next;
            terms += OD_WIDTH * sizeof(OdTerms);
            next = od_terms(terms);
#pragma unroll
            for (unsigned s = 0; s < OD_SIDES; ++s) {
                const OdIndexPair pair = od_term(all, s);
                E &sum = s % 2 ? odd : even;
                sum = od_minus_product(sum, matrix[od_left(pair)], x[od_right(pair)]);
            }
        }
        const E value = od_product(od_plus(even, odd), matrix[od_right(target)]);
        if (od_left(target) != OD_X_ENTRIES - 1u) x[od_left(target)] = value;
        if (length % 2) OD_GROUP_BARRIER();
    }
}

// Replaces the right-hand side, x at od_rhs_place(g, i), by the solution, x at od_solution_place(g, i).
template <class E>
OD_FN void od_group_solve(const OdGroup &g, const E *matrix, E *x) {
    const unsigned char *terms = g.tables + OD_LU_SOLVE_TERMS + g.slot * sizeof(OdTerms);
    OdTerms next = od_terms(terms);
    od_lu_rounds(g, matrix, x, 0, OD_LU_FORWARD, terms, next);
    od_tail_solve(g, matrix + OD_TAIL_AT, x);
    OD_GROUP_BARRIER();
    od_lu_rounds(g, matrix, x, OD_LU_FORWARD, OD_LU_ROUNDS, terms, next);
}
