// The scalar of device code and the functions that generated right-hand sides call.
//
// `real` is double or float throughout, time included: a build for float contains no double
// arithmetic. Contraction is off (`--fmad=false`); what should be fused says od_fma, so that an
// expression has the same bits in whichever kernel it stands.

#if OD_FLOAT
typedef float real;
#else
typedef double real;
#endif

#define OD_FN static __device__ __forceinline__
#define OD_FN_MEMBER __device__ __forceinline__

#if OD_FLOAT
#define OD_CALL(name) name##f
#else
#define OD_CALL(name) name
#endif

OD_FN real od_fma(real a, real b, real c) { return OD_CALL(fma)(a, b, c); }
OD_FN real od_abs(real a) { return OD_CALL(fabs)(a); }
OD_FN real od_floor(real a) { return OD_CALL(floor)(a); }
OD_FN real od_sqrt(real a) { return OD_CALL(sqrt)(a); }
OD_FN real od_cbrt(real a) { return OD_CALL(cbrt)(a); }
OD_FN real od_sin(real a) { return OD_CALL(sin)(a); }
OD_FN real od_cos(real a) { return OD_CALL(cos)(a); }
OD_FN real od_tan(real a) { return OD_CALL(tan)(a); }
OD_FN real od_asin(real a) { return OD_CALL(asin)(a); }
OD_FN real od_acos(real a) { return OD_CALL(acos)(a); }
OD_FN real od_atan(real a) { return OD_CALL(atan)(a); }
OD_FN real od_sinh(real a) { return OD_CALL(sinh)(a); }
OD_FN real od_cosh(real a) { return OD_CALL(cosh)(a); }
OD_FN real od_tanh(real a) { return OD_CALL(tanh)(a); }
OD_FN real od_pow(real a, real b) { return OD_CALL(pow)(a, b); }

#if !OD_FLOAT
// Coefficients stand in constant memory, from where an instruction takes them; in the code each would take two more.
__constant__ double od_exp_terms[] = {
    4.6062345155528383e-10, 7.077685531121059e-09, 1.0177382080468385e-07, 1.3215417631863214e-06,
    1.5252734600812372e-05, 0.00015403530481321426, 0.0013333558146619395, 0.009618129107585815,
    0.05550410866481637, 0.24022650695910103, 0.6931471805599456, 1.4426950408889634,
    2.0355273740931033e-17};

// 2^(n + r) for |r| <= 1/2, while the exponent is that of a normal number: a polynomial of degree 11 (least maximum
// error, 3.5e-16).
OD_FN real od_scaled_exp2(real r, int n) {
    real p = od_exp_terms[0];
#pragma unroll
    for (int k = 1; k < 11; ++k) p = od_fma(p, r, od_exp_terms[k]);
    p = od_fma(p, r, 1.0);
    return __hiloint2double(
        (int)((unsigned)__double2hiint(p) + ((unsigned)n << 20)), __double2loint(p));
}
// The same of several, term after term, so that none waits for itself. (One by this text takes the compiler a twentieth longer.)
template <unsigned COUNT>
OD_FN void od_scaled_exp2s(const real (&r)[COUNT], const int (&n)[COUNT], real (&value)[COUNT]) {
    real p[COUNT];
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) p[i] = od_exp_terms[0];
#pragma unroll
    for (int k = 1; k < 11; ++k) {
#pragma unroll
        for (unsigned i = 0; i < COUNT; ++i) p[i] = od_fma(p[i], r[i], od_exp_terms[k]);
    }
#pragma unroll
    for (unsigned i = 0; i < COUNT; ++i) {
        p[i] = od_fma(p[i], r[i], 1.0);
        value[i] = __hiloint2double(
            (int)((unsigned)__double2hiint(p[i]) + ((unsigned)n[i] << 20)), __double2loint(p[i]));
    }
}
#endif

