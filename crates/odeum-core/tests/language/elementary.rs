//! Accuracy and special cases of the elementary functions of lane packs.
//!
//! The reference, `data/elementary.txt`, comes from `data/make_elementary.py`, which says how it
//! is written. `ODEUM_ELEMENTARY` may name a larger one.

use std::collections::BTreeMap;

use odeum_core::lanes::LaneWork;
use odeum_core::{Isa, Lanes, Scalar};

/// Each function with the largest error [ulp] allowed on packs of `f64`; the documentation of
/// `lanes` has the same table.
const FUNCTIONS: [(&str, f64); 14] = [
    ("exp", 0.8),
    ("ln", 0.9),
    ("powf", 1.1),
    ("sin", 0.8),
    ("cos", 0.8),
    ("tan", 0.9),
    ("asin", 0.7),
    ("acos", 0.7),
    ("atan", 0.8),
    ("sinh", 0.8),
    ("cosh", 0.9),
    ("tanh", 0.9),
    ("cbrt", 0.6),
    ("rsqrt", 1.5),
];

/// What the standard library's functions, those of the C library for the most part, may err by
/// themselves [ulp]; most stay below one.
const STANDARD: f64 = 2.0;

/// A function of `x` (and `y`), evaluated pack by pack into a list as long.
struct Evaluate<'a, T> {
    function: &'a str,
    x: &'a [T],
    y: &'a [T],
}

impl<T: Scalar> LaneWork<T> for Evaluate<'_, T> {
    type Output = Vec<T>;
    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> Vec<T> {
        let mut values = vec![T::default(); self.x.len()];
        let mut x = [T::default(); 64];
        let mut y = [T::default(); 64];
        for start in (0..values.len()).step_by(L::WIDTH) {
            let end = (start + L::WIDTH).min(values.len());
            x[..end - start].copy_from_slice(&self.x[start..end]);
            y[..end - start].copy_from_slice(&self.y[start..end]);
            apply(self.function, L::load(&x), L::load(&y)).store(&mut x);
            values[start..end].copy_from_slice(&x[..end - start]);
        }
        values
    }
}

/// The named function.
#[inline(always)]
fn apply<L: Lanes>(function: &str, x: L, y: L) -> L {
    macro_rules! named {
        ($($name:ident)*) => {
            match function {
                $(stringify!($name) => x.$name(),)*
                "powf" => x.powf(y),
                _ => panic!("no function {function}"),
            }
        };
    }
    named!(exp ln sin cos tan asin acos atan sinh cosh tanh cbrt rsqrt)
}

/// The functions of one number, by lanes of `isa`.
fn evaluate<T: Scalar>(isa: Isa, function: &str, x: &[T], y: &[T]) -> Vec<T> {
    isa.dispatch(Evaluate { function, x, y })
}

/// The sets with lanes; single numbers are the standard library's business.
fn lane_sets() -> impl Iterator<Item = Isa> {
    Isa::available().into_iter().filter(|isa| *isa != Isa::Scalar)
}

/// Arguments and true values of one function.
#[derive(Default)]
struct Reference {
    x: Vec<f64>,
    y: Vec<f64>,
    value: Vec<f64>,
    /// The true value less `value` [ulp].
    rest: Vec<f64>,
}

fn references() -> BTreeMap<String, Reference> {
    let path = std::env::var("ODEUM_ELEMENTARY").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/elementary.txt").to_owned()
    });
    let number =
        |hex: &str| f64::from_bits(u64::from_str_radix(hex, 16).expect("bits in hexadecimal"));
    let mut references = BTreeMap::<String, Reference>::new();
    for line in std::fs::read_to_string(path).expect("the reference").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let reference = references.entry(words[0].to_owned()).or_default();
        reference.x.push(number(words[1]));
        reference.y.push(number(words[words.len() - 3]));
        reference.value.push(number(words[words.len() - 2]));
        reference.rest.push(words[words.len() - 1].parse::<f64>().expect("the rest") / 1024.0);
    }
    references
}

