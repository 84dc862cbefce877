//! One row of F for all species, and what a sweep makes of it.

use super::combine::{Goal, Row};
use super::gather::At;
use super::laplacian::{self, Sink};
use super::program::{self, Which};
use super::row::{self, PAD};
use super::scratch::{Origin, Scratch, gains, has_gains};
use super::{coded, nine};
use crate::native::Code;
use crate::plan::{Kernel, Plan};
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Computes rows of the output of all species; NaN in a lane when a value is not finite. Laplacians
/// of potentials have been computed before.
#[inline(always)]
pub(super) fn make<L: Lanes>(
    code: Option<&Code>,
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    at: At,
    goal: Goal<'_, L::Scalar>,
) -> L {
    let plan = origin.plan;
    if let (Some(code), Kernel::Tape(tape)) = (code, &plan.kernel) {
        return coded::outputs(code, tape, origin, scratch, at, goal);
    }
    compute::<L>(origin, scratch, at);
    let mut spoiled = L::lit(0.0);
    for s in 0..plan.layout.species {
        let out = goal.row(s, Some(origin.around(s).rows(at)));
        spoiled = spoiled + write(origin, scratch, s, at, out);
    }
    spoiled
}

/// Computes what F of row (y, z) is made of, but for Laplacians that [`write()`] takes as they
/// come: gains, and the slopes of a program.
#[inline(always)]
fn compute<L: Lanes>(origin: &Origin<'_, L::Scalar>, scratch: &mut Scratch<L::Scalar>, at: At) {
    let plan = origin.plan;
    for s in 0..plan.layout.species {
        gains::<L>(origin, scratch, s, at);
    }
    match &plan.kernel {
        Kernel::Tape(tape) => {
            nine::laplacians::<L>(origin, &tape.rhs_inputs, scratch, at);
            program::run::<L>(Which::Rhs, tape, origin, scratch, at);
        }
        Kernel::Diffusion(_) if origin.solids(at).is_none() => {}
        Kernel::Diffusion(d) => {
            for s in 0..plan.layout.species {
                let Scratch { stride, ahead, spare, patch, slopes, .. } = scratch;
                let mut rows = [&[][..]; 9];
                let nine = nine::of_species::<L>(origin, (spare, *ahead), s, at, &mut rows);
                let to = &mut slopes[s * *stride..(s + 1) * *stride];
                let scale = d[s] * plan.weights.scale;
                nine::store::<L>(origin, &nine, at, scale, patch, to);
            }
        }
    }
}

/// Writes the row of a species from what is [computed](compute); NaN in a lane when a value is
/// not finite.
#[inline(always)]
fn write<L: Lanes>(
    origin: &Origin<'_, L::Scalar>,
    scratch: &mut Scratch<L::Scalar>,
    s: usize,
    at: At,
    out: Row<'_, L>,
) -> L {
    let mut spoiled = L::lit(0.0);
    L::outline(Write { origin, scratch, s, at, out, spoiled: &mut spoiled });
    spoiled
}

/// [`write()`] out of line: its loop wants all registers.
struct Write<'a, 'o, L: Lanes> {
    origin: &'a Origin<'o, L::Scalar>,
    scratch: &'a mut Scratch<L::Scalar>,
    s: usize,
    at: At,
    out: Row<'a, L>,
    spoiled: &'a mut L,
}

impl<L: Lanes> Outlined for Write<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        let gains = has_gains(self.origin.plan, self.s);
        match self.out.kind() {
            (true, true) if !gains => self.through::<true, true>(),
            (true, false) if !gains => self.through::<true, false>(),
            (_, true) => self.through::<false, true>(),
            (_, false) => self.through::<false, false>(),
        }
    }
}