// e^a to 2.5 units in the last place, without a branch, in half the instructions of the library's. Zero below e^-708,
// infinite from e^708 on.
#if defined(__CUDA_ARCH__) && !OD_FLOAT
OD_FN real od_exp(real a) {
    // Adding 1.5 * 2^52 rounds a / ln 2 to an integer, which then stands in the low bits.
    const real by_ln2 = od_exp_terms[11];
    const real shifted = od_fma(a, by_ln2, 6755399441055744.0);
    const real whole = shifted - 6755399441055744.0;
    const real r = od_fma(a, od_exp_terms[12], od_fma(a, by_ln2, -whole));
    const real value = od_scaled_exp2(r, __double2loint(shifted));
    // 708 is 0x40862000 00000000: beyond, infinity or zero; NaN stays.
    const int high = __double2hiint(a), size = high & 0x7fffffff;
    const int beyond = size > 0x7ff00000 ? size : (high < 0 ? 0 : 0x7ff00000);
    return size >= 0x40862000 ? __hiloint2double(beyond, 0) : value;
}
#else
OD_FN real od_exp(real a) { return OD_CALL(exp)(a); }
#endif

// NaN when either is NaN, so that no failure is masked (fmin and fmax drop it).
OD_FN real od_min(real a, real b) { return (a < b || a != a) ? a : b; }
OD_FN real od_max(real a, real b) { return (b < a || a != a) ? a : b; }
// A value of which the compiler knows nothing, each time another one.
OD_FN unsigned od_opaque(unsigned a) {
    asm volatile("" : "+r"(a));
    return a;
}
// For values whose NaN is caught elsewhere.
OD_FN real od_larger(real a, real b) { return a < b ? b : a; }

// The leading 32 bits without the sign: ordered as |a| is, and not below OD_NOT_FINITE for NaN
// and infinity. Integer work leaves the floating-point units to the right-hand side.
#if OD_FLOAT
#define OD_NOT_FINITE 0x7f800000
OD_FN int od_magnitude(real a) { return __float_as_int(a) & 0x7fffffff; }
#else
#define OD_NOT_FINITE 0x7ff00000
OD_FN int od_magnitude(real a) { return __double2hiint(a) & 0x7fffffff; }
#endif

#if OD_FLOAT
#define R(x) x##f
// A number that single precision has not is zero or infinite there.
#define OD_PAST(single, x) single
OD_FN real od_inf() { return __int_as_float(0x7f800000); }
#else
#define R(x) x
#define OD_PAST(single, x) x
OD_FN real od_inf() { return __longlong_as_double(0x7ff0000000000000ll); }
#endif
#if OD_FLOAT
OD_FN real od_nan() { return __int_as_float(0x7fc00000); }
#else
OD_FN real od_nan() { return __longlong_as_double(0x7ff8000000000000ll); }
#endif

// 1/a and 1/sqrt(a) to about one unit in the last place, without a branch: the hardware's seed
// (20 bits) and one step of third order. Both are infinite at zero. 1/sqrt is NaN at infinity and
// not finite below zero: to tell these apart would cost a tenth of an n-body right-hand side.
// Subnormal operands count as zero. od_near_recip: 1/a to 12 digits (float: 7), for error norms.
#if defined(__CUDA_ARCH__) && !OD_FLOAT
OD_FN double od_seed_recip(double a) {
    double x;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(x) : "d"(a));
    return x;
}
OD_FN double od_seed_rsqrt(double a) {
    double x;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(x) : "d"(a));
    return x;
}
// The seed made finite: at zero the step of third order then overflows to the right infinity.
OD_FN double od_tamed(double x) {
    const int high = __double2hiint(x);
    return __hiloint2double(high < 0x7fefffff ? high : 0x7fefffff, __double2loint(x));
}
OD_FN real od_recip(real a) {
    const double x = od_seed_recip(a);
    const double e = od_fma(-a, x, 1.0);
    const double refined = od_fma(x, od_fma(e, e, e), x);
    // Of zero, infinity and NaN the seed, which is no normal number then, is the answer.
    return (unsigned)od_magnitude(x) - 0x00100000u < 0x7fe00000u ? refined : x;
}
OD_FN real od_rsqrt(real a) {
    const double x = od_tamed(od_seed_rsqrt(a));
    const double e = od_fma(-(a * x), x, 1.0);
    return od_fma(od_fma(0.375, e, 0.5), x * e, x);
}
OD_FN real od_near_recip(real a) {
    const double x = od_seed_recip(a);
    return od_fma(x, od_fma(-a, x, 1.0), x);
}
#elif defined(__CUDA_ARCH__)
OD_FN real od_recip(real a) { return __frcp_rn(a); }
OD_FN real od_rsqrt(real a) { return rsqrtf(a); }
OD_FN real od_near_recip(real a) {
    float x;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(a));
    return x;
}
#else
OD_FN real od_recip(real a) { return real(1) / a; }
OD_FN real od_rsqrt(real a) { return real(1) / od_sqrt(a); }
OD_FN real od_near_recip(real a) { return real(1) / a; }
#endif

