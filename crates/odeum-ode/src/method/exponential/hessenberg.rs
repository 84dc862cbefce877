//! φ functions of a Hessenberg matrix by rational approximation.
//!
//! On the half line z ≤ 1 the functions φ₀…φ₅ are sums Σ 2 Re ρₚ/(z − θₚ) over seven poles, to 1e-12.
//! The poles are those of the Carathéodory–Fejér approximation of type (14, 14) to exp z on z ≤ 0
//! (Trefethen, Weideman & Schmelzer, BIT 46 (2006) 653), moved to the right by 1, so that
//! perturbations that grow by up to e in a step are within the half line. One elimination serves
//! all functions (Schmelzer & Trefethen, ETNA 29 (2007) 1); their residues were fitted by
//! least squares at the images of 240 Chebyshev points (`validation/phi_residues.py`).
//!
//! Off the real axis the errors grow, to 1e-7 at z = ±3i: [`Hessenberg::pole_error`] finds them.

use super::tableau::Function;
use crate::linalg::{Complex, Entry};
use odeum_core::Lanes;

/// θₚ of positive imaginary part; their conjugates belong to them.
pub(super) const POLES: [[f64; 2]; 7] = [
    [6.62317153, 1.19406643],
    [6.08937456, 3.5888161],
    [4.99340043, 6.00481806],
    [3.26981653, 8.46171781],
    [0.79127622, 10.99123203],
    [-2.70323916, 13.65633346],
    [-7.89773541, 16.63093521],
];
/// ρₚ of φ₀…φ₅.
pub(super) const RESIDUES: [[[f64; 2]; 7]; 6] = [
    [
        [-75.77526469497423, -277.67250497487316],
        [127.58229736731585, 124.07473389854869],
        [-63.87684855652221, -15.788376775565014],
        [13.067414967017015, -3.59115534930531],
        [-1.0230617254040981, 0.9111808074275363],
        [0.0256571050449819, -0.04671567127204275],
        [-0.00019446226816932394, 0.00039039676537122424],
    ],
    [
        [-18.401226830455997, -38.60691525001609],
        [24.463084891388107, 5.958118799247552],
        [-6.784000781923677, 4.996257769563249],
        [0.14996192649955825, -1.4863492604662547],
        [0.07580681463727772, 0.09853720512290773],
        [-0.003649706292486439, -0.001156313006170178],
        [2.3686158101140066e-05, 4.45771746620646e-07],
    ],
    [
        [-3.7086677903513707, -5.160446153567059],
        [3.409671601963704, -1.0310687872344373],
        [-0.06351006325399694, 1.0769465138269614],
        [-0.14687545217443768, -0.07447876626905854],
        [0.009412793214614966, -0.006219329200164895],
        [-3.055935047519293e-05, 0.00027330678861413045],
        [-5.300631962174963e-07, -1.1737820186346075e-06],
    ],
    [
        [-0.6783780866639579, -0.6568437396246972],
        [0.34152637010750797, -0.37059896507521906],
        [0.1008290569708611, 0.09441915628750876],
        [-0.013495647640666854, 0.012143394687117908],
        [-0.00050139739131498, -0.0008920970982618959],
        [1.9754683813484753e-05, -1.7112627936697e-06],
        [-5.0150141264001486e-08, 4.732757553134432e-08],
    ],
    [
        [-0.11652047045207063, -0.07816273153381756],
        [0.01500940760126097, -0.06970242399836324],
        [0.017550449305952346, -0.0021992516874184604],
        [0.0007114451319715756, 0.0018706463486801344],
        [-8.38017046017859e-05, 3.9804292378534646e-05],
        [-3.627121960514599e-07, -1.4150895008812722e-06],
        [-5.441454732834198e-10, -1.227667064986984e-09],
    ],
    [
        [-0.019097770318799275, -0.008360264178348495],
        [-0.0031797024137029104, -0.009575048144708134],
        [0.0012198822215817693, -0.0019063975488870766],
        [0.0002214013556965822, 1.1939511381648158e-06],
        [2.9970208893003983e-06, 7.588557762140359e-06],
        [-1.4343592555074477e-07, 6.784005184123602e-08],
        [2.2952833049931804e-09, 4.457246644636565e-09],
    ],
];

