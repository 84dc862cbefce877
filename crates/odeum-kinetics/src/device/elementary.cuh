// Powers of two and binary logarithms, to about two units in the last place.
//
// 2^x: x = n + r with |r| <= 1/2, a polynomial of degree 11 in r (least maximum error, 3.5e-16), and n into the
// exponent. log2 x: x = 2^e m with m about one, and with s = (m - 1)/(m + 1) the series
// 2/ln 2 (s + s^3/3 + s^5/5 + ...), whose tenth term is 2e-17 of the first. Arguments beyond those for which
// this holds, NaN among them, go to the library, which knows overflow, zero and what is no number.

#if OD_FLOAT

OD_FN real od_gas_exp2(real x) { return exp2f(x); }
OD_FN real od_gas_log2(real x) { return log2f(x); }

#else

static __device__ __noinline__ real od_gas_exp2_beyond(real x) { return exp2(x); }
static __device__ __noinline__ real od_gas_log2_beyond(real x) { return log2(x); }

OD_FN real od_gas_exp2(real x) {
    // |x| >= 1020, or NaN: 1020 is 0x408fe000 00000000.
    if (od_magnitude(x) >= 0x408fe000) return od_gas_exp2_beyond(x);
    // Adding 1.5 * 2^52 rounds to an integer, which then stands in the low bits.
    const real shifted = x + 6755399441055744.0;
    const int n = __double2loint(shifted);
    const real r = x - (shifted - 6755399441055744.0);
    real p = 4.6062345155528383e-11;
    p = od_fma(p, r, 7.077685531121059e-09);
    p = od_fma(p, r, 1.0177382080468385e-07);
    p = od_fma(p, r, 1.3215417631863214e-06);
    p = od_fma(p, r, 1.5252734600812372e-05);
    p = od_fma(p, r, 0.00015403530481321426);
    p = od_fma(p, r, 0.0013333558146619395);
    p = od_fma(p, r, 0.009618129107585815);
    p = od_fma(p, r, 0.05550410866481637);
    p = od_fma(p, r, 0.24022650695910103);
    p = od_fma(p, r, 0.6931471805599456);
    p = od_fma(p, r, 1.0);
    return __hiloint2double(__double2hiint(p) + (int)((unsigned)n << 20), __double2loint(p));
}

OD_FN real od_gas_log2(real x) {
    const int high = __double2hiint(x);
    // Zero, subnormal, negative, infinite, NaN.
    if ((unsigned)(high - 0x00100000) >= 0x7fe00000u) return od_gas_log2_beyond(x);
    // m lies in [sqrt(1/2), sqrt(2)).
    const int e = (high - 0x3fe6a09e) >> 20;
    const real m = __hiloint2double(high - (int)((unsigned)e << 20), __double2loint(x));
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
    return od_fma(s * z, p, od_fma(s, 2.8853900817779268, (real)e));
}

#endif

#define OD_LOG2_E ((real)1.4426950408889634)
#define OD_LN_2 ((real)0.6931471805599453)
#define OD_LOG10_2 ((real)0.30102999566398120)
#define OD_LOG2_10 ((real)3.3219280948873623)