impl<L: Lanes> Write<'_, '_, L> {
    #[inline(always)]
    fn through<const SIMPLE: bool, const STREAMS: bool>(self) {
        let Write { origin, scratch, s, at, out, spoiled } = self;
        let plan = origin.plan;
        let stride = scratch.stride;
        let padded = s * stride..(s + 1) * stride;
        let gains = &scratch.gains[padded.clone()];
        let mut end = End::<L, SIMPLE, STREAMS>::new(plan, s, at.rows, gains, out);
        match (&plan.kernel, plan.domain_near((at.y, at.z), at.rows)) {
            (Kernel::Diffusion(d), None) => {
                end.spread = L::lit(d[s] * plan.weights.scale);
                let mut rows = [&[][..]; 9];
                let nine = nine::of_species::<L>(
                    origin,
                    (&mut scratch.spare, scratch.ahead),
                    s,
                    at,
                    &mut rows,
                );
                laplacian::along(&plan.weights, &nine, &mut end);
            }
            (_, Some(domain)) => {
                let slopes = &scratch.slopes[padded][PAD..];
                let nx = plan.layout.shape[0];
                assert!(end.wide <= slopes.len());
                for n in 0..at.rows {
                    let begin = n * plan.layout.row;
                    for (x, cells) in domain.row(at.y + n as isize, at.z).packs::<L>(nx) {
                        // SAFETY: packs up to `wide` lie within the slopes.
                        let slope = unsafe { row::within(slopes, begin + x) };
                        end.among_solids(begin + x, cells, slope);
                    }
                }
            }
            (Kernel::Tape(_), None) => {
                let slopes = &scratch.slopes[padded][PAD..];
                for begin in (0..at.rows).map(|n| n * plan.layout.row) {
                    let mut x = begin;
                    let last = begin + plan.layout.shape[0] - 1;
                    while x + L::WIDTH <= last {
                        end.put(x, L::WIDTH, L::load(&slopes[x..x + L::WIDTH]));
                        x += L::WIDTH;
                    }
                    end.put(x, last + 1 - x, L::load(&slopes[x..x + L::WIDTH]));
                }
            }
        }
        *spoiled = end.spoiled[0] + end.spoiled[1];
    }
}

/// The end of a row's way: F but for gains becomes values of the output. A simple one has no gains,
/// and a simple row.
struct End<'a, L: Lanes, const SIMPLE: bool, const STREAMS: bool> {
    wide: usize,
    spread: L,
    /// What F gains, if it does, from the first cell on.
    gains: Option<&'a [L::Scalar]>,
    out: Row<'a, L>,
    /// In turn, so that none waits for the last.
    spoiled: [L; 2],
}

impl<'a, L: Lanes, const SIMPLE: bool, const STREAMS: bool> End<'a, L, SIMPLE, STREAMS> {
    #[inline(always)]
    fn new(
        plan: &Plan<L::Scalar>,
        s: usize,
        rows: usize,
        gains: &'a [L::Scalar],
        out: Row<'a, L>,
    ) -> Self {
        let gains = has_gains(plan, s).then_some(&gains[PAD..]);
        let wide = (rows - 1) * plan.layout.row + plan.layout.shape[0];
        let wide = wide.next_multiple_of(L::WIDTH);
        out.check(wide);
        assert!(gains.is_none_or(|gains| wide <= gains.len()));
        End { wide, spread: L::lit(1.0), gains, out, spoiled: [L::lit(0.0); 2] }
    }

    /// As [`put`](End::put), where only these cells belong to the domain.
    #[inline(always)]
    fn among_solids(&mut self, x: usize, cells: L::Mask, slope: L) {
        let slope = self.with_gains(x, slope);
        // SAFETY: packs up to `wide` lie within the output, and tiles end with a fence.
        let value = unsafe { self.out.among_solids::<SIMPLE, STREAMS>(x, cells, slope) };
        self.written(value);
    }

    #[inline(always)]
    fn with_gains(&self, x: usize, slope: L) -> L {
        debug_assert!(x + L::WIDTH <= self.wide);
        match self.gains {
            // SAFETY: packs up to `wide` lie within the gains.
            Some(gains) if !SIMPLE => slope + unsafe { row::within::<L>(gains, x) },
            _ => slope,
        }
    }

    #[inline(always)]
    fn written(&mut self, value: L) {
        let [last, other] = self.spoiled;
        self.spoiled = [value.mul_add(L::lit(0.0), other), last];
    }

    /// Takes F but for gains at `x`, of which so many lanes are cells.
    #[inline(always)]
    fn put(&mut self, x: usize, cells: usize, slope: L) {
        let slope = self.with_gains(x, slope);
        let out = &mut self.out;
        // SAFETY: packs up to `wide` lie within the output, and tiles end with a fence.
        let value = unsafe {
            if cells == L::WIDTH {
                out.whole::<SIMPLE, STREAMS>(x, slope)
            } else {
                out.part(x, cells, slope)
            }
        };
        self.written(value);
    }
}

impl<L: Lanes, const SIMPLE: bool, const STREAMS: bool> Sink<L> for End<'_, L, SIMPLE, STREAMS> {
    #[inline(always)]
    fn take(&mut self, x: usize, cells: usize, sum: L) {
        self.put(x, cells, sum * self.spread);
    }
}
