//! Rate constants between two limits, by two exponentials: k = X exp(ln k₀ + ln F) / (1 + Pr), and without X of a
//! chemically activated reaction, where Pr = X exp(ln k₀/k∞), whose exponent the blending function has anyway. k∞ itself
//! is not needed.

use crate::kinetics::Kinetics;
use crate::rate::Conditions;
use crate::rate::falloff::FalloffTable;
use crate::scratch::Scratch;
use odeum_core::{Real, Symbol};
use std::f64::consts::LOG10_E;

/// k of all falloff reactions, times `scales`, into the scratch, in which there are X and ln X.
pub(super) fn write(
    kinetics: &Kinetics,
    with: &Conditions<Symbol>,
    scales: &[f64],
    s: &mut Scratch<'_, Symbol>,
) {
    let (falloffs, at) = (&kinetics.falloffs, &with.at);
    falloffs.troe_blending.terms(at, s.terms);
    let table =
        |table, blend: &dyn Fn(usize, Symbol, &[Symbol]) -> Symbol, s: &mut Scratch<'_, _>| {
            of_table(kinetics, with, scales, table, blend, s);
        };
    table(&falloffs.lindemann, &|_, _, _| Symbol::lit(1.0), s);
    let troe = &falloffs.troe_blending;
    let blend = |i, log10_pr, terms: &[_]| troe.evaluate::<_, false>(i, at, terms, log10_pr).f;
    table(&falloffs.troe, &blend, s);
    let sri = &falloffs.sri_blending;
    table(&falloffs.sri, &|i, log10_pr, _| sri.evaluate::<_, false>(i, at, log10_pr).f, s);
    let tsang = &falloffs.tsang_blending;
    table(&falloffs.tsang, &|i, log10_pr, _| tsang.evaluate::<_, false>(i, at, log10_pr).f, s);
}

/// The reactions of one form of F, which is `blend` of their number, log₁₀ Pr and the terms of Troe's functions.
fn of_table(
    kinetics: &Kinetics,
    with: &Conditions<Symbol>,
    scales: &[f64],
    table: &FalloffTable,
    blend: &dyn Fn(usize, Symbol, &[Symbol]) -> Symbol,
    s: &mut Scratch<'_, Symbol>,
) {
    let (bodies, expressions) = (&kinetics.bodies, &kinetics.arrhenius);
    for i in 0..table.low.len() {
        let number = table.first + i;
        let (r, set) = (bodies.reaction[number] as usize, bodies.set[number] as usize);
        let Some(low) = expressions.slot.iter().position(|slot| *slot == table.low[i]) else {
            continue;
        };
        let (a, b, ta) = (expressions.a[low] * scales[r], expressions.b[low], expressions.ta[low]);
        let (x, ratio) = (s.x[set], exponent(with, table.ln_ratio[i]));
        let log10_pr = (ratio + s.ln_x[set]) * Symbol::lit(LOG10_E);
        // F is an exponential, and its logarithm the exponent (`Graph::of_finite`).
        let ln_f = blend(i, log10_pr, s.terms).ln();
        let low = Symbol::lit(a.signum()) * (exponent(with, [a.abs().ln(), b, ta]) + ln_f).exp();
        let fraction = ratio.exp().mul_add(x, Symbol::lit(1.0)).recip();
        s.k[r] = if table.activated[i] { low * fraction } else { low * x * fraction };
    }
}

/// c + b ln T − Tₐ/T.
pub(super) fn exponent(with: &Conditions<Symbol>, [c, b, ta]: [f64; 3]) -> Symbol {
    let [c, b, ta] = [c, b, -ta].map(Symbol::lit);
    b.mul_add(with.at.ln, ta.mul_add(with.at.recip, c))
}
