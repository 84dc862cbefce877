//! The loop that takes a pack of systems through their spans.

use super::Task;
use super::pack::{Arrival, Pack};
use crate::controller::{Control, Controller};
use crate::method::stepper::{Point, Start, Stepper, set_bits};
use crate::options::FirstStep;
use crate::status::Status;
use odeum_core::{Lanes, System};

/// A step that would leave less than this share of itself to the stop goes there at once, so
/// that rounding never leaves a sliver (Hairer, Nørsett & Wanner's DOPRI5 does the same).
const REACH: f64 = 1.01;

/// Integrates systems from the queue until it is empty.
#[inline(always)]
pub(super) fn drive<L: Lanes, S: System, M: Stepper<L>>(
    system: &S,
    mut stepper: M,
    controller: Controller,
    task: &Task<L::Scalar>,
) {
    let options = task.options;
    let mut pack = Pack::<L>::new(system.dim(), system.n_params());
    let mut control = Control::<L>::new(controller, stepper.error_order());
    let first = controller.fixed_step().map_or(options.first_step, FirstStep::Size);
    let largest = L::lit(options.largest_step.unwrap_or(f64::INFINITY));
    let zero = L::lit(0.0);
    // Attempts the pack has made: every lane counts its own from the value at which it began.
    let mut clock = 0_u64;
    let (mut busy, mut offered) = (0_u64, 0_u64);
    // Lanes whose last rejection was for a state that was not finite.
    let mut spoiled = 0_u64;

    let mut restarting = 0_u64;
    for l in 0..L::WIDTH {
        if pack.load(l, task, clock) {
            pack.aim(l, task);
            restarting |= 1 << l;
        }
    }
    loop {
        if restarting != 0 {
            for l in set_bits(restarting) {
                pack.measure(l, task);
            }
            let fresh = L::from_bits(restarting);
            control.reset(fresh);
            let at = Point { t: pack.t, y: &pack.y, p: &pack.p };
            let start = Start { length: pack.length, first };
            let h = stepper.begin(system, &at, &start, fresh, &mut pack.cost);
            pack.h = L::select(fresh, bounded(h, largest), pack.h);
            spoiled &= !restarting;
        }
        if pack.active == 0 || task.monitor.is_stopped() {
            break;
        }

        let remaining = pack.stop - pack.t;
        let cut = (pack.h.abs() * L::lit(REACH)).ge(remaining.abs());
        let active = L::from_bits(pack.active);
        // An idle lane attempts a step of no length, the cheapest there is (RKC takes as many
        // stages as the lane that wants most).
        let wanted = L::select(active, L::select(cut, remaining, pack.h), zero);
        let at = Point { t: pack.t, y: &pack.y, p: &pack.p };
        let attempt = stepper.attempt(system, &at, wanted, &mut pack.cost);
        let whole = cut & attempt.h.eq(wanted);
        let t_new = L::select(whole, pack.stop, pack.t + attempt.h);
        let stuck = t_new.eq(pack.t);
        let (passed, factor) = control.judge(attempt.h, attempt.error);
        let accepted = passed & active & !stuck & !attempt.no_radius;

        let state = stepper.state();
        for i in 0..pack.y.len() {
            pack.y[i] = L::select(accepted, state[i], pack.y[i]);
        }
        pack.t = L::select(accepted, t_new, pack.t);
        // The step proposed before a cut is taken up again after it.
        let proposed = attempt.h * factor;
        let resumed = accepted & whole & pack.h.abs().gt(proposed.abs());
        pack.h = L::select(active, bounded(L::select(resumed, pack.h, proposed), largest), pack.h);
        stepper.settle(accepted);

        clock += 1;
        let rejected = pack.active & !L::bits(accepted);
        busy += u64::from(pack.active.count_ones());
        offered += L::WIDTH as u64;
        if rejected != 0 {
            pack.count_rejections(rejected);
            // A step too small to move the time is too small for the cause to show: the cause is
            // that of the rejection before.
            let finite = L::bits(attempt.error.lt(L::lit(f64::INFINITY)));
            let judged = rejected & !L::bits(stuck);
            spoiled = (spoiled & !judged) | (judged & !finite);
        }

        let arrived = L::bits(accepted & whole);
        let lost = pack.active & L::bits(stuck | attempt.no_radius | pack.h.eq(zero));
        restarting = 0;
        let mut ended = 0_u64;
        if arrived | lost != 0 {
            for l in set_bits(arrived) {
                match pack.arrive(l, task) {
                    Arrival::Onward => {}
                    Arrival::Restart => restarting |= 1 << l,
                    Arrival::End => {
                        pack.finish(l, Status::Success, task, clock);
                        ended |= 1 << l;
                    }
                }
            }
            for l in set_bits(lost & !arrived) {
                let status = if L::bits(attempt.no_radius) >> l & 1 == 1 {
                    Status::SpectralRadius
                } else if spoiled >> l & 1 == 1 {
                    Status::NonFinite
                } else {
                    Status::StepTooSmall
                };
                pack.finish(l, status, task, clock);
                ended |= 1 << l;
            }
        }
        if clock >= pack.deadline {
            for l in set_bits(pack.overdue(task, clock) & !ended) {
                pack.finish(l, Status::MaxSteps, task, clock);
                ended |= 1 << l;
                restarting &= !(1 << l);
            }
        }
        for l in set_bits(ended) {
            if pack.load(l, task, clock) {
                pack.aim(l, task);
                restarting |= 1 << l;
            }
        }
    }
    task.results.add_lane_work(busy, offered);
}

/// `h`, no longer than `largest` in either direction.
#[inline(always)]
fn bounded<L: Lanes>(h: L, largest: L) -> L {
    let capped = L::select(h.lt(L::lit(0.0)), -largest, largest);
    L::select(h.abs().gt(largest), capped, h)
}
