//! Standard-state thermodynamics of all species at one temperature.
//!
//! Every published form is one of the nine-coefficient NASA polynomials (McBride, Zehe & Gordon
//! 2002, eqs. 1–3) and is stored as such, without units:
//!
//! - cp/R = a₁ T⁻² + a₂ T⁻¹ + a₃ + a₄ T + a₅ T² + a₆ T³ + a₇ T⁴
//! - h/RT = −a₁ T⁻² + a₂ ln T / T + a₃ + a₄ T/2 + a₅ T²/3 + a₆ T³/4 + a₇ T⁴/5 + b₁/T
//! - g/RT = h/RT − s/R, with s/R from the same coefficients and b₂.
//!
//! Beyond the first and the last range the polynomial of that range continues.

use odeum_core::Real;

use crate::constants::GAS_CONSTANT;
use crate::mechanism::{Range, Species, Thermo};

/// Coefficients a₁ … a₇, b₁, b₂, and b₁ and b₂ of the shifted Gibbs function.
pub(crate) const N_GENERAL: usize = 11;
/// As [`N_GENERAL`] without a₁, a₂ and b₂, which the seven-coefficient form has not or does not
/// need.
pub(crate) const N_PAIR: usize = 8;

/// Species of one or two ranges without negative powers of T: nearly all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PairTable {
    pub(crate) species: Vec<u32>,
    /// Where the ranges join \[K\].
    pub(crate) mid: Vec<f64>,
    /// Coefficients of the lower and of the upper range.
    pub(crate) low: Vec<[f64; N_PAIR]>,
    pub(crate) high: Vec<[f64; N_PAIR]>,
}

/// The other species.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GeneralTable {
    pub(crate) species: Vec<u32>,
    /// Ranges of the i-th of them: starts\[i\]..starts\[i + 1\].
    pub(crate) starts: Vec<u32>,
    /// Lowest temperature of each range \[K\].
    pub(crate) low: Vec<f64>,
    pub(crate) coefficients: Vec<[f64; N_GENERAL]>,
}

/// Thermodynamic data of the species of a mechanism.
///
/// Beside g/RT the tables give a shifted γ = g/RT − Σₑ aₑ (λₑ/T − σₑ), where aₑ counts the atoms of
/// element e in the species. The shift cancels in every reaction that conserves the elements, and
/// λ and σ are chosen so that |γ| is small: products of exp(−γ) then stay within the range of
/// floating-point numbers where those of exp(−g/RT) would leave it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ThermoTables {
    pub(crate) pair: PairTable,
    pub(crate) general: GeneralTable,
    /// Σₑ aₑ λₑ \[K\] and Σₑ aₑ σₑ of each species.
    pub(crate) shift: Vec<(f64, f64)>,
    /// Temperatures at which all data hold \[K\].
    pub(crate) bounds: (f64, f64),
}

/// Powers of the temperature that the rate laws and the polynomials share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Temperature<R> {
    pub(crate) t: R,
    pub(crate) recip: R,
    pub(crate) ln: R,
}

impl<R: Real> Temperature<R> {
    #[inline(always)]
    pub(crate) fn new(t: R) -> Self {
        Temperature { t, recip: t.recip(), ln: t.ln() }
    }
}

/// Where [`ThermoTables::evaluate`] leaves its results, a value per species.
pub(crate) struct Functions<'a, R> {
    /// cp/R.
    pub(crate) cp: &'a mut [R],
    /// h/RT.
    pub(crate) h: &'a mut [R],
    /// γ.
    pub(crate) gamma: &'a mut [R],
    /// d(cp/R)/dT, where asked for.
    pub(crate) dcp: &'a mut [R],
}

