// The dense tail, which Gauss–Jordan elimination turns into its inverse.
//
// A thread keeps its rows in registers, and each pivot row is told to all. After every pivot a row moves on by one
// register, so that the column of the pivot is always register 0 and the loop over pivots need not be unrolled; the
// column that it leaves free takes the inverse's. The row of a pivot itself only moves on, and is multiplied with the
// reciprocal of its pivot at the end: until then it is the row of the inverse times the pivot. Where threads share a
// row, column j belongs to part j mod OD_TAIL_PARTS, and only the part that has the pivot's column moves on; it tells
// the multipliers.
//
// What is told stands where the matrix stood, a row of its own for each pivot: one barrier for each, and rows of U
// can be looked at afterwards. Multipliers take turns between two columns behind them.

// Larger tails are inverted in memory.
template <class E>
OD_FN constexpr bool od_tail_in_registers() {
    return OD_TAIL_ROWS * OD_TAIL_COLUMNS * sizeof(E) <= OD_TAIL_REGISTERS;
}

// Writes what all must know of the row of a pivot: after the registers of the pivot's own part its reciprocal.
template <bool OWN, class E>
OD_FN void od_tail_tell(const E *row, E inverse, E *told) {
#pragma unroll
    for (unsigned q = 0; q < OD_TAIL_COLUMNS; q += OdVector<E>::LENGTH) {
        OdVector<E> v;
#pragma unroll
        for (unsigned u = 0; u < OdVector<E>::LENGTH; ++u) {
            const unsigned at = q + u + (OWN ? 1 : 0);
            v.at[u] = at < OD_TAIL_COLUMNS ? row[at < OD_TAIL_COLUMNS ? at : 0]
                : OWN && at == OD_TAIL_COLUMNS ? inverse : E(0);
        }
        *(OdVector<E> *)(told + q) = v;
    }
}

// row − factor · pivot row; `free`: what a row that moves on takes up.
template <bool OWN, class E>
OD_FN void od_tail_subtract(E *row, E factor, E free, const E *told) {
#pragma unroll
    for (unsigned q = 0; q < OD_TAIL_COLUMNS; q += OdVector<E>::LENGTH) {
        const OdVector<E> v = *(const OdVector<E> *)(told + q);
#pragma unroll
        for (unsigned u = 0; u < OdVector<E>::LENGTH; ++u) {
            const unsigned to = q + u, from = to + (OWN ? 1 : 0);
            if (to >= OD_TAIL_COLUMNS) continue;
            row[to] = from < OD_TAIL_COLUMNS
                ? od_minus_product(row[from < OD_TAIL_COLUMNS ? from : 0], factor, v.at[u])
                : free;
        }
    }
}

// Watches the pivot of a row by what was told of it.
template <class E, class Size>
OD_FN void od_tail_watch(
    const OdGroup &g, const E *tail, unsigned k, E inverse_shift, Size size,
    OdWatch<Size> &watch) {
    const E *told = tail + k * (OD_TAIL_PARTS * OD_TAIL_STRIDE);
    const unsigned turns = k / OD_TAIL_PARTS, own = k % OD_TAIL_PARTS;
    const E inverse = told[own * OD_TAIL_STRIDE + OD_TAIL_COLUMNS - 1];
    Size grown = od_size(od_reciprocal(inverse));
#pragma unroll
    for (unsigned part = 0; part < OD_TAIL_PARTS; ++part) {
        // The columns of U; behind them are those of the inverse.
        const unsigned columns = OD_TAIL_COLUMNS - turns - (part <= own ? 1 : 0);
        // Threads begin at different columns, since rows lie a multiple of all banks apart.
        enum { LENGTH = OdVector<E>::LENGTH, VECTORS = (OD_TAIL_COLUMNS + LENGTH - 1) / LENGTH };
        unsigned at = g.slot % VECTORS;
#pragma unroll 4
        for (unsigned q = 0; q < VECTORS; ++q) {
            const OdVector<E> v = *(const OdVector<E> *)(told + part * OD_TAIL_STRIDE + at * LENGTH);
#pragma unroll
            for (unsigned u = 0; u < LENGTH; ++u) {
                grown = grown + (at * LENGTH + u < columns ? od_size(v.at[u]) : Size(0));
            }
            at = at + 1 == VECTORS ? 0 : at + 1;
        }
    }
    od_watch_pivot(watch, inverse, inverse_shift, grown, size);
}

