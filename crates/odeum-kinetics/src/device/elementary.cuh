// Powers of two and binary logarithms, to 2.3 and 3.3 units in the last place, without a branch.
//
// 2^x: x = n + r with |r| <= 1/2 (od_scaled_exp2). log2 x: x = 2^e m with m about one, and with s = (m - 1)/(m + 1) the series
// 2/ln 2 (s + s^3/3 + s^5/5 + ...), whose eleventh term is 2e-17 of the first. Beyond what this holds for, results
// are infinite, zero or NaN as those of the library are, but for those that would be subnormal: 2^x is
// zero below 2^-1022 and infinite from 2^1022 on, and the logarithm of a subnormal is that of zero.

#if OD_FLOAT

OD_FN real od_gas_exp2(real x) { return exp2f(x); }
OD_FN real od_gas_log2(real x) { return log2f(x); }
template <unsigned COUNT> OD_FN void od_gas_exp2s(real (&x)[COUNT]) {
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) x[i] = od_gas_exp2(x[i]);
}

#else

// A double by its leading 32 bits: infinity 0x7ff00000, NaN above.
OD_FN double od_gas_special(int high) { return __hiloint2double(high, 0); }

// 2^x where x, by its leading 32 bits, lies beyond: 1022 is 0x408ff000 00000000.
#define OD_GAS_BEYOND 0x408ff000
OD_FN double od_gas_beyond(int high) {
    const int size = high & 0x7fffffff;
    return od_gas_special(size > 0x7ff00000 ? size : (high < 0 ? 0 : 0x7ff00000));
}

OD_FN real od_gas_exp2(real x) {
    // Adding 1.5 * 2^52 rounds to an integer, which then stands in the low bits.
    const real shifted = x + 6755399441055744.0;
    const int n = __double2loint(shifted);
    const real r = x - (shifted - 6755399441055744.0);
    const real value = od_scaled_exp2(r, n);
    const int high = __double2hiint(x);
    return (high & 0x7fffffff) >= OD_GAS_BEYOND ? od_gas_beyond(high) : value;
}

// The same of several, term after term, so that none waits for itself. What lies beyond is rare: there is a branch.
template <unsigned COUNT> OD_FN void od_gas_exp2s(real (&x)[COUNT]) {
    if constexpr (COUNT == 1) {
        x[0] = od_gas_exp2(x[0]);
        return;
    }
    real r[COUNT];
    int n[COUNT], high[COUNT], most = 0;
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        const real shifted = x[i] + 6755399441055744.0;
        n[i] = __double2loint(shifted);
        r[i] = x[i] - (shifted - 6755399441055744.0);
        high[i] = __double2hiint(x[i]);
        const int size = high[i] & 0x7fffffff;
        most = size > most ? size : most;
    }
    od_scaled_exp2s(r, n, x);
    if (most < OD_GAS_BEYOND) return;
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        if ((high[i] & 0x7fffffff) >= OD_GAS_BEYOND) x[i] = od_gas_beyond(high[i]);
    }
}

OD_FN real od_gas_log2(real x) {
    const int high = __double2hiint(x);
    // m lies in [sqrt(1/2), sqrt(2)).
    const int e = (int)((unsigned)high - 0x3fe6a09eu) >> 20;
    const real m =
        __hiloint2double((int)((unsigned)high - ((unsigned)e << 20)), __double2loint(x));
    const real s = (m - 1.0) * od_recip(m + 1.0), z = s * s;
    real p = 0.15186263588304877;
    p = od_fma(p, z, 0.16972882833987804);
    p = od_fma(p, z, 0.19235933878519512);
    p = od_fma(p, z, 0.22195308321368667);
    p = od_fma(p, z, 0.2623081892525388);
    p = od_fma(p, z, 0.3205988979753252);
    p = od_fma(p, z, 0.4121985831111324);
    p = od_fma(p, z, 0.5770780163555853);
    p = od_fma(p, z, 0.9617966939259756);
    const real value = od_fma(s * z, p, od_fma(s, 2.8853900817779268, (real)e));
    // Infinity is its own logarithm, as NaN is; that of zero is negative, and there is none below.
    const int beyond = high >= 0x00100000 ? high : (high < 0 ? 0x7ff80000 : (int)0xfff00000);
    const bool normal = (unsigned)(high - 0x00100000) < 0x7fe00000u;
    return normal ? value : od_gas_special(beyond);
}

#endif

#define OD_GAS_LOG2_E ((real)1.4426950408889634)
#define OD_GAS_LN_2 ((real)0.6931471805599453)
#define OD_GAS_LOG10_2 ((real)0.30102999566398120)
#define OD_GAS_LOG2_10 ((real)3.3219280948873623)
