//! Packs in AVX2 registers, compared into registers of all ones or all zeros.

use std::arch::x86_64::*;

use super::pack::{functions_per_lane, pack};

pack! {
    /// Four `f64`.
    F64x4 = [f64; 4] in __m256d;
    /// All ones or all zeros for each lane of an [`F64x4`].
    Mask4 in __m256d;

    splat(x) = _mm256_set1_pd(x);
    load(p) = _mm256_loadu_pd(p);
    store(p, a) = _mm256_storeu_pd(p, a);
    add(a, b) = _mm256_add_pd(a, b);
    sub(a, b) = _mm256_sub_pd(a, b);
    mul(a, b) = _mm256_mul_pd(a, b);
    div(a, b) = _mm256_div_pd(a, b);
    neg(a) = _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
    abs(a) = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
    mul_add(a, b, c) = _mm256_fmadd_pd(a, b, c);
    sqrt(a) = _mm256_sqrt_pd(a);
    rsqrt(a) = _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_sqrt_pd(a));
    floor(a) = _mm256_floor_pd(a);
    // The instruction gives its second operand when either is NaN.
    min(a, b) = _mm256_blendv_pd(_mm256_min_pd(a, b), a, _mm256_cmp_pd::<_CMP_UNORD_Q>(a, a));
    max(a, b) = _mm256_blendv_pd(_mm256_max_pd(a, b), a, _mm256_cmp_pd::<_CMP_UNORD_Q>(a, a));
    lt(a, b) = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
    le(a, b) = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
    eq(a, b) = _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b);
    ne(a, b) = _mm256_cmp_pd::<_CMP_NEQ_UQ>(a, b);
    select(m, a, b) = _mm256_blendv_pd(b, a, m);
    bits(m) = _mm256_movemask_pd(m) as u64;
    from_bits(bits) = {
        let lane = _mm256_setr_epi64x(1, 2, 4, 8);
        let here = _mm256_and_si256(_mm256_set1_epi64x(bits as i64), lane);
        _mm256_castsi256_pd(_mm256_cmpeq_epi64(here, lane))
    };
    and(a, b) = _mm256_and_pd(a, b);
    or(a, b) = _mm256_or_pd(a, b);
    not(a) = _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
    functions = functions_per_lane;
}

pack! {
    /// Eight `f32`.
    F32x8 = [f32; 8] in __m256;
    /// All ones or all zeros for each lane of an [`F32x8`].
    Mask8 in __m256;

    splat(x) = _mm256_set1_ps(x);
    load(p) = _mm256_loadu_ps(p);
    store(p, a) = _mm256_storeu_ps(p, a);
    add(a, b) = _mm256_add_ps(a, b);
    sub(a, b) = _mm256_sub_ps(a, b);
    mul(a, b) = _mm256_mul_ps(a, b);
    div(a, b) = _mm256_div_ps(a, b);
    neg(a) = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
    abs(a) = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
    mul_add(a, b, c) = _mm256_fmadd_ps(a, b, c);
    sqrt(a) = _mm256_sqrt_ps(a);
    rsqrt(a) = _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(a));
    floor(a) = _mm256_floor_ps(a);
    min(a, b) = _mm256_blendv_ps(_mm256_min_ps(a, b), a, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a));
    max(a, b) = _mm256_blendv_ps(_mm256_max_ps(a, b), a, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a));
    lt(a, b) = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
    le(a, b) = _mm256_cmp_ps::<_CMP_LE_OQ>(a, b);
    eq(a, b) = _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b);
    ne(a, b) = _mm256_cmp_ps::<_CMP_NEQ_UQ>(a, b);
    select(m, a, b) = _mm256_blendv_ps(b, a, m);
    bits(m) = _mm256_movemask_ps(m) as u64;
    from_bits(bits) = {
        let lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let here = _mm256_and_si256(_mm256_set1_epi32(bits as i32), lane);
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(here, lane))
    };
    and(a, b) = _mm256_and_ps(a, b);
    or(a, b) = _mm256_or_ps(a, b);
    not(a) = _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
    functions = functions_per_lane;
}