// The largest x of all threads, which all learn.
template <class Size>
OD_FN Size od_group_largest(const OdGroup &g, Size x, Size *scratch) {
#if OD_WIDTH == 32 && defined(__CUDA_ARCH__)
#pragma unroll
    for (int distance = 16; distance; distance /= 2) {
        const Size other = __shfl_xor_sync(0xffffffffu, x, distance);
        x = x < other ? other : x;
    }
#else
    OD_GROUP_BARRIER();
    scratch[g.slot] = x;
    OD_GROUP_BARRIER();
    if (g.slot < 32) {
        for (unsigned s = g.slot; s < OD_WIDTH; s += 32) x = x < scratch[s] ? scratch[s] : x;
        scratch[g.slot] = x;
    }
    OD_GROUP_BARRIER();
    for (unsigned s = 0; s < 32; ++s) x = x < scratch[s] ? scratch[s] : x;
#endif
    return x;
}

// In registers. `sizes`: of the rows of the matrix. The tail is complete when it is called, not when it returns; then
// all threads know the growth that any of them has met.
template <class E, class Size>
OD_FN void od_tail_invert(
    const OdGroup &g, E *tail, E inverse_shift, const Size *sizes, OdWatch<Size> &watch) {
    // Threads that are too many for whole parts have no row.
    const unsigned nth = OD_TAIL_PARTS == 1 ? 0 : g.slot / OD_TAIL_ROW_THREADS;
    const unsigned part = nth < OD_TAIL_PARTS ? nth : 0;
    const unsigned first = OD_TAIL_PARTS == 1 ? g.slot
        : nth < OD_TAIL_PARTS ? g.slot % OD_TAIL_ROW_THREADS : OD_TAIL;
    E rows[OD_TAIL_ROWS][OD_TAIL_COLUMNS], inverse[OD_TAIL_ROWS], scale[OD_TAIL_ROWS];
#pragma unroll
    for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
        const unsigned i = first + r * OD_WIDTH;
#pragma unroll
        for (unsigned q = 0; q < OD_TAIL_COLUMNS; ++q) {
            const unsigned j = part + q * OD_TAIL_PARTS;
            rows[r][q] = i < OD_TAIL && j < OD_TAIL ? tail[j * OD_TAIL_LEADING + i] : E(0);
        }
        inverse[r] = scale[r] = od_reciprocal(rows[r][0]);
    }
    OD_GROUP_BARRIER();
#if OD_TAIL_PARTS > 1
    E *const multipliers = tail + OD_TAIL * (OD_TAIL_PARTS * OD_TAIL_STRIDE);
#endif
#pragma unroll 1
    for (unsigned k = 0; k < OD_TAIL; ++k) {
        const unsigned owner = k % OD_TAIL_PARTS;
        const bool own = OD_TAIL_PARTS == 1 || part == owner;
        E *const told = tail + k * (OD_TAIL_PARTS * OD_TAIL_STRIDE);
#pragma unroll
        for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
            if (first + r * OD_WIDTH != k) continue;
            E *const mine = told + part * OD_TAIL_STRIDE;
            if (own) od_tail_tell<true>(rows[r], inverse[r], mine);
            else od_tail_tell<false>(rows[r], inverse[r], mine);
        }
#if OD_TAIL_PARTS > 1
        E *const column = multipliers + k % 2 * OD_TAIL;
        if (own && first < OD_TAIL) column[first] = rows[0][0];
#endif
        OD_GROUP_BARRIER();
        const E pivot = told[owner * OD_TAIL_STRIDE + OD_TAIL_COLUMNS - 1];
        const E *const theirs = told + part * OD_TAIL_STRIDE;
#pragma unroll
        for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
            const bool mine = first + r * OD_WIDTH == k;
#if OD_TAIL_PARTS > 1
            const E entry = column[first < OD_TAIL ? first : 0];
#else
            const E entry = rows[r][0];
#endif
            const E factor = mine ? E(0) : od_product(entry, pivot);
            const E free = mine ? E(1) : od_negative(factor);
            if (mine) scale[r] = pivot;
            if (own) od_tail_subtract<true>(rows[r], factor, free, theirs);
            else od_tail_subtract<false>(rows[r], factor, free, theirs);
            // Of the next pivot's row: no thread waits for it.
            inverse[r] = od_reciprocal(rows[r][0]);
        }
    }
#pragma unroll
    for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
        const unsigned k = g.slot + r * OD_WIDTH;
        if (k < OD_TAIL) od_tail_watch(g, tail, k, inverse_shift, sizes[r], watch);
    }
    watch.growth = od_group_largest(g, watch.growth, (Size *)tail);
    OD_GROUP_BARRIER();
    // A part with a column less than others has moved on once less often: its first register is none of its own.
    const unsigned turn = (OD_TAIL - 1 - part) / OD_TAIL_PARTS + 1;