#if !OD_FLOAT
__constant__ double od_ln_terms[] = {
    0.14799066381447268, 0.15313755723023942, 0.18183575167319138, 0.2222219837843319,
    0.2857142874414192, 0.3999999999940749, 0.6666666666666735, 0.69314718036912382,
    1.9082149292705877e-10};
#endif

// ln a to one unit in the last place, without a branch: a = 2^n m with m from sqrt(1/2) to sqrt 2, s = (m - 1)/(m + 1),
// and ln m - 2 s = s z P(z) for z = s^2, a polynomial of degree 6 (least maximum error, 1.3e-18). The sum is that of
// Ng's logarithm in FDLIBM, in which errors of s are multiplied by what is small.
#if defined(__CUDA_ARCH__) && !OD_FLOAT
OD_FN real od_ln(real a) {
    const bool subnormal = __double2hiint(a) < 0x00100000;
    const double scaled = subnormal ? a * 0x1p54 : a;
    const int high = __double2hiint(scaled);
    const int n = (high - 0x3fe6a09e) >> 20;
    const double f = __hiloint2double(high - (n << 20), __double2loint(scaled)) - 1.0;
    const double d = f + 2.0, recip = od_near_recip(d), rough = f * recip;
    const double s = od_fma(od_fma(-rough, d, f), recip, rough), z = s * s;
    double p = od_ln_terms[0];
#pragma unroll
    for (int k = 1; k < 7; ++k) p = od_fma(p, z, od_ln_terms[k]);
    const double k = (double)(subnormal ? n - 54 : n), half = 0.5 * f * f;
    const double rest = od_fma(s, od_fma(p, z, half), k * od_ln_terms[8]);
    const double value = od_fma(k, od_ln_terms[7], f - (half - rest));
    // Zero, and what has no logarithm or is no number.
    const double other = a == 0.0 ? -od_inf() : (a > 0.0 ? a : od_nan());
    return a > 0.0 && __double2hiint(a) < 0x7ff00000 ? value : other;
}
#else
OD_FN real od_ln(real a) { return OD_CALL(log)(a); }
#endif

// Elementary functions out of line, for right-hand sides with very many of them.
#define OD_CALLED(name) \
    static __device__ __noinline__ real name##_call(real a) { return name(a); }
OD_CALLED(od_cbrt) OD_CALLED(od_exp) OD_CALLED(od_ln) OD_CALLED(od_sin) OD_CALLED(od_cos)
OD_CALLED(od_tan) OD_CALLED(od_asin) OD_CALLED(od_acos) OD_CALLED(od_atan) OD_CALLED(od_sinh)
OD_CALLED(od_cosh) OD_CALLED(od_tanh)
static __device__ __noinline__ real od_pow_call(real a, real b) { return od_pow(a, b); }

// Logarithm and power of two for step-size control: six digits are plenty there.
#ifdef __CUDA_ARCH__
OD_FN float od_log2(real a) {
    float x;
    asm("lg2.approx.f32 %0, %1;" : "=f"(x) : "f"((float)a));
    return x;
}
OD_FN real od_exp2(float a) {
    float x;
    asm("ex2.approx.f32 %0, %1;" : "=f"(x) : "f"(a));
    return (real)x;
}
#else
OD_FN float od_log2(real a) { return log2f((float)a); }
OD_FN real od_exp2(float a) { return (real)exp2f(a); }
#endif
