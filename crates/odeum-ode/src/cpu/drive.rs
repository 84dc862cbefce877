//! The loop that takes a pack of systems through their spans.

use super::Task;
use super::event::{self, Sight, Step, Watch};
use super::guard::Guard;
use super::handover::{Handover, SuspendedSystem};
use super::pack::{Pack, reached};
use super::ranges::Ranges;
use crate::controller::{
    Controller, ControllerState, STRETCH, exact_step, no_shorter_step, shorter_step,
};
use crate::method::first_step::moving;
use crate::method::stepper::{Attempt, First, Point, Start, Stepper, set_bits};
use crate::options::FirstStep;
use crate::status::Status;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// Integrates systems until there are no more.
#[inline(always)]
pub(super) fn drive<L: Lanes, M: Stepper<L> + ?Sized>(
    stepper: &mut M,
    controller: Controller,
    task: &Task<L::Scalar>,
) {
    let options = task.options;
    let mut pack = Pack::<L>::new(task.dim, task.n_params);
    let mut control = ControllerState::<L>::new(controller, stepper.error_order());
    let first = controller.fixed_step().map_or(options.first_step, FirstStep::Size);
    let first = First::<L>::new(first);
    let largest = L::lit(options.largest_step.unwrap_or(f64::INFINITY));
    let zero = L::lit(0.0);
    // What a pair of packs has left for this one.
    let mut left = task.handover.map(Handover::take).unwrap_or_default();
    let leaves = task.handover.filter(|_| left.is_empty() && options.terminal_event.is_none());
    // Attempts the pack has made: every lane counts its own from the value at which it began.
    let mut clock = left.iter().map(|system| system.attempts).max().unwrap_or(0);
    let (mut busy, mut offered) = (0_u64, 0_u64);
    let mut causes = Causes::default();
    let mut watch = options.terminal_event.as_ref().map(|event| Watch::<L>::new(event, task));

    let guarded = stepper.pole().is_finite();
    let mut guard = options.growth_limit.filter(|_| guarded).map(Guard::<L>::new);
    // A size given is that of every step, whatever was cut for a stop or a level.
    let given = controller.fixed_step().map(L::lit);
    let fixed = given.is_some();
    let ranges = Ranges::new(task.ranges, &options.tolerance.atol_of(task.dim));

    for (l, system) in left.iter().enumerate() {
        pack.take_up(l, system, task, clock);
    }
    let taken = pack.active;
    let mut restarting = taken | pack.load(lowest(L::WIDTH) & !taken, task, clock);
    loop {
        if restarting != 0 {
            for l in set_bits(restarting) {
                pack.measure(l, task);
            }
            let restarted = L::from_bits(restarting);
            control.reset(restarted);
            // Lanes whose first step is that of an earlier call, apart from those that must find theirs:
            // what a lane does and counts depends on no other. They come first: implicit methods only note
            // there that the lane has moved, and count what they then evaluate once for each such lane.
            let resuming = if fixed { 0 } else { restarting & pack.resuming };
            pack.resuming = 0;
            for (lanes, first) in
                [(resuming, First::Sizes(pack.given)), (restarting & !resuming, first)]
            {
                if lanes == 0 {
                    continue;
                }
                let (stepper, pack) = (&mut *stepper, &mut pack);
                L::outline(Begin { stepper, pack, lanes, first, fixed, largest });
            }
            causes.forget(restarting);
            if let Some(guard) = &mut guard {
                guard.forget(restarted);
            }
            if let Some(watch) = &mut watch {
                watch.forget(restarting);
            }
            for (l, system) in left.drain(..).enumerate() {
                // Whatever the beginning has found of it, it is in the midst of its way.
                pack.h.set_lane(l, system.h);
                pack.cost.set(l, system.cost);
                let mut memory = control.memory();
                memory.iter_mut().zip(system.control).for_each(|(all, own)| all.set_lane(l, own));
                control.restore(memory);
                if let Some(guard) = &mut guard {
                    guard.restore(l, system.guard);
                }
                causes.restore(l, system.causes);
            }
        }
        if pack.active == 0 || task.monitor.is_stopped() {
            break;
        }

        let (remaining, step) = (pack.stop - pack.t, exact_step(pack.t, pack.h));
        let cut = (step.abs() * L::lit(STRETCH)).ge(remaining.abs());
        let active = L::from_bits(pack.active);
        // An idle lane attempts a step of no length, the cheapest there is (RKC takes as many
        // stages as the lane that wants most).
        let wanted = L::select(active, L::select(cut, remaining, step), zero);
        let at = Point { t: pack.t, y: &pack.y, p: &pack.p };
        let end = L::select(cut, pack.stop, pack.t + wanted);
        let attempt = stepper.attempt(&at, wanted, end, &mut pack.cost);
        let whole = cut & attempt.h.eq(wanted);
        let t_new = L::select(whole, pack.stop, pack.t + attempt.h);
        let stuck = t_new.eq(pack.t);
        let vetoed =
            guard.as_ref().map_or(L::from_bits(0), |guard| guard.vetoes(attempt.h, attempt.growth));
        // A step the guard rejects must not count as one that passed.
        let error = L::select(vetoed, L::lit(f64::NAN), attempt.error);
        let (passed, factor) = control.judge(attempt.h, error);
        let mut accepted = passed & active & !stuck & !attempt.no_radius;

        let mut sight = Sight::default();
        if let Some(watch) = &mut watch {
            watch.probe(stepper, &mut pack, attempt.h, t_new, L::bits(accepted));
        }
        let state = stepper.state();
        if let Some(watch) = &mut watch {
            let passed = L::bits(accepted);
            let step = Step { state, middle: stepper.middle() };
            sight = watch.look(&pack, &step, t_new, passed);
            accepted = accepted & !L::from_bits(sight.overshot);
        }
        for i in 0..pack.y.len() {
            pack.y[i] = L::select(accepted, state[i], pack.y[i]);
        }
        pack.t = L::select(accepted, t_new, pack.t);
        // The step proposed before a cut is taken up again after it.
        let of = given.map_or(attempt.h, |h| L::select(pack.length.lt(zero), -h, h));
        let mut proposed = stepper.next_step(of, factor);
        if !fixed && let Some(guard) = &mut guard {
            let failed = !passed & !vetoed;
            proposed = guard.next_step(attempt.h, attempt.growth, proposed, vetoed, failed);
        }
        if !fixed {
            proposed = no_shorter_step(pack.t, attempt.h, proposed);
        }
        let resumed = accepted & whole & pack.h.abs().gt(proposed.abs());
        pack.h = L::select(active, bounded(L::select(resumed, pack.h, proposed), largest), pack.h);
        if let Some(watch) = &watch {
            pack.h = watch.aimed(&sight, pack.h);
        }
        stepper.settle(accepted);

        clock += 1;
        let rejected = pack.active & !L::bits(accepted);
        busy += u64::from(pack.active.count_ones());
        offered += L::WIDTH as u64;
        if rejected != 0 {
            if !fixed {
                let shorter = shorter_step(pack.t, attempt.h, pack.h);
                let lanes = L::from_bits(rejected & !sight.overshot);
                pack.h = L::select(lanes, shorter, pack.h);
            }
            pack.count_rejections(rejected);
            pack.count_guarded(rejected & L::bits(vetoed));
            // A step too small to move the time is too small for the cause to show: the cause is
            // that of the rejection before.
            causes.learn(rejected & !L::bits(stuck), &attempt);
            causes.growth |= if fixed { rejected & L::bits(vetoed) } else { 0 };
        }
        let mut impossible = 0;
        if let Some(ranges) = &ranges {
            pack.count_outside(L::bits(accepted & ranges.outside(&pack.y)));
            impossible = L::bits(ranges.impossible(&pack.y));
        }
        let arrived = L::bits(accepted & whole) & !sight.hit;
        let lost = pack.active & !sight.hit & L::bits(stuck | attempt.no_radius | pack.h.eq(zero));
        restarting = 0;
        let mut ended = sight.hit;
        for l in set_bits(sight.hit) {
            let status = reached(impossible >> l & 1 == 1, Status::TerminalEvent);
            pack.finish(l, status, task, clock);
        }
        if arrived | lost != 0 {
            let at_stop = pack.arrive((arrived, impossible), task, clock);
            restarting |= at_stop.restarting;
            ended |= at_stop.ended;
            for l in set_bits(lost & !arrived) {
                let no_radius = L::bits(attempt.no_radius) >> l & 1 == 1;
                let finite = || stepper.slope().iter().all(|f| f.lane(l).is_finite());
                let status = match causes.of(l) {
                    _ if no_radius => Status::SpectralRadius,
                    // No step was taken that could tell the cause.
                    Status::StepTooSmall if !finite() => Status::NonFinite,
                    status => status,
                };
                pack.finish(l, status, task, clock);
                ended |= 1 << l;
            }
        }
        if clock >= pack.work_deadline {
            let looks = if watch.is_some() { event::EVALUATIONS } else { 0 };
            let most = stepper.most_evaluations().map(|most| most + looks);
            let limit = options.max_evaluations;
            for l in set_bits(pack.overworked(limit, most, clock) & !ended) {
                pack.finish(l, Status::MaxEvaluations, task, clock);
                ended |= 1 << l;
                restarting &= !(1 << l);
            }
        }
        if clock >= pack.deadline {
            for l in set_bits(pack.overdue(task, clock) & !ended) {
                pack.finish(l, Status::MaxSteps, task, clock);
                ended |= 1 << l;
                restarting &= !(1 << l);
            }
        }
        restarting |= pack.load(ended, task, clock);
        // Lanes without a system: no more come.
        let fit = 2 * pack.active.count_ones() as usize <= L::WIDTH;
        if let Some(handover) = leaves
            && fit
            && (restarting | rejected & pack.active) == 0
        {
            let memory = control.memory();
            let leave = |l: usize| SuspendedSystem {
                control: memory.map(|all| all.lane(l)),
                guard: guard
                    .as_ref()
                    .map_or([L::Scalar::from_f64(0.0); 2], |guard| guard.memory(l)),
                causes: causes.memory(l),
                ..pack.leave(l, clock)
            };
            handover.give(set_bits(pack.active).map(leave).collect());
            break;
        }
    }
    pack.settle(task);
    task.queue.add_lane_work(busy, offered);
}

