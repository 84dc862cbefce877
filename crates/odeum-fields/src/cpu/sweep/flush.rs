//! Subnormal numbers are zero while a sweep runs.
//!
//! Fields that decay towards zero fill with numbers below the least normal one (1.2e-38 in f32), and
//! CPUs take more than a hundred cycles for an operation on such. Sweeps take them as zero, and
//! write zero for them; all other results keep their bits.

/// From here until it is dropped, operations of this thread take subnormal operands as zero and give
/// zero for subnormal results. Then the thread is as it was before, after a panic too.
#[derive(Debug)]
pub(crate) struct Flushed {
    #[cfg(target_arch = "x86_64")]
    before: u32,
}

/// Flush to zero and denormals are zero: bits 15 and 6 of MXCSR (Intel SDM, volume 1, section 10.2.3).
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 1 << 15 | 1 << 6;

#[cfg(target_arch = "x86_64")]
impl Flushed {
    #[inline]
    pub(crate) fn begin() -> Flushed {
        let before = control();
        if before & FLUSH != FLUSH {
            set_control(before | FLUSH);
        }
        Flushed { before }
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for Flushed {
    #[inline]
    fn drop(&mut self) {
        if self.before & FLUSH != FLUSH {
            set_control(self.before);
        }
    }
}

/// The control and status register of this thread's operations on floating-point numbers.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn control() -> u32 {
    let mut register = 0_u32;
    // SAFETY: every x86-64 CPU has the instruction, which writes four bytes.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags));
    }
    register
}

/// No other bits change than those of [`FLUSH`]: rounding stays to nearest and exceptions stay
/// masked. What the compiler computes beforehand from constants is not flushed, and need not be.
#[cfg(target_arch = "x86_64")]
#[inline]
fn set_control(register: u32) {
    // SAFETY: the value is one that this register had, but for bits that every x86-64 CPU has.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack, preserves_flags));
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Flushed {
    /// Other CPUs keep subnormal numbers.
    pub(crate) fn begin() -> Flushed {
        Flushed {}
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn half(x: f32) -> f32 {
        black_box(black_box(x) * black_box(0.5))
    }

    #[test]
    fn subnormal_numbers_are_zero_between_the_beginning_and_the_end() {
        let before = control();
        assert!(half(f32::MIN_POSITIVE) > 0.0);
        {
            let _flushed = Flushed::begin();
            assert_eq!(half(f32::MIN_POSITIVE), 0.0, "a result");
            assert_eq!(black_box(f32::MIN_POSITIVE / 2.0) * black_box(1e30), 0.0, "an operand");
            {
                let _again = Flushed::begin();
            }
            assert_eq!(half(f32::MIN_POSITIVE), 0.0, "an inner one ends nothing");
        }
        assert_eq!(control() & FLUSH, before & FLUSH);
        assert!(half(f32::MIN_POSITIVE) > 0.0);
    }

    #[test]
    fn a_panic_leaves_the_thread_as_it_was() {
        let before = control() & FLUSH;
        let panicked = std::panic::catch_unwind(|| {
            let _flushed = Flushed::begin();
            assert_eq!(half(f32::MIN_POSITIVE), 1.0);
        });
        assert!(panicked.is_err());
        assert_eq!(control() & FLUSH, before);
    }
}