impl ThermoTables {
    pub(crate) fn new(species: &[Species], n_elements: usize) -> ThermoTables {
        let ranges: Vec<Vec<(f64, f64, [f64; 9])>> =
            species.iter().map(|s| nine_coefficients(&s.thermo)).collect();
        let shift = shifts(species, &ranges, n_elements);
        let mut tables = ThermoTables { shift, bounds: (0.0, f64::INFINITY), ..Default::default() };
        tables.general.starts.push(0);
        for (k, ranges) in ranges.iter().enumerate() {
            let (lambda, sigma) = tables.shift[k];
            let pair = ranges.len() <= 2 && ranges.iter().all(|(.., a)| a[0] == 0.0 && a[1] == 0.0);
            if let (Some(first), Some(last)) = (ranges.first(), ranges.last()) {
                tables.bounds = (tables.bounds.0.max(first.0), tables.bounds.1.min(last.1));
                if pair {
                    let take = |a: &[f64; 9]| {
                        [a[2], a[3], a[4], a[5], a[6], a[7], a[7] - lambda, a[8] - sigma]
                    };
                    tables.pair.species.push(k as u32);
                    tables.pair.mid.push(if ranges.len() == 2 { first.1 } else { f64::INFINITY });
                    tables.pair.low.push(take(&first.2));
                    tables.pair.high.push(take(&last.2));
                    continue;
                }
            }
            tables.general.species.push(k as u32);
            for (low, _, a) in ranges {
                let mut full = [0.0; N_GENERAL];
                full[..9].copy_from_slice(a);
                full[9] = a[7] - lambda;
                full[10] = a[8] - sigma;
                tables.general.low.push(*low);
                tables.general.coefficients.push(full);
            }
            tables.general.starts.push(tables.general.low.len() as u32);
        }
        tables
    }

    /// The functions of all species; `dcp` is written only with `D`.
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        at: &Temperature<R>,
        out: &mut Functions<'_, R>,
    ) {
        let t = at.t;
        let (t2, t3) = (t * t, t * t * t);
        let t4 = t2 * t2;
        let basis = Basis {
            h: [t * R::lit(0.5), t2 * R::lit(1.0 / 3.0), t3 * R::lit(0.25), t4 * R::lit(0.2)],
            g: [
                t * R::lit(-0.5),
                t2 * R::lit(-1.0 / 6.0),
                t3 * R::lit(-1.0 / 12.0),
                t4 * R::lit(-0.05),
            ],
            g0: R::lit(1.0) - at.ln,
        };
        let pair = &self.pair;
        for i in 0..pair.species.len() {
            let k = pair.species[i] as usize;
            let upper = t.gt(R::lit(pair.mid[i]));
            let (low, high) = (&pair.low[i], &pair.high[i]);
            let mut a = [R::lit(0.0); N_PAIR];
            for j in 0..N_PAIR {
                a[j] = R::select(upper, R::lit(high[j]), R::lit(low[j]));
            }
            let [a0, a1, a2, a3, a4, b1, b1_shifted, b2_shifted] = a;
            out.cp[k] = quartic([a0, a1, a2, a3, a4], t);
            out.h[k] = b1.mul_add(at.recip, basis.enthalpy(a0, [a1, a2, a3, a4]));
            out.gamma[k] =
                b1_shifted.mul_add(at.recip, basis.gibbs(a0, [a1, a2, a3, a4])) - b2_shifted;
            if D {
                out.dcp[k] = cubic_slope([a1, a2, a3, a4], t);
            }
        }
        let general = &self.general;
        for i in 0..general.species.len() {
            let k = general.species[i] as usize;
            let (first, end) = (general.starts[i] as usize, general.starts[i + 1] as usize);
            let mut a = [R::lit(0.0); N_GENERAL];
            for range in first..end {
                let inside = t.gt(R::lit(general.low[range]));
                for j in 0..N_GENERAL {
                    let here = R::lit(general.coefficients[range][j]);
                    a[j] = if range == first { here } else { R::select(inside, here, a[j]) };
                }
            }
            let r2 = at.recip * at.recip;
            let [n2, n1, a0, a1, a2, a3, a4, b1, _, b1_shifted, b2_shifted] = a;
            out.cp[k] = n2.mul_add(r2, n1.mul_add(at.recip, quartic([a0, a1, a2, a3, a4], t)));
            let h = (n1 * at.ln + b1).mul_add(at.recip, basis.enthalpy(a0, [a1, a2, a3, a4]));
            out.h[k] = h - n2 * r2;
            let gibbs = basis.gibbs(a0, [a1, a2, a3, a4]) - n2 * r2 * R::lit(0.5);
            let logarithmic = n1 * (at.ln + R::lit(1.0)) + b1_shifted;
            out.gamma[k] = logarithmic.mul_add(at.recip, gibbs) - b2_shifted;
            if D {
                let negative = n2 * R::lit(-2.0) * r2 * at.recip - n1 * r2;
                out.dcp[k] = cubic_slope([a1, a2, a3, a4], t) + negative;
            }
        }
    }
}

