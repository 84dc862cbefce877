//! Every lane pack against plain numbers: what a pack computes in a lane is what one number
//! would have given, on every instruction set this CPU has.

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Real, Scalar};

/// Numbers on which orderings, signs and NaN rules differ.
const AWKWARD: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.75,
    -2.5,
    3.0,
    1e-42,
    -1e-42,
    1e30,
    -1e30,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// The same number, the same zero, or both NaN.
fn same<T: Scalar>(a: T, b: T) -> bool {
    let (a, b) = (a.to_f64(), b.to_f64());
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Numbers for the lanes, a different one in each: `AWKWARD` from `start` on.
fn lanes_from<L: Lanes>(start: usize) -> Vec<L::Scalar> {
    (0..L::WIDTH).map(|i| L::Scalar::from_f64(AWKWARD[(start + i) % AWKWARD.len()])).collect()
}

/// The rules of the traits, for one pack.
struct Conformance;

impl<T: Scalar> LaneWork<T> for Conformance {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) {
        memory::<L>();
        masks::<L>();
        for shift in 0..AWKWARD.len() {
            for start in 0..AWKWARD.len() {
                arithmetic::<L>(&lanes_from::<L>(start), &lanes_from::<L>(start + shift));
            }
        }
    }
}

/// Loads, stores and single lanes.
#[inline(always)]
fn memory<L: Lanes>() {
    let numbers: Vec<L::Scalar> =
        (0..L::WIDTH + 1).map(|i| L::Scalar::from_f64(i as f64 - 2.5)).collect();
    let pack = L::load(&numbers);
    let mut back = vec![L::Scalar::from_f64(-9.0); L::WIDTH + 1];
    pack.store(&mut back);
    assert!(back[..L::WIDTH] == numbers[..L::WIDTH]);
    assert!(back[L::WIDTH] == L::Scalar::from_f64(-9.0), "a store must not pass the width");
    let mut far = vec![L::Scalar::from_f64(-9.0); 70 + L::WIDTH];
    let mut streamed = 0;
    for shift in 0..70 {
        if far[shift..].as_ptr().addr() % size_of::<L>() != 0 {
            continue;
        }
        far.fill(L::Scalar::from_f64(-9.0));
        // SAFETY: the place is aligned as the pack is, and the fence comes before anything is read.
        unsafe { pack.stream(&mut far[shift..]) };
        odeum_core::lanes::stream_fence();
        streamed += 1;
        for (x, number) in far.iter().enumerate() {
            let within = (shift..shift + L::WIDTH).contains(&x);
            let expected = if within { numbers[x - shift] } else { L::Scalar::from_f64(-9.0) };
            assert!(*number == expected, "{x}, streamed at {shift}");
        }
    }
    assert!(streamed > 0);
    for i in 0..L::WIDTH {
        assert!(pack.lane(i) == numbers[i]);
        let mut changed = pack;
        changed.set_lane(i, L::Scalar::from_f64(77.0));
        for j in 0..L::WIDTH {
            let expected = if i == j { L::Scalar::from_f64(77.0) } else { numbers[j] };
            assert!(changed.lane(j) == expected, "lane {j} after setting lane {i}");
        }
    }
    let other = L::load(&numbers[1..]);
    let (up, down) = (pack.shifted_up(other), pack.shifted_down(other));
    for i in 0..L::WIDTH {
        let [below, above] = [i.wrapping_sub(1), i + 1];
        assert!(up.lane(i) == if i > 0 { numbers[below] } else { numbers[L::WIDTH] });
        assert!(down.lane(i) == if above < L::WIDTH { numbers[above] } else { numbers[1] });
    }
    let third = 1.0 / 3.0;
    for i in 0..L::WIDTH {
        assert!(L::splat(numbers[0]).lane(i) == numbers[0]);
        assert!(same(L::lit(third).lane(i), L::Scalar::from_f64(third)));
    }
}

/// Masks and their bits.
#[inline(always)]
fn masks<L: Lanes>() {
    let all = u64::MAX >> (64 - L::WIDTH);
    for pattern in [0, 1, 0x5a5a_a5a5_1234_8001, 0x8000_0001_ffff_0000, u64::MAX] {
        for other in [0x0f0f_3333_5555_cccc, u64::MAX] {
            let (a, b) = (L::from_bits(pattern), L::from_bits(other));
            assert_eq!(L::bits(a), pattern & all);
            assert_eq!(L::bits(a & b), pattern & other & all);
            assert_eq!(L::bits(a | b), (pattern | other) & all);
            assert_eq!(L::bits(!a), !pattern & all);
            let chosen = L::select(a, L::lit(1.0), L::lit(f64::NAN));
            for i in 0..L::WIDTH {
                assert_eq!(chosen.lane(i).to_f64() == 1.0, pattern >> i & 1 == 1);
            }
        }
    }
}