/// Begins anew in the lanes whose bit is set: apart from the loop, which is long.
struct Begin<'a, L: Lanes, M: ?Sized> {
    stepper: &'a mut M,
    pack: &'a mut Pack<L>,
    lanes: u64,
    first: First<L>,
    /// Steps have a given size.
    fixed: bool,
    largest: L,
}

impl<L: Lanes, M: Stepper<L> + ?Sized> Outlined for Begin<'_, L, M> {
    #[inline(always)]
    fn run(self) {
        let Begin { stepper, pack, lanes, first, fixed, largest } = self;
        let lanes = L::from_bits(lanes);
        let at = Point { t: pack.t, y: &pack.y, p: &pack.p };
        let start = Start { length: pack.length, first };
        let mut h = stepper.begin(&at, &start, lanes, &mut pack.cost);
        if !fixed {
            let size = moving(h.abs(), pack.t);
            h = L::select(pack.length.lt(L::lit(0.0)), -size, size);
        }
        pack.h = L::select(lanes, bounded(h, largest), pack.h);
    }
}

/// Why lanes rejected last, one bit each, where it was not the size of the error.
#[derive(Default)]
struct Causes {
    non_finite: u64,
    singular: u64,
    diverged: u64,
    /// Growth that a fixed step cannot follow.
    growth: u64,
}