/// The place of `x` in the sequence of all numbers: neighbours differ by one.
fn place(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

/// `a` less `b` in units of the last place; 0 for two NaN.
fn ulps(a: f64, b: f64) -> f64 {
    if a.is_nan() && b.is_nan() { 0.0 } else { place(a).wrapping_sub(place(b)) as f64 }
}

#[test]
fn accuracy_against_the_reference() {
    let references = references();
    for isa in lane_sets() {
        for (function, bound) in FUNCTIONS {
            let reference = &references[function];
            let found = evaluate(isa, function, &reference.x, &reference.y);
            let mut worst = (0.0, 0);
            for i in 0..found.len() {
                let error = (ulps(found[i], reference.value[i]) - reference.rest[i]).abs();
                if error > worst.0 {
                    worst = (error, i);
                }
            }
            let (error, i) = worst;
            let (x, y) = (reference.x[i], reference.y[i]);
            println!("{isa} {function}: {error:.3} ulp at {x:e} ({y:e})");
            assert!(error <= bound, "{isa} {function}({x:e}, {y:e}) = {:e}: {error} ulp", found[i]);
        }
    }
}

/// Pseudo-random bits (splitmix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [−1, 1).
    fn signed(&mut self) -> f64 {
        (self.bits() as i64) as f64 / 2f64.powi(63)
    }

    /// Any number, or one of moderate size.
    fn number(&mut self) -> f64 {
        match self.bits() % 8 {
            0 => f64::from_bits(self.bits()),
            1 => self.signed(),
            2 => 700.0 * self.signed(),
            3 => 1e6 * self.signed(),
            _ => self.signed() * 2f64.powi((self.bits() % 16) as i32 - 8),
        }
    }
}

#[test]
fn millions_of_numbers_against_the_standard_library() {
    let mut random = Random(1);
    let x: Vec<f64> = (0..1 << 20).map(|_| random.number()).collect();
    let y: Vec<f64> = x.iter().map(|_| random.number()).collect();
    let sets: Vec<Isa> = lane_sets().collect();
    for (function, bound) in FUNCTIONS {
        let expected = evaluate(Isa::Scalar, function, &x, &y);
        let found: Vec<Vec<f64>> =
            sets.iter().map(|isa| evaluate(*isa, function, &x, &y)).collect();
        for (isa, found) in sets.iter().zip(&found) {
            for i in 0..x.len() {
                let error = ulps(found[i], expected[i]).abs();
                assert!(
                    error <= bound + STANDARD,
                    "{isa} {function}({:e}, {:e}) = {:e}, not {:e}",
                    x[i],
                    y[i],
                    found[i],
                    expected[i]
                );
            }
        }
        // Estimates of the reciprocal root differ between sets; all else is the same bits.
        if function != "rsqrt" {
            for other in &found[1.min(found.len())..] {
                for i in 0..x.len() {
                    assert!(
                        ulps(found[0][i], other[i]) == 0.0,
                        "{function}({:e}, {:e}) depends on the set",
                        x[i],
                        y[i]
                    );
                }
            }
        }
    }
}

/// Where the rules of IEEE 754 leave nothing to rounding, and numbers next to such.
const SPECIAL: [f64; 32] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.5,
    -0.5,
    2.5,
    -2.5,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON / 2.0,
    -1.0 - f64::EPSILON,
    f64::from_bits(1),
    -f64::from_bits(1),
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    710.0,
    -746.0,
    1e300,
    -1e300,
    9_007_199_254_740_991.0,
    -9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    1e-300,
];

#[test]
fn special_values() {
    let mut x = Vec::new();
    let mut y = Vec::new();
    for a in SPECIAL {
        for b in SPECIAL {
            x.push(a);
            y.push(b);
        }
    }
    for isa in lane_sets() {
        for (function, bound) in FUNCTIONS {
            let found = evaluate(isa, function, &x, &y);
            let expected = evaluate(Isa::Scalar, function, &x, &y);
            for i in 0..x.len() {
                let (found, expected) = (found[i], expected[i]);
                let exact = expected == 0.0 || !expected.is_finite();
                let allowed = if exact { 0.0 } else { bound + STANDARD };
                assert!(
                    ulps(found, expected).abs() <= allowed
                        && (found.is_nan()
                            || found.is_sign_negative() == expected.is_sign_negative()),
                    "{isa} {function}({:e}, {:e}) = {found:e}, not {expected:e}",
                    x[i],
                    y[i],
                );
            }
        }
    }
}