#pragma unroll
    for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
        const unsigned i = first + r * OD_WIDTH;
#pragma unroll
        for (unsigned q = 0; q < OD_TAIL_COLUMNS; ++q) {
            const unsigned place = q + turn < OD_TAIL_COLUMNS ? q + turn : q + turn - OD_TAIL_COLUMNS;
            const unsigned j = part + place * OD_TAIL_PARTS;
            if (i < OD_TAIL && j < OD_TAIL) {
                tail[j * OD_TAIL_LEADING + i] = od_product(rows[r][q], scale[r]);
            }
        }
    }
}

// In place, in memory. A row is not multiplied with the reciprocal of its pivot until the end, so that all can read
// it while they subtract it; of the reciprocals, which stand behind the matrix, the next one is computed meanwhile.
template <class E, class Size>
OD_FN void od_tail_invert_in_memory(
    const OdGroup &g, E *tail, E inverse_shift, const Size *sizes, OdWatch<Size> &watch) {
    E *const inverses = tail + OD_TAIL * OD_TAIL_LEADING;
#pragma unroll 1
    for (unsigned step = 0; step <= OD_TAIL; ++step) {
        // Of the row before: step 0 has none.
        const unsigned k = step - 1;
        const E pivot = step ? inverses[k] : E(0);
#pragma unroll
        for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
            const unsigned i = g.slot + r * OD_WIDTH;
            if (i >= OD_TAIL) continue;
            if (step && i == k) tail[k * OD_TAIL_LEADING + k] = E(1);
            if (step && i != k) {
                const E factor = od_product(tail[k * OD_TAIL_LEADING + i], pivot);
                for (unsigned j = 0; j < OD_TAIL; ++j) {
                    E &entry = tail[j * OD_TAIL_LEADING + i];
                    if (j != k) entry = od_minus_product(entry, factor, tail[j * OD_TAIL_LEADING + k]);
                }
                tail[k * OD_TAIL_LEADING + i] = od_negative(factor);
            }
            if (i != step) continue;
            const E inverse = od_reciprocal(tail[i * OD_TAIL_LEADING + i]);
            inverses[i] = inverse;
            Size grown = od_size(tail[i * OD_TAIL_LEADING + i]);
            for (unsigned j = i + 1; j < OD_TAIL; ++j) {
                grown = grown + od_size(tail[j * OD_TAIL_LEADING + i]);
            }
            od_watch_pivot(watch, inverse, inverse_shift, grown, sizes[r]);
        }
        OD_GROUP_BARRIER();
    }
    for (unsigned i = g.slot; i < OD_TAIL; i += OD_WIDTH) {
        const E inverse = inverses[i];
        for (unsigned j = 0; j < OD_TAIL; ++j) {
            E &entry = tail[j * OD_TAIL_LEADING + i];
            entry = od_product(entry, inverse);
        }
    }
    watch.growth = od_group_largest(g, watch.growth, (Size *)inverses);
}

// Writes the tail's solutions behind its right-hand sides: the product of these with the inverse.
template <class E>
OD_FN void od_tail_solve(const OdGroup &g, const E *tail, E *x) {
    typedef OdVector<E> Vector;
    const E *const rhs = x + OD_X_TAIL;
    const unsigned whole = OD_TAIL / Vector::LENGTH * Vector::LENGTH;
#pragma unroll
    for (unsigned r = 0; r < OD_TAIL_ROWS; ++r) {
        const unsigned i = g.slot + r * OD_WIDTH;
        if (i >= OD_TAIL) continue;
        const E *entry = tail + i;
        E even = E(0), odd = E(0);
#pragma unroll 4
        for (unsigned j = 0; j < whole; j += Vector::LENGTH) {
            const Vector v = *(const Vector *)(rhs + j);
#pragma unroll
            for (unsigned u = 0; u < Vector::LENGTH; ++u) {
                E &sum = u % 2 ? odd : even;
                sum = od_minus_product(sum, *entry, v.at[u]);
                entry += OD_TAIL_LEADING;
            }
        }
        for (unsigned j = whole; j < OD_TAIL; ++j, entry += OD_TAIL_LEADING) {
            odd = od_minus_product(odd, *entry, rhs[j]);
        }
        x[OD_X_TAIL + OD_TAIL + i] = od_negative(od_plus(even, odd));
    }
}
