//! One row of F for all species, and what a sweep makes of it.

use super::combine::{Goal, Row};
use super::gain::{Advected, Gain, Nothing, Precomputed, is_advected};
use super::gather::At;
use super::laplacian::{self, Nine, Sink};
use super::program::{self, Which};
use super::row::{self, PAD};
use super::scratch::{Origin, Scratch, gains, has_gains};
use super::{coded, nine, rod};
use crate::cpu::native::Code;
use crate::plan::{Kernel, Plan};
use odeum_core::Lanes;
use odeum_core::real::Outlined;

/// Computes rows of the output of all species; NaN in a lane when a value is not finite.
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
    let mut non_finite = L::lit(0.0);
    for s in 0..plan.layout.species {
        let out = goal.row(s, Some(origin.around(s).rows(at)));
        non_finite = non_finite + write(origin, scratch, s, at, out);
    }
    non_finite
}

/// Computes what F of row (y, z) is made of, but for Laplacians that [`write()`] takes as they
/// come: gains, and the right-hand sides of a program.
#[inline(always)]
fn compute<L: Lanes>(origin: &Origin<'_, L::Scalar>, scratch: &mut Scratch<L::Scalar>, at: At) {
    let plan = origin.plan;
    for s in (0..plan.layout.species).filter(|s| !is_advected(origin, *s, at)) {
        gains::<L>(origin, scratch, s, at);
    }
    match &plan.kernel {
        Kernel::Tape(tape) => {
            nine::laplacians::<L>(origin, &tape.rhs_inputs, scratch, at);
            program::run::<L>(Which::Rhs, tape, origin, scratch, at);
        }
        Kernel::Diffusion(_) if origin.solids(at).is_none() => {}
        Kernel::Diffusion(_) => {
            for s in 0..plan.layout.species {
                let Scratch { stride, ahead, spare, patch, rates, .. } = scratch;
                let mut rows = [&[][..]; 9];
                let nine = nine::of_species::<L>(origin, (spare, *ahead), s, at, &mut rows);
                let to = &mut rates[s * *stride..(s + 1) * *stride];
                nine::store::<L>(origin, &nine, at, patch, to);
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
    let kind = out.kind();
    let mut non_finite = L::lit(0.0);
    let write = Write { origin, scratch, s, at, out, non_finite: &mut non_finite };
    match kind {
        (true, true) => L::outline(Through::<L, true, true>(write)),
        (true, false) => L::outline(Through::<L, true, false>(write)),
        (false, true) => L::outline(Through::<L, false, true>(write)),
        (false, false) => L::outline(Through::<L, false, false>(write)),
    }
    non_finite
}

struct Write<'a, 'o, L: Lanes> {
    origin: &'a Origin<'o, L::Scalar>,
    scratch: &'a mut Scratch<L::Scalar>,
    s: usize,
    at: At,
    out: Row<'a, L>,
    non_finite: &'a mut L,
}

/// [`write()`] to one kind of row, out of line: its loop wants all registers.
struct Through<'a, 'o, L: Lanes, const SIMPLE: bool, const STREAMS: bool>(Write<'a, 'o, L>);

impl<L: Lanes, const SIMPLE: bool, const STREAMS: bool> Outlined
    for Through<'_, '_, L, SIMPLE, STREAMS>
{
    #[inline(always)]
    fn run(self) {
        let Through(Write { origin, scratch, s, at, out, non_finite }) = self;
        let plan = origin.plan;
        let padded = s * scratch.stride..(s + 1) * scratch.stride;
        let precomputed =
            Precomputed(has_gains(plan, s).then_some(&scratch.gains[padded.clone()][PAD..]));
        let rates = &scratch.rates[padded][PAD..];
        *non_finite = match (&plan.kernel, plan.domain_near((at.y, at.z), at.rows)) {
            (Kernel::Diffusion(d), None) if SIMPLE && plan.is_rod() => {
                let factor = rod::factor(plan, d[s], out.rhs());
                let (here, ends) = (origin.around(s).rows(at), &origin.moment.ghosts[s][0]);
                let rod = rod::Rod { nx: plan.layout.shape[0], here, ends };
                rod.step::<L, STREAMS>(plan, factor, out.cells())
            }
            (Kernel::Diffusion(d), None) => {
                let spare = (&mut scratch.spare[..], scratch.ahead);
                let mut rows = [&[][..]; 9];
                let nine = nine::of_species::<L>(origin, spare, s, at, &mut rows);
                let spread = L::lit(d[s] * plan.weights.scale);
                if is_advected(origin, s, at) {
                    let advected = Advected::new(&nine, origin.moment.speed);
                    let end = End::<L, _, SIMPLE, STREAMS>::new(plan, at.rows, advected, out);
                    end.along(plan, &nine, spread)
                } else if has_gains(plan, s) {
                    let end = End::<L, _, SIMPLE, STREAMS>::new(plan, at.rows, precomputed, out);
                    end.along(plan, &nine, spread)
                } else {
                    let end = End::<L, _, SIMPLE, STREAMS>::new(plan, at.rows, Nothing, out);
                    end.along(plan, &nine, spread)
                }
            }
            (kernel, Some(domain)) => {
                let mut end = End::<L, _, SIMPLE, STREAMS>::new(plan, at.rows, precomputed, out);
                if let Kernel::Diffusion(d) = kernel {
                    end.spread = L::lit(d[s] * plan.weights.scale);
                }
                let nx = plan.layout.shape[0];
                assert!(end.wide <= rates.len());
                for n in 0..at.rows {
                    let begin = n * plan.layout.row;
                    for (x, cells) in domain.row(at.y + n as isize, at.z).packs::<L>(nx) {
                        // SAFETY: packs up to `wide` lie within the right-hand sides.
                        let rhs = unsafe { row::within(rates, begin + x) };
                        end.among_solids(begin + x, cells, rhs);
                    }
                }
                end.non_finite()
            }
            (Kernel::Tape(_), None) => {
                let mut end = End::<L, _, SIMPLE, STREAMS>::new(plan, at.rows, precomputed, out);
                for begin in (0..at.rows).map(|n| n * plan.layout.row) {
                    let mut x = begin;
                    let last = begin + plan.layout.shape[0] - 1;
                    while x + L::WIDTH <= last {
                        end.put(x, L::WIDTH, L::load(&rates[x..x + L::WIDTH]), None);
                        x += L::WIDTH;
                    }
                    end.put(x, last + 1 - x, L::load(&rates[x..x + L::WIDTH]), None);
                }
                end.non_finite()
            }
        };
    }
}

/// The end of a row's way: F but for gains becomes values of the output. A simple one has a simple
/// row.
struct End<'a, L: Lanes, G, const SIMPLE: bool, const STREAMS: bool> {
    wide: usize,
    spread: L,
    gain: G,
    out: Row<'a, L>,
    /// In turn, so that none waits for the last.
    non_finite: [L; 2],
}

impl<'a, L: Lanes, G: Gain<L>, const SIMPLE: bool, const STREAMS: bool>
    End<'a, L, G, SIMPLE, STREAMS>
{
    #[inline(always)]
    fn new(plan: &Plan<L::Scalar>, rows: usize, gain: G, out: Row<'a, L>) -> Self {
        let wide = (rows - 1) * plan.layout.row + plan.layout.shape[0];
        let wide = wide.next_multiple_of(L::WIDTH);
        out.check(wide);
        gain.check(wide);
        End { wide, spread: L::lit(1.0), gain, out, non_finite: [L::lit(0.0); 2] }
    }

    /// Takes Laplacians times `spread` along rows.
    #[inline(always)]
    fn along(mut self, plan: &Plan<L::Scalar>, nine: &Nine<'_, L::Scalar>, spread: L) -> L {
        self.spread = spread;
        laplacian::along(&plan.weights, nine, &mut self);
        self.non_finite()
    }

    /// NaN in a lane when a value was not finite.
    #[inline(always)]
    fn non_finite(&self) -> L {
        self.non_finite[0] + self.non_finite[1]
    }

    /// As [`put`](End::put), where only these cells belong to the domain, and F is over `spread`.
    #[inline(always)]
    fn among_solids(&mut self, x: usize, cells: L::Mask, rhs: L) {
        debug_assert!(x + L::WIDTH <= self.wide);
        // SAFETY: packs up to `wide` lie within the gains and the output, and tiles end with a fence.
        let value = unsafe {
            let rhs = self.gain.added(x, L::WIDTH, rhs * self.spread);
            self.out.among_solids::<SIMPLE, STREAMS>(x, cells, rhs)
        };
        self.written(value);
    }

    #[inline(always)]
    fn written(&mut self, value: L) {
        let [last, other] = self.non_finite;
        self.non_finite = [value.mul_add(L::lit(0.0), other), last];
    }

    /// Takes F but for gains at `x`, of which so many lanes are cells, and the state there where it
    /// is known.
    #[inline(always)]
    fn put(&mut self, x: usize, cells: usize, rhs: L, centre: Option<L>) {
        debug_assert!(x + L::WIDTH <= self.wide);
        // SAFETY: packs up to `wide` lie within the gains and the output, and tiles end with a fence.
        let value = unsafe {
            let rhs = self.gain.added(x, cells, rhs);
            if cells == L::WIDTH {
                self.out.whole::<SIMPLE, STREAMS>(x, rhs, centre)
            } else {
                self.out.part(x, cells, rhs)
            }
        };
        self.written(value);
    }
}

impl<L: Lanes, G: Gain<L>, const SIMPLE: bool, const STREAMS: bool> Sink<L>
    for End<'_, L, G, SIMPLE, STREAMS>
{
    #[inline(always)]
    fn begin(&mut self, at: usize) {
        self.gain.begin(at);
    }

    #[inline(always)]
    fn take(&mut self, x: usize, cells: usize, sum: L, centre: L) {
        self.put(x, cells, sum * self.spread, Some(centre));
    }
}