/// Each operation on packs against the same operation on numbers.
#[inline(always)]
fn arithmetic<L: Lanes>(x: &[L::Scalar], y: &[L::Scalar]) {
    let (a, b) = (L::load(x), L::load(y));
    macro_rules! numbers {
        ($($name:literal: $lanes:expr, |$p:ident, $q:ident| $number:expr;)*) => {
            $(for i in 0..L::WIDTH {
                let ($p, $q) = (x[i], y[i]);
                let (found, expected): (L::Scalar, L::Scalar) = ($lanes.lane(i), $number);
                assert!(same(found, expected), "{}({}, {}): {found}", $name, $p, $q);
            })*
        };
    }
    numbers! {
        "+": (a + b), |p, q| p + q;
        "-": (a - b), |p, q| p - q;
        "*": (a * b), |p, q| p * q;
        "/": (a / b), |p, q| p / q;
        "neg": (-a), |p, _q| -p;
        "abs": a.abs(), |p, _q| p.abs();
        "sqrt": a.sqrt(), |p, _q| p.sqrt();
        "floor": a.floor(), |p, _q| p.floor();
        "recip": a.recip(), |p, _q| p.recip();
        "min": a.min(b), |p, q| p.min(q);
        "max": a.max(b), |p, q| p.max(q);
        "powi": a.powi(5), |p, _q| p.powi(5);
        "powi": a.powi(-3), |p, _q| p.powi(-3);
    }
    macro_rules! comparisons {
        ($($name:ident)*) => {
            $(for i in 0..L::WIDTH {
                let found = L::bits(a.$name(b)) >> i & 1 == 1;
                assert_eq!(found, Real::$name(x[i], y[i]), "{} {} {}", x[i], stringify!($name), y[i]);
            })*
        };
    }
    comparisons!(lt le eq gt ge ne);
}

/// Runs the conformance test for one precision, over single packs and blocks.
fn conform<T: Scalar>() {
    for isa in Isa::available() {
        isa.dispatch::<T, _>(Conformance);
        isa.dispatch_pair::<T, _>(Conformance);
        isa.dispatch_wide::<T, _>(Conformance);
    }
}

#[test]
fn packs_of_f64_conform() {
    conform::<f64>();
}

#[test]
fn packs_of_f32_conform() {
    conform::<f32>();
}

/// The widths of the pack and the block.
struct Width;

impl<T: Scalar> LaneWork<T> for Width {
    type Output = usize;
    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> usize {
        L::WIDTH
    }
}

#[test]
fn widths_are_those_of_the_registers() {
    for isa in Isa::available() {
        let (lanes, pair, block) = match isa {
            Isa::Avx512 => (8, 16, 32),
            Isa::Avx2 => (4, 8, 16),
            Isa::Scalar => (1, 1, 8),
        };
        assert_eq!(isa.dispatch::<f64, _>(Width), lanes);
        assert_eq!(isa.dispatch_pair::<f64, _>(Width), pair);
        assert_eq!(isa.dispatch_pair::<f32, _>(Width), isa.dispatch::<f32, _>(Width));
        assert_eq!(isa.dispatch_wide::<f64, _>(Width), block);
    }
}

/// Fused multiply-add on packs: 1 + 2ε + ε² − (1 + 2ε) keeps ε² only when fused.
struct Fused;

impl LaneWork<f64> for Fused {
    type Output = f64;
    #[inline(always)]
    fn run<L: Lanes<Scalar = f64>>(self) -> f64 {
        let x = L::lit(1.0 + f64::EPSILON);
        x.mul_add(x, L::lit(-(1.0 + 2.0 * f64::EPSILON))).lane(L::WIDTH - 1)
    }
}

#[test]
fn multiply_add_is_fused_on_packs() {
    for isa in Isa::available() {
        if isa != Isa::Scalar {
            assert_eq!(isa.dispatch(Fused), f64::EPSILON * f64::EPSILON, "{isa}");
        }
    }
}
