//! The choice of an instruction set, when the program runs.

use std::fmt;
use std::str::FromStr;

use super::{Lanes, Scalar};

/// An instruction set the CPU backend has lanes for.
///
/// Any of them can be named on any CPU; [`dispatch`](Isa::dispatch) asks the CPU
/// before it uses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX-512 (F, BW, DQ, VL): 8 lanes of `f64` or 16 of `f32`.
    Avx512,
    /// AVX2 with FMA: 4 lanes of `f64` or 8 of `f32`.
    Avx2,
    /// No lanes: one system at a time, on any CPU.
    Scalar,
}

/// Work that is generic over the lane pack; [`Isa::dispatch`] picks the pack.
///
/// [`run`](LaneWork::run) and all it calls in its inner loops want `#[inline(always)]`: only what
/// is inlined into the function compiled for the instruction set becomes its instructions. Three
/// things are known to stay outside, and then call a function for every operation: a generic
/// function without the attribute, a closure that is long or called from several places (closures
/// cannot carry it), and `array::map`. Iterators, `array::from_fn` and short closures called from
/// one place are inlined, but at the compiler's pleasure; `for i in 0..n` always is.
pub trait LaneWork<T: Scalar> {
    /// What the work gives.
    type Output;
    /// Does the work. Must be `#[inline(always)]`, as everything it calls.
    fn run<L: Lanes<Scalar = T>>(self) -> Self::Output;
}

/// What is done for each lane pack; [`Isa::visit_packs`] names them.
pub trait PackVisitor<T: Scalar> {
    /// Does it for this pack.
    fn visit<L: Lanes<Scalar = T>>(&mut self);
    /// Does it for two packs as one.
    fn visit_pair<L: Lanes<Scalar = T>>(&mut self);
}

impl Isa {
    /// All sets, widest first.
    pub const ALL: [Isa; 3] = [Isa::Avx512, Isa::Avx2, Isa::Scalar];

    /// The widest set this CPU has.
    pub fn best() -> Isa {
        Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Scalar)
    }

    /// The sets this CPU has, widest first; [`Isa::Scalar`] is always the last.
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// Whether this CPU has the set.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                Isa::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => false,
            Isa::Scalar => true,
        }
    }

    /// `"avx512"`, `"avx2"` or `"scalar"`; [`FromStr`] reads them back.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Avx512 => "avx512",
            Isa::Avx2 => "avx2",
            Isa::Scalar => "scalar",
        }
    }

    /// Runs `work` with the lane pack of this set.
    ///
    /// # Panics
    ///
    /// When the CPU lacks the set ([`is_available`](Isa::is_available)).
    #[inline]
    pub fn dispatch<T: Scalar, W: LaneWork<T>>(self, work: W) -> W::Output {
        T::dispatch(self, work)
    }

    /// Runs `work` with a block of several packs of this set ([`Wide`](super::Wide)), for code
    /// that spends much on choosing each operation, as an interpreter does.
    ///
    /// # Panics
    ///
    /// When the CPU lacks the set ([`is_available`](Isa::is_available)).
    #[inline]
    pub fn dispatch_wide<T: Scalar, W: LaneWork<T>>(self, work: W) -> W::Output {
        T::dispatch_wide(self, work)
    }

    /// Runs `work` with two packs of `f64` as one, or with a pack of `f32`, which has as many lanes:
    /// for code that goes through tables, where each index is read once for all lanes.
    ///
    /// # Panics
    ///
    /// When the CPU lacks the set ([`is_available`](Isa::is_available)).
    #[inline]
    pub fn dispatch_pair<T: Scalar, W: LaneWork<T>>(self, work: W) -> W::Output {
        T::dispatch_pair(self, work)
    }

    /// Names every pack and block that [`dispatch`](Isa::dispatch),
    /// [`dispatch_pair`](Isa::dispatch_pair) and [`dispatch_wide`](Isa::dispatch_wide) may give on
    /// this CPU.
    pub fn visit_packs<T: Scalar, V: PackVisitor<T>>(visitor: &mut V) {
        T::visit_packs(visitor);
    }

    /// Runs `work` with `A` under AVX-512, `B` under AVX2 and `C` under the baseline set.
    #[inline]
    pub(super) fn dispatch_over<T, A, B, C, W>(self, work: W) -> W::Output
    where
        T: Scalar,
        A: Lanes<Scalar = T>,
        B: Lanes<Scalar = T>,
        C: Lanes<Scalar = T>,
        W: LaneWork<T>,
    {
        assert!(self.is_available(), "this CPU has no {self} instructions");
        match self {
            // SAFETY: the CPU has the instructions, as just asserted.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { run_avx512::<T, A, W>(work) },
            // SAFETY: the CPU has the instructions, as just asserted.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { run_avx2::<T, B, W>(work) },
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 => work.run::<A>(),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 => work.run::<B>(),
            Isa::Scalar => work.run::<C>(),
        }
    }
}

/// `work` compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<T: Scalar, L: Lanes<Scalar = T>, W: LaneWork<T>>(work: W) -> W::Output {
    work.run::<L>()
}

/// `work` compiled for AVX2 with FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<T: Scalar, L: Lanes<Scalar = T>, W: LaneWork<T>>(work: W) -> W::Output {
    work.run::<L>()
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is none of [`Isa::name`]'s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownIsa(pub String);

impl fmt::Display for UnknownIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown instruction set {:?}: expected", self.0)?;
        for (i, isa) in Isa::ALL.into_iter().enumerate() {
            write!(f, "{}{isa}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownIsa {}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(name: &str) -> Result<Isa, UnknownIsa> {
        let found = Isa::ALL.into_iter().find(|isa| isa.name() == name);
        found.ok_or_else(|| UnknownIsa(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Isa;

    #[test]
    fn names_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.name().parse(), Ok(isa));
        }
        let message = "sse9".parse::<Isa>().unwrap_err().to_string();
        assert!(message.contains("sse9") && message.contains("avx2"), "{message}");
    }

    #[test]
    fn the_best_set_is_available_and_scalar_always_is() {
        assert_eq!(Isa::available().first(), Some(&Isa::best()));
        assert_eq!(Isa::available().last(), Some(&Isa::Scalar));
    }
}