/// What multiplies a₃ … a₇ in h/RT and in g/RT.
struct Basis<R> {
    h: [R; 4],
    g: [R; 4],
    g0: R,
}

impl<R: Real> Basis<R> {
    #[inline(always)]
    fn enthalpy(&self, a0: R, a: [R; 4]) -> R {
        let even = a[1].mul_add(self.h[1], a[3] * self.h[3]);
        a[0].mul_add(self.h[0], a0) + a[2].mul_add(self.h[2], even)
    }

    #[inline(always)]
    fn gibbs(&self, a0: R, a: [R; 4]) -> R {
        let even = a[1].mul_add(self.g[1], a[3] * self.g[3]);
        a0.mul_add(self.g0, a[0] * self.g[0]) + a[2].mul_add(self.g[2], even)
    }
}

#[inline(always)]
fn quartic<R: Real>(a: [R; 5], t: R) -> R {
    a[4].mul_add(t, a[3]).mul_add(t, a[2]).mul_add(t, a[1]).mul_add(t, a[0])
}

/// Derivative of a₀ + a₁ t + … with respect to t, from a₁ on.
#[inline(always)]
fn cubic_slope<R: Real>(a: [R; 4], t: R) -> R {
    let (two, three, four) = (R::lit(2.0), R::lit(3.0), R::lit(4.0));
    (four * a[3]).mul_add(t, three * a[2]).mul_add(t, two * a[1]).mul_add(t, a[0])
}

/// The ranges of any form as (lowest T, highest T, nine coefficients).
fn nine_coefficients(thermo: &Thermo) -> Vec<(f64, f64, [f64; 9])> {
    match thermo {
        Thermo::Nasa7(ranges) => {
            convert(ranges, |a| [0.0, 0.0, a[0], a[1], a[2], a[3], a[4], a[5], a[6]])
        }
        Thermo::Nasa9(ranges) => convert(ranges, |a| *a),
        // Shomate: cp = A + B t + C t² + D t³ + E/t² [J/(mol K)], h [kJ/mol], t = T / 1000 K.
        Thermo::Shomate(ranges) => convert(ranges, |a| {
            let r = GAS_CONSTANT * 1e-3;
            let cubes = [a[0] / r, a[1] * 1e-3 / r, a[2] * 1e-6 / r, a[3] * 1e-9 / r];
            let entropy = (a[6] - a[0] * 1000.0_f64.ln()) / r;
            let [c0, c1, c2, c3] = cubes;
            [a[4] * 1e6 / r, 0.0, c0, c1, c2, c3, 0.0, a[5] * 1e3 / r, entropy]
        }),
        Thermo::ConstantCp { t0, h0, s0, cp0, bounds } => {
            let cp = cp0 / GAS_CONSTANT;
            let (h, s) = (h0 / GAS_CONSTANT - cp * t0, s0 / GAS_CONSTANT - cp * t0.ln());
            vec![(bounds.0, bounds.1, [0.0, 0.0, cp, 0.0, 0.0, 0.0, 0.0, h, s])]
        }
    }
}

fn convert<const K: usize>(
    ranges: &[Range<K>],
    coefficients: impl Fn(&[f64; K]) -> [f64; 9],
) -> Vec<(f64, f64, [f64; 9])> {
    ranges.iter().map(|range| (range.low, range.high, coefficients(&range.a))).collect()
}