/// The scale of the estimate of the error of poles, which compares a step with two of half its length.
pub(super) const HALF: f64 = 0.5;

/// What functions add to sums, by the scales c of their arguments.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) by_scale: Vec<(f64, Vec<Share>)>,
    /// The sums that they add to.
    pub(super) sums: Vec<usize>,
}

/// A term w φₖ(c z) of the function of a sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) sum: usize,
    pub(super) k: usize,
    pub(super) weight: f64,
}

impl Terms {
    /// Of the functions that add to the sums 0, 1, …; an empty one adds nothing.
    pub(super) fn new(functions: &[Function]) -> Self {
        let mut by_scale: Vec<(f64, Vec<Share>)> = Vec::new();
        for (sum, term) in
            functions.iter().enumerate().flat_map(|(s, f)| f.iter().map(move |t| (s, t)))
        {
            let share = Share { sum, k: term.k as usize, weight: term.weight };
            match by_scale.iter_mut().find(|(scale, _)| *scale == term.scale) {
                Some((_, shares)) => shares.push(share),
                None => by_scale.push((term.scale, vec![share])),
            }
        }
        let sums = (0..functions.len()).filter(|&sum| !functions[sum].is_empty()).collect();
        Terms { by_scale, sums }
    }
}

/// The Hessenberg matrix of a Krylov subspace, and memory for its functions.
pub(super) struct Hessenberg<L> {
    /// Largest dimension.
    most: usize,
    /// Entries row by row [most + 1 × most].
    pub(super) entries: Vec<L>,
    /// U of an elimination with the reciprocals of its pivots, row by row [most × most].
    upper: Vec<Complex<L>>,
    /// The row at work, and the solution \[most\].
    row: Vec<Complex<L>>,
    x: Vec<Complex<L>>,
    /// Vectors \[most\].
    unit: Vec<L>,
    whole: Vec<L>,
    half: Vec<L>,
    /// g(H)e₁ for each sum [sums × most].
    pub(super) values: Vec<L>,
    /// For each sum what ‖Vₘ₊₁‖ is multiplied by in the error \[sums\].
    pub(super) ends: Vec<L>,
}

impl<L: Lanes> Hessenberg<L> {
    pub(super) fn new(most: usize, sums: usize) -> Self {
        let zero = L::lit(0.0);
        let zeros = |len: usize| vec![zero; len];
        let complex = |len: usize| vec![Complex { re: zero, im: zero }; len];
        let mut unit = zeros(most);
        unit[0] = L::lit(1.0);
        Hessenberg {
            most,
            entries: zeros((most + 1) * most),
            upper: complex(most * most),
            row: complex(most),
            x: complex(most),
            unit,
            whole: zeros(most),
            half: zeros(most),
            values: zeros(sums * most),
            ends: zeros(sums),
        }
    }

    /// g(H)e₁ of the leading m × m part for all sums, into `values`; and into `ends` the first term
    /// of the error, Σ w c hₘ₊₁,ₘ eₘᵀφₖ₊₁(cH)e₁ (Saad, SIAM J. Numer. Anal. 29 (1992) 209, thm 5.1).
    #[inline(always)]
    pub(super) fn act(&mut self, m: usize, terms: &Terms) {
        let most = self.most;
        self.values.fill(L::lit(0.0));
        self.ends.fill(L::lit(0.0));
        let next = self.entries[m * most + m - 1];
        for (scale, shares) in &terms.by_scale {
            for p in 0..POLES.len() {
                solve(
                    &self.entries,
                    most,
                    m,
                    (*scale, p),
                    &self.unit,
                    (&mut self.upper, &mut self.row),
                    &mut self.x,
                );
                for &Share { sum, k, weight } in shares {
                    let values = &mut self.values[sum * most..sum * most + m];
                    add(values, &self.x, RESIDUES[k][p], weight);
                    let end = &mut self.ends[sum..=sum];
                    let mut first = [L::lit(0.0)];
                    add(&mut first, &self.x[m - 1..m], RESIDUES[k + 1][p], weight * scale);
                    end[0] = first[0].mul_add(next, end[0]);
                }
            }
        }
    }

