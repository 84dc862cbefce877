//! Packs in AVX2 registers, compared into registers of all ones or all zeros.

use std::arch::x86_64::*;

use super::math::{Halves, Pack64, functions_of_f32, functions_of_f64};
use super::pack::pack;
use crate::real::Real;

pack! {
    /// Four `f64`.
    F64x4 = [f64; 4] in __m256d;
    /// All ones or all zeros for each lane of an [`F64x4`].
    Mask4 in __m256d;

    splat(x) = _mm256_set1_pd(x);
    load(p) = _mm256_loadu_pd(p);
    store(p, a) = _mm256_storeu_pd(p, a);
    stream(p, a) = _mm256_stream_pd(p, a);
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
    // The half in the middle first, then within halves.
    shifted_up(a, b) = _mm256_shuffle_pd::<0b0101>(_mm256_permute2f128_pd::<0x21>(b, a), a);
    shifted_down(a, b) = _mm256_shuffle_pd::<0b0101>(a, _mm256_permute2f128_pd::<0x21>(a, b));
    and(a, b) = _mm256_and_pd(a, b);
    or(a, b) = _mm256_or_pd(a, b);
    not(a) = _mm256_xor_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)));
    outline = outlined_avx2;
    functions = functions_of_f64;
}

pack! {
    /// Eight `f32`.
    F32x8 = [f32; 8] in __m256;
    /// All ones or all zeros for each lane of an [`F32x8`].
    Mask8 in __m256;

    splat(x) = _mm256_set1_ps(x);
    load(p) = _mm256_loadu_ps(p);
    store(p, a) = _mm256_storeu_ps(p, a);
    stream(p, a) = _mm256_stream_ps(p, a);
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
    shifted_up(a, b) = shift_ps::<12>(a, _mm256_permute2f128_ps::<0x21>(b, a));
    shifted_down(a, b) = shift_ps::<4>(_mm256_permute2f128_ps::<0x21>(a, b), a);
    and(a, b) = _mm256_and_ps(a, b);
    or(a, b) = _mm256_or_ps(a, b);
    not(a) = _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
    outline = outlined_avx2;
    functions = functions_of_f32;
}

/// 1.5 · 2⁵², whose last bit counts ones: added to a small integral number, it leaves that number
/// in the low bits, in two's complement.
const ONES: f64 = 6_755_399_441_055_744.0;

/// Two to the integral power `n`, |n| ≤ 1022.
///
/// # Safety
///
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn power_of_two(n: __m256d) -> __m256d {
    // SAFETY: the caller's promise.
    unsafe {
        let biased = _mm256_add_pd(n, _mm256_set1_pd(ONES + 1023.0));
        _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(biased)))
    }
}

/// The bytes from byte `N` on of `low` and then `high`, in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn shift_ps<const N: i32>(high: __m256, low: __m256) -> __m256 {
    let shifted: __m256;
    // SAFETY: the instruction is one of AVX2, and does nothing but this. Of the intrinsic the
    // compiler makes two shuffles of floats in place of one of bytes.
    unsafe {
        std::arch::asm!(
            "vpalignr {shifted}, {high}, {low}, {n}",
            shifted = lateout(ymm_reg) shifted,
            high = in(ymm_reg) high,
            low = in(ymm_reg) low,
            n = const N,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    shifted
}

impl Pack64 for F64x4 {
    #[inline(always)]
    fn round(self) -> Self {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe { _mm256_round_pd::<NEAREST>(self.0) })
    }
    #[inline(always)]
    fn clamp(self, low: f64, high: f64) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe {
            // Of two operands the instructions give the second when one is NaN.
            let raised = _mm256_max_pd(_mm256_set1_pd(low), self.0);
            _mm256_min_pd(_mm256_set1_pd(high), raised)
        })
    }
    #[inline(always)]
    fn scale(self, n: Self) -> Self {
        // Two factors, as 2ⁿ itself may be neither finite nor normal; the first product is exact.
        let half = (n * Self::lit(0.5)).round();
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        unsafe { self * Self(power_of_two(half.0)) * Self(power_of_two((n - half).0)) }
    }
    #[inline(always)]
    fn mantissa_exponent(self) -> (Self, Self) {
        let subnormal = self.lt(Self::lit(f64::MIN_POSITIVE));
        let normal = Self::select(subnormal, self * Self::lit(18_014_398_509_481_984.0), self);
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        let (mantissa, biased) = unsafe {
            let bits = _mm256_castpd_si256(normal.0);
            let fraction = _mm256_and_si256(bits, _mm256_set1_epi64x((1 << 52) - 1));
            let one = _mm256_castpd_si256(_mm256_set1_pd(1.0));
            let ones = _mm256_castpd_si256(_mm256_set1_pd(ONES));
            let biased = _mm256_or_si256(_mm256_srli_epi64::<52>(bits), ones);
            (
                Self(_mm256_castsi256_pd(_mm256_or_si256(fraction, one))),
                Self(_mm256_castsi256_pd(biased)),
            )
        };
        // 2⁵⁴ above, so 54 below.
        let bias =
            Self::select(subnormal, Self::lit(ONES + 1023.0 + 54.0), Self::lit(ONES + 1023.0));
        (mantissa, biased - bias)
    }
    #[inline(always)]
    fn flip_sign(self, other: Self) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe { _mm256_xor_pd(self.0, _mm256_and_pd(other.0, _mm256_set1_pd(-0.0))) })
    }
}

impl Halves for F32x8 {
    type Half = F64x4;
    #[inline(always)]
    fn halves(self) -> (F64x4, F64x4) {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        unsafe {
            let (low, high) = (_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            (F64x4(_mm256_cvtps_pd(low)), F64x4(_mm256_cvtps_pd(high)))
        }
    }
    #[inline(always)]
    fn join(low: F64x4, high: F64x4) -> Self {
        // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
        Self(unsafe { _mm256_set_m128(_mm256_cvtpd_ps(high.0), _mm256_cvtpd_ps(low.0)) })
    }
}
