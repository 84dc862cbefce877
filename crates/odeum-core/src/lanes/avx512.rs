//! Packs in AVX-512 registers, compared into mask registers.

use std::arch::x86_64::*;

use super::math::{Halves, Pack64, functions_of_f32, functions_of_f64};
use super::pack::pack;

pack! {
    /// Eight `f64`.
    F64x8 = [f64; 8] in __m512d;
    /// One bit for each lane of an [`F64x8`].
    Mask8 in __mmask8;

    splat(x) = _mm512_set1_pd(x);
    load(p) = _mm512_loadu_pd(p);
    store(p, a) = _mm512_storeu_pd(p, a);
    stream(p, a) = _mm512_stream_pd(p, a);
    add(a, b) = _mm512_add_pd(a, b);
    sub(a, b) = _mm512_sub_pd(a, b);
    mul(a, b) = _mm512_mul_pd(a, b);
    div(a, b) = _mm512_div_pd(a, b);
    neg(a) = _mm512_xor_pd(a, _mm512_set1_pd(-0.0));
    abs(a) = _mm512_andnot_pd(_mm512_set1_pd(-0.0), a);
    mul_add(a, b, c) = _mm512_fmadd_pd(a, b, c);
    sqrt(a) = _mm512_sqrt_pd(a);
    rsqrt(a) = rsqrt_pd(a);
    floor(a) = _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a);
    // The instruction gives its second operand when either is NaN.
    min(a, b) = _mm512_mask_min_pd(a, _mm512_cmp_pd_mask::<_CMP_ORD_Q>(a, a), a, b);
    max(a, b) = _mm512_mask_max_pd(a, _mm512_cmp_pd_mask::<_CMP_ORD_Q>(a, a), a, b);
    lt(a, b) = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
    le(a, b) = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
    eq(a, b) = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b);
    ne(a, b) = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(a, b);
    select(m, a, b) = _mm512_mask_blend_pd(m, b, a);
    bits(m) = _cvtmask8_u32(m) as u64;
    from_bits(bits) = _cvtu32_mask8(bits as u32);
    shifted_up(a, b) = shift_pd::<7>(a, b);
    shifted_down(a, b) = shift_pd::<1>(b, a);
    and(a, b) = _kand_mask8(a, b);
    or(a, b) = _kor_mask8(a, b);
    not(a) = _knot_mask8(a);
    outline = outlined_avx512;
    functions = functions_of_f64;
}

pack! {
    /// Sixteen `f32`.
    F32x16 = [f32; 16] in __m512;
    /// One bit for each lane of an [`F32x16`].
    Mask16 in __mmask16;

    splat(x) = _mm512_set1_ps(x);
    load(p) = _mm512_loadu_ps(p);
    store(p, a) = _mm512_storeu_ps(p, a);
    stream(p, a) = _mm512_stream_ps(p, a);
    add(a, b) = _mm512_add_ps(a, b);
    sub(a, b) = _mm512_sub_ps(a, b);
    mul(a, b) = _mm512_mul_ps(a, b);
    div(a, b) = _mm512_div_ps(a, b);
    neg(a) = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
    abs(a) = _mm512_andnot_ps(_mm512_set1_ps(-0.0), a);
    mul_add(a, b, c) = _mm512_fmadd_ps(a, b, c);
    sqrt(a) = _mm512_sqrt_ps(a);
    rsqrt(a) = rsqrt_ps(a);
    floor(a) = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a);
    min(a, b) = _mm512_mask_min_ps(a, _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a), a, b);
    max(a, b) = _mm512_mask_max_ps(a, _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a), a, b);
    lt(a, b) = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
    le(a, b) = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
    eq(a, b) = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
    ne(a, b) = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, b);
    select(m, a, b) = _mm512_mask_blend_ps(m, b, a);
    bits(m) = _cvtmask16_u32(m) as u64;
    from_bits(bits) = _cvtu32_mask16(bits as u32);
    shifted_up(a, b) = shift_ps::<15>(a, b);
    shifted_down(a, b) = shift_ps::<1>(b, a);
    and(a, b) = _kand_mask16(a, b);
    or(a, b) = _kor_mask16(a, b);
    not(a) = _knot_mask16(a);
    outline = outlined_avx512;
    functions = functions_of_f32;
}