    /// The error of φ₁(H)e₁ as doubling shows it, φ₁(2z) = (φ₁(z) + exp(z) φ₁(z))/2: the 2-norm of
    /// the difference.
    #[inline(always)]
    pub(super) fn pole_error(&mut self, m: usize) -> L {
        let Hessenberg { most, entries, upper, row, x, unit, whole, half, .. } = self;
        whole.fill(L::lit(0.0));
        half.fill(L::lit(0.0));
        for p in 0..POLES.len() {
            solve(entries, *most, m, (1.0, p), unit, (&mut *upper, &mut *row), x);
            add(&mut whole[..m], x, RESIDUES[1][p], 1.0);
            solve(entries, *most, m, (HALF, p), unit, (&mut *upper, &mut *row), x);
            add(&mut half[..m], x, RESIDUES[1][p], 1.0);
        }
        for i in 0..m {
            whole[i] = half[i].mul_add(L::lit(-HALF), whole[i]);
        }
        for p in 0..POLES.len() {
            solve(entries, *most, m, (HALF, p), half, (&mut *upper, &mut *row), x);
            add(&mut whole[..m], x, RESIDUES[0][p], -HALF);
        }
        let mut sum = L::lit(0.0);
        for x in &whole[..m] {
            sum = x.mul_add(*x, sum);
        }
        sum.sqrt()
    }
}

/// Adds 2w Re ρx.
#[inline(always)]
fn add<L: Lanes>(to: &mut [L], x: &[Complex<L>], residue: [f64; 2], weight: f64) {
    let [re, im] = residue.map(|part| L::lit(2.0 * weight * part));
    for i in 0..to.len() {
        to[i] = x[i].re.mul_add(re, (-x[i].im).mul_add(im, to[i]));
    }
}

/// Solves (cH − θₚI) x = b for the leading m × m part, by elimination with row exchanges: below
/// each row there is one other that it may be exchanged with.
#[inline(always)]
fn solve<L: Lanes>(
    entries: &[L],
    most: usize,
    m: usize,
    (scale, pole): (f64, usize),
    b: &[L],
    (upper, row): (&mut [Complex<L>], &mut [Complex<L>]),
    x: &mut [Complex<L>],
) {
    let c = L::lit(scale);
    let [re, im] = POLES[pole].map(L::lit);
    let zero = L::lit(0.0);
    for j in 0..m {
        row[j] = Complex { re: entries[j] * c, im: zero };
        x[j] = Complex { re: b[j], im: zero };
    }
    row[0] = Complex { re: row[0].re - re, im: -im };
    for j in 0..m - 1 {
        let below = &entries[(j + 1) * most..(j + 1) * most + m];
        let first = Complex { re: below[j] * c, im: zero };
        let exchanged = first.size().gt(row[j].size());
        let pivot = select(exchanged, first, row[j]).recip();
        let factor = select(exchanged, row[j], first).mul(pivot);
        let upper = &mut upper[j * most..j * most + m];
        upper[j] = pivot;
        for k in j + 1..m {
            let mut other = Complex { re: below[k] * c, im: zero };
            if k == j + 1 {
                other = Complex { re: other.re - re, im: -im };
            }
            let above = row[k];
            upper[k] = select(exchanged, other, above);
            row[k] = select(exchanged, above, other).minus_product(factor, upper[k]);
        }
        let (above, other) = (x[j], x[j + 1]);
        x[j] = select(exchanged, other, above);
        x[j + 1] = select(exchanged, above, other).minus_product(factor, x[j]);
    }
    upper[(m - 1) * most + m - 1] = row[m - 1].recip();
    for j in (0..m).rev() {
        let upper = &upper[j * most..j * most + m];
        let mut sum = x[j];
        for k in j + 1..m {
            sum = sum.minus_product(upper[k], x[k]);
        }
        x[j] = sum.mul(upper[j]);
    }
}