/// Overflow and underflow happen where they should.
#[test]
fn limits_of_the_exponential() {
    let last_finite = 709.782_712_893_384;
    let first_infinite = 709.782_712_893_384_1;
    let last_positive = -745.133_219_101_941_1;
    let first_zero = -745.133_219_101_941_2;
    let x = [last_finite, first_infinite, last_positive, first_zero];
    for isa in lane_sets() {
        let found = evaluate(isa, "exp", &x, &x);
        assert!(found[0].is_finite() && found[1] == f64::INFINITY, "{isa} {found:?}");
        assert!(found[2] == f64::from_bits(1) && found[3] == 0.0, "{isa} {found:?}");
    }
}

/// One function over one pack with the same numbers in every position among any neighbours.
struct Independence<'a>(&'a str);

impl<T: Scalar> LaneWork<T> for Independence<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) {
        let numbers = SPECIAL.iter().copied().chain([0.3, -7.7, 1e5, 1e7, -3e15, 33.3, 1e-7]);
        for x in numbers.map(T::from_f64) {
            let exponent = L::lit(1.7);
            let alone = apply(self.0, L::splat(x), exponent).lane(0).to_f64();
            for neighbour in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e30, f64::from_bits(1)] {
                for i in 0..L::WIDTH {
                    let mut pack = L::splat(T::from_f64(neighbour));
                    pack.set_lane(i, x);
                    let found = apply(self.0, pack, exponent).lane(i).to_f64();
                    let same = found.to_bits() == alone.to_bits();
                    assert!(same || found.is_nan() && alone.is_nan(), "{}({x}) in {i}", self.0);
                }
            }
        }
    }
}

#[test]
fn a_lane_depends_on_itself_alone() {
    for isa in Isa::available() {
        for (function, _) in FUNCTIONS {
            isa.dispatch::<f64, _>(Independence(function));
            isa.dispatch::<f32, _>(Independence(function));
            isa.dispatch_wide::<f64, _>(Independence(function));
        }
    }
}

/// Packs of `f32` round once from `f64`, hence to half a unit and a little.
#[test]
fn single_precision() {
    let mut random = Random(2);
    let number = |random: &mut Random| match random.bits() % 4 {
        0 => f32::from_bits(random.bits() as u32),
        _ => random.number() as f32,
    };
    let mut x: Vec<f32> = (0..1 << 18).map(|_| number(&mut random)).collect();
    x.extend(SPECIAL.map(|x| x as f32));
    let y: Vec<f32> = x.iter().map(|_| number(&mut random)).collect();
    let wide = |numbers: &[f32]| numbers.iter().map(|x| *x as f64).collect::<Vec<f64>>();
    for (function, _) in FUNCTIONS {
        let expected = evaluate(Isa::Scalar, function, &wide(&x), &wide(&y));
        for isa in lane_sets() {
            let found = evaluate(isa, function, &x, &y);
            for i in 0..x.len() {
                let rounded = expected[i] as f32;
                let unit = if rounded.is_finite() {
                    (rounded.abs().next_up() - rounded.abs()) as f64
                } else {
                    1.0
                };
                // The reciprocal root is computed in f32.
                let bound = if function == "rsqrt" { 1.5 } else { 0.501 };
                let close = (found[i] as f64 - expected[i]).abs() <= bound * unit;
                assert!(
                    close || found[i] == rounded || found[i].is_nan() && rounded.is_nan(),
                    "{isa} {function}({:e}, {:e}) = {:e}, not {rounded:e}",
                    x[i],
                    y[i],
                    found[i],
                );
            }
        }
    }
}