/// h/R and s/R of one species at `t`.
fn enthalpy_and_entropy(ranges: &[(f64, f64, [f64; 9])], t: f64) -> (f64, f64) {
    let inside = ranges.iter().rev().find(|(low, ..)| t > *low).or(ranges.first());
    let Some((_, _, a)) = inside else { return (0.0, 0.0) };
    let h = -a[0] / t + a[1] * t.ln() + a[7];
    let s = -a[0] / (2.0 * t * t) - a[1] / t + a[2] * t.ln() + a[8];
    (2..7).fold((h, s), |(h, s), j| {
        let order = j as i32 - 1;
        let power = a[j] * t.powi(order) / f64::from(order);
        (h + power, if j == 2 { s } else { s + a[j] * t.powi(order - 1) / f64::from(order - 1) })
    })
}

/// λ and σ summed over the atoms of each species, by least squares of h/R near 300 K and of s/R
/// near 1000 K.
fn shifts(
    species: &[Species],
    ranges: &[Vec<(f64, f64, [f64; 9])>],
    n_elements: usize,
) -> Vec<(f64, f64)> {
    let atoms: Vec<Vec<f64>> = species
        .iter()
        .map(|s| {
            let mut row = vec![0.0; n_elements];
            for &(element, count) in &s.composition {
                row[element] += count;
            }
            row
        })
        .collect();
    let h: Vec<f64> = ranges.iter().map(|r| enthalpy_and_entropy(r, 300.0).0).collect();
    let s: Vec<f64> = ranges.iter().map(|r| enthalpy_and_entropy(r, 1000.0).1).collect();
    let (lambda, sigma) = (least_squares(&atoms, &h), least_squares(&atoms, &s));
    let dot = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum();
    atoms.iter().map(|row| (dot(row, &lambda), dot(row, &sigma))).collect()
}

/// x that makes ‖A x − b‖ smallest, regularised a little so that an element of no species does
/// no harm. Any x serves; a good one serves better.
fn least_squares(rows: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = rows.first().map_or(0, Vec::len);
    let mut normal = vec![vec![0.0; n + 1]; n];
    for (row, b) in rows.iter().zip(b) {
        for i in 0..n {
            for j in 0..n {
                normal[i][j] += row[i] * row[j];
            }
            normal[i][n] += row[i] * b;
        }
    }
    for i in 0..n {
        normal[i][i] += 1e-6;
    }
    // Positive definite: elimination needs no pivoting.
    for i in 0..n {
        let pivot = normal[i].clone();
        for row in normal.iter_mut().skip(i + 1) {
            let factor = row[i] / pivot[i];
            for j in i..=n {
                row[j] -= factor * pivot[j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| normal[i][j] * x[j]).sum();
        x[i] = (normal[i][n] - known) / normal[i][i];
    }
    x.iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect()
}

/// How far outside the thermodynamic data a reactor may start unless it is told otherwise \[K\].
///
/// Room temperature lies just below data that begin at 300 K. The polynomials are smooth: 10 K below
/// 300 K the heat capacities of 27 species (Marinov 1999) are within 0.8 % of data that hold there
/// (McBride, Zehe & Gordon 2002), where at 300 K published fits differ by as much.
pub const TEMPERATURE_MARGIN: f64 = 10.0;

/// Where the magnitude of γ is judged \[K\], which is largest at the lowest temperature. Data that begin here may be extrapolated
/// by the margin: what is judged leaves room for that.
const LOWEST: f64 = 200.0;
/// The same of data that hold from absolute zero on.
const COLDEST: f64 = 1e-3;

impl ThermoTables {
    /// γ of all species at the lowest temperature of interest, and at that of data that hold below it.
    pub(crate) fn cold_gamma(&self, n_species: usize) -> [Vec<f64>; 2] {
        let colder = self.bounds.0 < LOWEST;
        let coldest =
            if colder { (self.bounds.0 - TEMPERATURE_MARGIN).max(COLDEST) } else { LOWEST };
        [LOWEST, coldest].map(|t| {
            let [mut cp, mut h, mut gamma] = [(); 3].map(|()| vec![0.0; n_species]);
            let mut out = Functions { cp: &mut cp, h: &mut h, gamma: &mut gamma, dcp: &mut [] };
            self.evaluate::<f64, false>(&Temperature::new(t), &mut out);
            gamma
        })
    }
}
