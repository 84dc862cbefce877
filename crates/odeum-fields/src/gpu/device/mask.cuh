// Which cells belong to the domain: a bit for each, rows of OD_MASK_WORDS words. A ghost belongs to
// it when the cell does that gives its value.

// Where cell i of an axis of n cells is found.
OD_FN int od_found(int i, int n, bool wraps) {
    if (i >= 0 && i < n) return i;
    if (wraps) return ((i % n) + n) % n;
    const int mirror = i < 0 ? -1 - i : 2 * n - 1 - i;
    return mirror < 0 ? 0 : (mirror >= n ? n - 1 : mirror);
}

OD_FN bool od_belongs(const unsigned *mask, int x, int y, int z) {
    const int i = od_found(x, OD_NX, OD_WRAP_X), j = od_found(y, OD_NY, OD_WRAP_Y);
    const long long row = (long long)od_found(z, OD_NZ, OD_WRAP_Z) * OD_NY + j;
    return __ldg(mask + row * OD_MASK_WORDS + (i >> 5)) >> (i & 31) & 1u;
}