impl Causes {
    fn forget(&mut self, lanes: u64) {
        for cause in
            [&mut self.non_finite, &mut self.singular, &mut self.diverged, &mut self.growth]
        {
            *cause &= !lanes;
        }
    }

    /// Learns why these lanes rejected the attempt.
    #[inline(always)]
    fn learn<L: Lanes>(&mut self, lanes: u64, attempt: &Attempt<L>) {
        self.forget(lanes);
        // An error that is infinite though state and estimate are finite has a weight of zero for
        // its cause: that is a tolerance, and the step is too small for it.
        let finite = L::bits(attempt.error.eq(attempt.error));
        self.singular |= lanes & L::bits(attempt.singular);
        self.diverged |= lanes & L::bits(attempt.diverged);
        self.non_finite |= lanes & !finite & !self.singular & !self.diverged;
    }

    /// What is known of a lane, one bit each.
    fn memory(&self, lane: usize) -> u8 {
        let of = |lanes: u64| (lanes >> lane & 1) as u8;
        of(self.non_finite) | of(self.singular) << 1 | of(self.diverged) << 2 | of(self.growth) << 3
    }

    /// Takes it up.
    fn restore(&mut self, lane: usize, memory: u8) {
        let all = [&mut self.non_finite, &mut self.singular, &mut self.diverged, &mut self.growth];
        for (k, lanes) in all.into_iter().enumerate() {
            *lanes |= u64::from(memory >> k & 1) << lane;
        }
    }

    /// How a system ends whose step has become too small.
    fn of(&self, lane: usize) -> Status {
        let is = |cause: u64| cause >> lane & 1 == 1;
        if is(self.growth) {
            Status::GrowthUnresolved
        } else if is(self.singular) {
            Status::SingularMatrix
        } else if is(self.diverged) {
            Status::NewtonDiverged
        } else if is(self.non_finite) {
            Status::NonFinite
        } else {
            Status::StepTooSmall
        }
    }
}

/// As many bits, from the lowest on.
fn lowest(bits: usize) -> u64 {
    u64::MAX >> (64 - bits)
}

/// `h`, no longer than `largest` in either direction.
#[inline(always)]
fn bounded<L: Lanes>(h: L, largest: L) -> L {
    let capped = L::select(h.lt(L::lit(0.0)), -largest, largest);
    L::select(h.abs().gt(largest), capped, h)
}
