// σI − J to its factors in place, and solves with them, by a thread that has the system to itself: what
// group/lu.cuh and group/product.cuh do, written out. Every index is a number, so that the compiler makes registers
// of a thread's arrays.

OD_FN unsigned od_rhs_place(const OdGroup &, unsigned i) { return i; }
OD_FN unsigned od_solution_place(const OdGroup &, unsigned i) { return i; }

// Adds σ to the diagonal, or puts it there.
template <class E>
OD_FN void od_group_shift(const OdGroup &, E *matrix, E sigma) {
OD_STRAIGHT_SHIFT
}

// σI − J from −J, which stays.
template <class E>
OD_FN void od_group_assemble(
    const OdGroup &g, const od_entry *negative_jacobian, E *matrix, E sigma) {
OD_STRAIGHT_ASSEMBLE
    od_group_shift(g, matrix, sigma);
}

// σI − J to factors in place; pivots become their reciprocals.
template <class E>
OD_FN OdPivots od_group_factor(const OdGroup &, E *matrix, E sigma) {
    typedef decltype(od_size(sigma)) Size;
    const E inverse_shift = od_reciprocal(sigma);
    OdWatch<Size> watch = od_watch(sigma);
OD_STRAIGHT_FACTOR
    return OdPivots{watch.valid, real(watch.growth)};
}

// Replaces the right-hand side by the solution.
template <class E>
OD_FN void od_group_solve(const OdGroup &, const E *matrix, E *x) {
OD_STRAIGHT_SOLVE
}

// J v from −J, of the components of the thread in their order.
template <class Sum = real, class V>
OD_FN void od_group_product(const OdGroup &, const od_entry *matrix, const real *v, V &out) {
    Sum sum;
OD_STRAIGHT_PRODUCT
}