/// The eight lanes from lane `N` on of `low` and then `high`.
///
/// # Safety
///
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn shift_pd<const N: i32>(high: __m512d, low: __m512d) -> __m512d {
    // SAFETY: the caller's promise.
    unsafe {
        let (high, low) = (_mm512_castpd_si512(high), _mm512_castpd_si512(low));
        _mm512_castsi512_pd(_mm512_alignr_epi64::<N>(high, low))
    }
}

/// The sixteen lanes from lane `N` on of `low` and then `high`.
///
/// # Safety
///
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn shift_ps<const N: i32>(high: __m512, low: __m512) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe {
        let (high, low) = (_mm512_castps_si512(high), _mm512_castps_si512(low));
        _mm512_castsi512_ps(_mm512_alignr_epi32::<N>(high, low))
    }
}

/// `1 / sqrt(a)` from the 14-bit estimate and two Newton steps, y ← y + y (1 − a y²) / 2.
///
/// At zero and infinity the estimate is already the result (±∞ and 0) and 1 − a y² is NaN; the
/// last step is left out there. Below zero the estimate is NaN.
///
/// # Safety
///
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn rsqrt_pd(a: __m512d) -> __m512d {
    // SAFETY: the caller's promise.
    unsafe {
        let (one, half) = (_mm512_set1_pd(1.0), _mm512_set1_pd(0.5));
        let estimate = _mm512_rsqrt14_pd(a);
        let rest = _mm512_fnmadd_pd(_mm512_mul_pd(a, estimate), estimate, one);
        let y = _mm512_fmadd_pd(_mm512_mul_pd(estimate, half), rest, estimate);
        let rest = _mm512_fnmadd_pd(_mm512_mul_pd(a, y), y, one);
        let regular = _mm512_cmp_pd_mask::<_CMP_ORD_Q>(rest, rest);
        let y = _mm512_fmadd_pd(_mm512_mul_pd(y, half), rest, y);
        _mm512_mask_mov_pd(estimate, regular, y)
    }
}

/// As [`rsqrt_pd`], with the one Newton step that 24 bits need.
///
/// # Safety
///
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn rsqrt_ps(a: __m512) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe {
        let (one, half) = (_mm512_set1_ps(1.0), _mm512_set1_ps(0.5));
        let estimate = _mm512_rsqrt14_ps(a);
        let rest = _mm512_fnmadd_ps(_mm512_mul_ps(a, estimate), estimate, one);
        let regular = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(rest, rest);
        _mm512_mask_fmadd_ps(estimate, regular, _mm512_mul_ps(rest, half), estimate)
    }
}

impl Pack64 for F64x8 {
    #[inline(always)]
    fn round(self) -> Self {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe { _mm512_roundscale_pd::<NEAREST>(self.0) })
    }
    #[inline(always)]
    fn clamp(self, low: f64, high: f64) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe {
            // Of two operands the instructions give the second when one is NaN.
            let raised = _mm512_max_pd(_mm512_set1_pd(low), self.0);
            _mm512_min_pd(_mm512_set1_pd(high), raised)
        })
    }
    #[inline(always)]
    fn scale(self, n: Self) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe { _mm512_scalef_pd(self.0, n.0) })
    }
    #[inline(always)]
    fn mantissa_exponent(self) -> (Self, Self) {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        unsafe {
            let mantissa = _mm512_getmant_pd::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_ZERO>(self.0);
            (Self(mantissa), Self(_mm512_getexp_pd(self.0)))
        }
    }
    #[inline(always)]
    fn flip_sign(self, other: Self) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe { _mm512_xor_pd(self.0, _mm512_and_pd(other.0, _mm512_set1_pd(-0.0))) })
    }
}

impl Halves for F32x16 {
    type Half = F64x8;
    #[inline(always)]
    fn halves(self) -> (F64x8, F64x8) {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        unsafe {
            let (low, high) = (_mm512_castps512_ps256(self.0), _mm512_extractf32x8_ps::<1>(self.0));
            (F64x8(_mm512_cvtps_pd(low)), F64x8(_mm512_cvtps_pd(high)))
        }
    }
    #[inline(always)]
    fn join(low: F64x8, high: F64x8) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe {
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(low.0));
            _mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(high.0))
        })
    }
}
