// J v of the matrix that od_group_linearise left, −J in its places: of each component of a thread, `out[e]` of
// g.slot + e OD_WIDTH. Nobody waits in it: v and the matrix may change after the next barrier.
template <class Sum = real, class V>
OD_FN void od_group_product(const OdGroup &g, const od_entry *matrix, const real *v, V &out) {
    const OdIndex *const starts = (const OdIndex *)(g.tables + OD_PRODUCT_ROWS);
    const OdIndexPair *const terms = (const OdIndexPair *)(g.tables + OD_PRODUCT_TERMS);
#pragma unroll
    for (unsigned e = 0; e < OD_EACH; ++e) {
        const unsigned i = g.slot + e * OD_WIDTH;
        if (i >= OD_LU_HEAD + OD_TAIL) continue;
        const unsigned end = __ldg(starts + i + 1);
        Sum sum = 0;
#pragma unroll 4
        for (unsigned k = __ldg(starts + i); k < end; ++k) {
            const OdIndexPair pair = __ldg(terms + k);
            sum = od_minus_product(sum, Sum(matrix[od_left(pair)]), Sum(v[od_right(pair)]));
        }
        out[e] = real(sum);
    }
}
