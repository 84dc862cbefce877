// Entries of matrices: real numbers of either precision, or pairs of them as complex numbers. The same operations as
// those of the CPU (linalg/entry.rs).

struct alignas(2 * sizeof(od_entry)) OdComplex {
    od_entry re, im;
    OdComplex() = default;
    OD_FN_MEMBER explicit OdComplex(od_entry re, od_entry im = 0) : re(re), im(im) {}
};

// x − a b.
OD_FN float od_minus_product(float x, float a, float b) { return fmaf(-a, b, x); }
OD_FN float od_product(float a, float b) { return a * b; }
OD_FN float od_plus(float a, float b) { return a + b; }
OD_FN float od_negative(float a) { return -a; }
// To one unit in the last place; not finite at zero.
OD_FN float od_reciprocal(float a) {
#ifdef __CUDA_ARCH__
    float x;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(a));
    return fmaf(x, fmaf(-a, x, 1.0f), x);
#else
    return 1.0f / a;
#endif
}
OD_FN float od_size(float a) { return fabsf(a); }
// 1 − d/σ for a pivot d, from 1/σ; zero for complex matrices.
OD_FN float od_growth(float pivot, float inverse_shift) {
    return fmaf(-pivot, inverse_shift, 1.0f);
}
// The distance of 1 to the next number, and one over its root.
OD_FN float od_epsilon(float) { return 0x1p-23f; }
OD_FN float od_growth_limit(float) { return 2896.3094f; }

#if !OD_FLOAT
OD_FN double od_minus_product(double x, double a, double b) { return fma(-a, b, x); }
OD_FN double od_product(double a, double b) { return a * b; }
OD_FN double od_plus(double a, double b) { return a + b; }
OD_FN double od_negative(double a) { return -a; }
OD_FN double od_reciprocal(double a) { return od_recip(a); }
OD_FN double od_size(double a) { return fabs(a); }
OD_FN double od_growth(double pivot, double inverse_shift) {
    return fma(-pivot, inverse_shift, 1.0);
}
OD_FN double od_epsilon(double) { return 0x1p-52; }
OD_FN double od_growth_limit(double) { return 0x1p26; }
#endif

OD_FN OdComplex od_minus_product(OdComplex x, OdComplex a, OdComplex b) {
    return OdComplex(
        od_minus_product(od_minus_product(x.re, -a.im, b.im), a.re, b.re),
        od_minus_product(od_minus_product(x.im, a.im, b.re), a.re, b.im));
}
OD_FN OdComplex od_product(OdComplex a, OdComplex b) {
    return OdComplex(
        od_minus_product(-(a.im * b.im), -a.re, b.re), od_minus_product(a.im * b.re, -a.re, b.im));
}
OD_FN OdComplex od_plus(OdComplex a, OdComplex b) { return OdComplex(a.re + b.re, a.im + b.im); }
OD_FN OdComplex od_negative(OdComplex a) { return OdComplex(-a.re, -a.im); }
// A power of two that brings a number of this size near one, so that its square neither overflows nor loses digits.
OD_FN float od_balance(float size) {
    return __int_as_float((254 << 23) - (__float_as_int(size) & 0x7f800000));
}
#if !OD_FLOAT
OD_FN double od_balance(double size) {
    return __hiloint2double((2046 << 20) - (__double2hiint(size) & 0x7ff00000), 0);
}
#endif
OD_FN OdComplex od_reciprocal(OdComplex a) {
    const od_entry balance = od_balance(od_size(a.re) + od_size(a.im));
    const od_entry re = a.re * balance, im = a.im * balance;
    const od_entry scale = od_reciprocal(od_minus_product(im * im, -re, re)) * balance;
    return OdComplex(re * scale, -(im * scale));
}
// Within a factor √2 of the absolute value.
OD_FN od_entry od_size(OdComplex a) { return od_size(a.re) + od_size(a.im); }
OD_FN od_entry od_growth(OdComplex, OdComplex) { return od_entry(0); }

// Neighbours in memory that a thread loads and stores at once.
template <class E>
struct alignas(16) OdVector {
    enum { LENGTH = 16 / sizeof(E) };
    E at[LENGTH];
};

// What a thread knows of the pivots of its rows.
template <class Size>
struct OdWatch {
    Size rounding;              // of 1 − d/σ, for each unit of the size of a row
    Size growth;                // the largest 1 − d/σ, less rounding
    // Every row is finite, every pivot has a reciprocal, and no row of U outgrew that of the matrix.
    bool valid;
};

template <class E>
OD_FN auto od_watch(E sigma) -> OdWatch<decltype(od_size(sigma))> {
    typedef decltype(od_size(sigma)) Size;
    const Size unit = Size(OD_PIVOT_EPSILONS) * od_epsilon(Size(0));
    return OdWatch<Size>{od_size(od_reciprocal(sigma)) * unit, -Size(od_inf()), true};
}

// A pivot and its reciprocal, the size of its row of U with itself, and the size of that row of the matrix.
template <class E, class Size>
OD_FN void od_watch_pivot(
    OdWatch<Size> &watch, E pivot, E inverse, E inverse_shift, Size grown, Size size) {
    const Size infinity = Size(od_inf());
    watch.valid = watch.valid && grown <= od_growth_limit(size) * size && size < infinity
        && od_size(inverse) > Size(0) && od_size(inverse) < infinity;
    const Size growth = od_minus_product(od_growth(pivot, inverse_shift), watch.rounding, size);
    watch.growth = watch.growth < growth ? growth : watch.growth;
}

// A pivot of which the reciprocal is left.
template <class E, class Size>
OD_FN void od_watch_pivot(
    OdWatch<Size> &watch, E inverse, E inverse_shift, Size grown, Size size) {
    od_watch_pivot(watch, od_reciprocal(inverse), inverse, inverse_shift, grown, size);
}

// What all pivots tell.
struct OdPivots {
    bool valid;                 // the factors can be used
    real growth;                // the largest 1 − d/σ over the pivots d of a real matrix, see linalg/lu.rs
};