#[inline(always)]
fn select<L: Lanes>(mask: L::Mask, a: Complex<L>, b: Complex<L>) -> Complex<L> {
    Complex { re: L::select(mask, a.re, b.re), im: L::select(mask, a.im, b.im) }
}

#[cfg(test)]
mod tests {
    use super::super::phi::phi;
    use super::super::tableau::Term;
    use super::*;

    const PHIS: [Function; 4] = [
        &[Term { k: 1, scale: 1.0, weight: 1.0 }],
        &[Term { k: 2, scale: 0.5, weight: 1.0 }],
        &[Term { k: 3, scale: 1.0, weight: 1.0 }],
        &[Term { k: 4, scale: 1.0, weight: 1.0 }],
    ];

    #[test]
    fn sums_over_poles_are_the_functions_on_the_half_line() {
        let mut h = Hessenberg::<f64>::new(1, 4);
        for z in [1.0, 0.5, 0.0, -0.2, -3.0, -17.0, -800.0, -1e6] {
            h.entries[0] = z;
            h.act(1, &Terms::new(&PHIS));
            for (k, scale) in [(1, 1.0), (2, 0.5), (3, 1.0), (4, 1.0)] {
                let (found, exact) = (h.values[k as usize - 1], phi(k, scale * z));
                assert!((found - exact).abs() < 1e-12, "φ{k}({z}): {found} {exact}");
            }
            assert!(h.pole_error(1) < 1e-12);
        }
    }

    /// exp and φ₁ of a matrix that turns by ω: what is wrong is seen.
    #[test]
    fn the_estimate_tells_the_error_of_a_rotation() {
        for omega in [0.1_f64, 1.0, 3.0, 5.0, 8.0] {
            let mut h = Hessenberg::<f64>::new(2, 4);
            h.entries[..4].copy_from_slice(&[0.0, -omega, omega, 0.0]);
            h.act(2, &Terms::new(&PHIS));
            // φ₁(iω) = sin ω/ω + i (1 − cos ω)/ω.
            let exact = [omega.sin() / omega, (1.0 - omega.cos()) / omega];
            let error = (h.values[0] - exact[0]).hypot(h.values[1] - exact[1]);
            let pole_error = h.pole_error(2);
            assert!(error < 1.5 * pole_error + 1e-12, "{omega}: {error:e} {pole_error:e}");
            assert!(pole_error < 30.0 * error + 1e-12, "{omega}: {error:e} {pole_error:e}");
        }
    }

    /// By mpmath 1.3.0 (expm of augmented matrices, 40 digits).
    #[test]
    fn functions_of_a_matrix_agree_with_multiprecision() {
        let mut h = Hessenberg::<f64>::new(3, 4);
        h.entries[..9].copy_from_slice(&[-1.0, 2.0, 0.5, 300.0, -2000.0, 3.0, 0.0, 40.0, -7.0]);
        h.act(3, &Terms::new(&PHIS));
        let exact = [
            [0.837634939131046, 0.126534344095914, 0.629578384217623],
            [0.462037723841064, 0.0695231019474093, 0.235175831543081],
            [0.150119713336134, 0.0226168620795278, 0.0880160123970322],
            [0.0381409321863244, 0.0057401722996782, 0.0202272685128708],
        ];
        for (k, exact) in exact.into_iter().enumerate() {
            for i in 0..3 {
                let found = h.values[3 * k + i];
                assert!((found - exact[i]).abs() < 1e-12, "{k}, {i}: {found} {}", exact[i]);
            }
        }
    }
}
