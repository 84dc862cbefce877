//! The systems in the lanes of one pack: loading, storing, and what each is to reach next.

use super::Task;
use super::claimed::ClaimedSystems;
use super::handover::SuspendedSystem;
use crate::method::stepper::{Cost, set_bits};
use crate::stats::Stats;
use crate::status::Status;
use odeum_core::real::Outlined;
use odeum_core::{Lanes, Scalar};

/// What a lane knows of its system besides the numbers in the pack.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    system: usize,
    /// Of its pool in the hand of this pack.
    slot: usize,
    span: (f64, f64),
    /// At which it ends, where there is a terminal event.
    level: f64,
    /// Segments that are done.
    piece: u32,
    /// Save times that are done.
    saved: u32,
    rejected: u32,
    /// Rejections by the growth guard.
    guarded: u32,
    /// Accepted steps that ended outside the model's data.
    outside: u32,
    /// Value of the attempt counter when the system was loaded.
    loaded_at: u64,
}

impl Lane {
    const EMPTY: Lane = Lane {
        system: usize::MAX,
        slot: usize::MAX,
        span: (0.0, 1.0),
        level: 0.0,
        piece: 0,
        saved: 0,
        rejected: 0,
        guarded: 0,
        outside: 0,
        loaded_at: 0,
    };
}

/// Times, states and parameters of the systems in a pack.
pub(super) struct Pack<L: Lanes> {
    pub(super) t: L,
    /// Time at which the integration next stops, to save, to restart or to end.
    pub(super) stop: L,
    /// Signed length of the present segment.
    pub(super) length: L,
    /// Signed size of the next step.
    pub(super) h: L,
    /// Sizes of first steps that an earlier call ended with.
    pub(super) given: L,
    /// One bit per lane that begins with the step of an earlier call.
    pub(super) resuming: u64,
    pub(super) y: Vec<L>,
    pub(super) p: Vec<L>,
    pub(super) cost: Cost,
    /// One bit per lane that holds a system.
    pub(super) active: u64,
    /// Value of the attempt counter before which no system can have used up its attempts.
    pub(super) deadline: u64,
    /// The same for its evaluations of the right-hand side.
    pub(super) work_deadline: u64,
    lanes: [Lane; 64],
    claimed: ClaimedSystems<L::Scalar>,
}

/// What became of a lane that reached its stop.
enum Arrival {
    /// It goes on towards the next stop.
    Onward,
    /// It begins a new piece.
    Restart,
    /// Its system has ended.
    End,
}

/// What is done for some lanes at stops and at the ends of systems. It is compiled once for each kind of pack, and not into the loop of
/// every method.
struct AtStop<'a, 'b, L: Lanes> {
    pack: &'a mut Pack<L>,
    lanes: u64,
    task: &'a Task<'b, L::Scalar>,
    clock: u64,
    what: What<'a>,
}

enum What<'a> {
    Load(&'a mut u64),
    Arrive { impossible: u64, arrived: &'a mut Arrived },
    Finish(Status),
}

/// What became of lanes that reached their stops; others go on towards the next.
#[derive(Default)]
pub(super) struct Arrived {
    /// Lanes that begin a new piece.
    pub(super) restarting: u64,
    /// Lanes whose system has ended.
    pub(super) ended: u64,
}

impl<L: Lanes> Outlined for AtStop<'_, '_, L> {
    #[inline(always)]
    fn run(self) {
        let AtStop { pack, lanes, task, clock, what } = self;
        match what {
            What::Load(loaded) => {
                for l in set_bits(lanes) {
                    *loaded |= u64::from(pack.load_next(l, task, clock)) << l;
                }
            }
            What::Arrive { impossible, arrived } => {
                for l in set_bits(lanes) {
                    match pack.leave_stop(l, task) {
                        Arrival::Onward => {}
                        Arrival::Restart => arrived.restarting |= 1 << l,
                        Arrival::End => {
                            let status = reached(impossible >> l & 1 == 1, Status::Success);
                            pack.write_end(l, status, task, clock);
                            arrived.ended |= 1 << l;
                        }
                    }
                }
            }
            What::Finish(status) => {
                for l in set_bits(lanes) {
                    pack.write_end(l, status, task, clock);
                }
            }
        }
    }
}

/// How a system ends that has reached its end, or its level, where the state may be impossible.
pub(super) fn reached(is_impossible: bool, status: Status) -> Status {
    if is_impossible { Status::OutsideBounds } else { status }
}

impl<L: Lanes> Pack<L> {
    pub(super) fn new(dim: usize, n_params: usize) -> Self {
        let one = L::lit(1.0);
        Pack {
            t: L::lit(0.0),
            stop: one,
            length: one,
            h: one,
            given: one,
            resuming: 0,
            y: vec![one; dim],
            p: vec![one; n_params],
            cost: Cost::new(),
            active: 0,
            deadline: u64::MAX,
            work_deadline: u64::MAX,
            lanes: [Lane::EMPTY; 64],
            claimed: ClaimedSystems::new(),
        }
    }

    /// The level at which the system in lane `l` ends.
    pub(super) fn level(&self, l: usize) -> f64 {
        self.lanes[l].level
    }

    /// Puts the next systems into these lanes, on their way to their first stops; gives those for which there was one.
    #[inline(always)]
    pub(super) fn load(&mut self, lanes: u64, task: &Task<'_, L::Scalar>, clock: u64) -> u64 {
        let mut loaded = 0;
        if lanes != 0 {
            L::outline(AtStop { pack: self, lanes, task, clock, what: What::Load(&mut loaded) });
        }
        loaded
    }

    /// These lanes stand at their stops; where that is the end the result is written. `impossible`: lanes whose states cannot be.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        (lanes, impossible): (u64, u64),
        task: &Task<'_, L::Scalar>,
        clock: u64,
    ) -> Arrived {
        let mut arrived = Arrived::default();
        let what = What::Arrive { impossible, arrived: &mut arrived };
        L::outline(AtStop { pack: self, lanes, task, clock, what });
        arrived
    }

    /// Writes the result of lane `l`, whose system ends in `status`.
    #[inline(always)]
    pub(super) fn finish(
        &mut self,
        l: usize,
        status: Status,
        task: &Task<'_, L::Scalar>,
        clock: u64,
    ) {
        L::outline(AtStop { pack: self, lanes: 1 << l, task, clock, what: What::Finish(status) });
    }

    #[inline(always)]
    fn load_next(&mut self, l: usize, task: &Task<L::Scalar>, clock: u64) -> bool {
        self.active &= !(1 << l);
        if task.monitor.is_stopped() {
            return false;
        }
        let (s, slot, ensemble) = loop {
            let Some((s, slot)) = self.claimed.next(task.queue) else { return false };
            let ensemble = task.queue.inputs(self.claimed.pool(slot));
            if !ensemble.starts_invalid(s) {
                break (s, slot, ensemble);
            }
            self.refuse(s, slot, task);
        };
        let span = ensemble.span(s);
        // In the precision of what is compared with it: what starts at its level is at it.
        let level = L::Scalar::from_f64(task.queue.level(self.claimed.pool(slot), s)).to_f64();
        self.lanes[l] = Lane { system: s, slot, span, level, loaded_at: clock, ..Lane::EMPTY };
        for (i, y) in self.y.iter_mut().enumerate() {
            y.set_lane(l, ensemble.states().at(s, i));
        }
        for (j, p) in self.p.iter_mut().enumerate() {
            p.set_lane(l, ensemble.params().at(s, j));
        }
        self.t.set_lane(l, L::Scalar::from_f64(span.0));
        if let Some(step) = ensemble.first_step(s) {
            self.given.set_lane(l, step);
            self.resuming |= 1 << l;
        }
        self.claimed.begin(slot);
        self.cost.reset(l);
        self.active |= 1 << l;
        self.deadline = self.deadline.min(clock + u64::from(task.options.max_steps));
        self.work_deadline = clock;
        self.aim(l, task);
        true
    }

    /// The system of lane `l` between two steps, without what others remember of it.
    pub(super) fn leave(&self, l: usize, clock: u64) -> SuspendedSystem<L::Scalar> {
        let of = |all: &[L]| all.iter().map(|x| x.lane(l)).collect();
        let zero = L::Scalar::from_f64(0.0);
        SuspendedSystem {
            lane: self.lanes[l],
            pool: self.claimed.pool(self.lanes[l].slot).clone(),
            attempts: clock - self.lanes[l].loaded_at,
            t: self.t.lane(l),
            h: self.h.lane(l),
            y: of(&self.y),
            p: of(&self.p),
            cost: self.cost.of(l),
            control: [zero; 4],
            guard: [zero; 2],
            causes: 0,
        }
    }

    /// Puts a system that has left another pack into lane `l`. It begins with the size of its next step.
    pub(super) fn take_up(
        &mut self,
        l: usize,
        system: &SuspendedSystem<L::Scalar>,
        task: &Task<L::Scalar>,
        clock: u64,
    ) {
        let slot = self.claimed.take_up(&system.pool);
        self.lanes[l] = Lane { slot, loaded_at: clock - system.attempts, ..system.lane };
        for (place, value) in self.y.iter_mut().zip(&system.y) {
            place.set_lane(l, *value);
        }
        for (place, value) in self.p.iter_mut().zip(&system.p) {
            place.set_lane(l, *value);
        }
        self.t.set_lane(l, system.t);
        self.given.set_lane(l, system.h);
        self.resuming |= 1 << l;
        self.active |= 1 << l;
        let last = self.lanes[l].loaded_at + u64::from(task.options.max_steps);
        self.deadline = self.deadline.min(last);
        self.work_deadline = clock;
        self.aim(l, task);
    }

    /// Writes the result of a system that starts from no numbers.
    fn refuse(&mut self, s: usize, slot: usize, task: &Task<L::Scalar>) {
        let pool = self.claimed.pool(slot);
        let (ensemble, results) = (task.queue.inputs(pool), pool.results());
        for i in 0..task.dim {
            // SAFETY: this pack drew `s` from the pool; i counts components.
            unsafe { results.write_state(s, i, ensemble.state(s, i)) };
        }
        let (t, status) = (ensemble.span(s).0, Status::InvalidStart);
        // SAFETY: this pack drew `s` from the pool.
        unsafe { results.write_end(s, t, status, Stats::default()) };
        self.claimed.begin(slot);
        self.claimed.end(slot);
        task.monitor.add_finished(1);
    }

    /// No system comes any more: counts what has ended.
    pub(super) fn settle(&mut self, task: &Task<L::Scalar>) {
        self.claimed.settle(task.queue);
    }

    /// Sets stop and length of lane `l` for the piece it is in, after saving whatever falls on
    /// the present time.
    #[inline(always)]
    fn aim(&mut self, l: usize, task: &Task<L::Scalar>) {
        let t = self.t.lane(l);
        self.save_due(l, t, task);
        let end = self.piece_end(l, task);
        let lane = &self.lanes[l];
        let next_save = task.options.save_times().get(lane.saved as usize);
        let stop = match next_save {
            Some(&save) if (save < end) == (lane.span.1 > lane.span.0) => save,
            _ => end,
        };
        self.stop.set_lane(l, L::Scalar::from_f64(stop));
    }

    /// Sets the length of the present piece of lane `l`.
    #[inline(always)]
    pub(super) fn measure(&mut self, l: usize, task: &Task<L::Scalar>) {
        let length = self.piece_end(l, task) - self.t.lane(l).to_f64();
        self.length.set_lane(l, L::Scalar::from_f64(length));
    }

    #[inline(always)]
    fn leave_stop(&mut self, l: usize, task: &Task<L::Scalar>) -> Arrival {
        let t = self.t.lane(l);
        self.save_due(l, t, task);
        if t != L::Scalar::from_f64(self.piece_end(l, task)) {
            self.aim(l, task);
            return Arrival::Onward;
        }
        self.lanes[l].piece += 1;
        if self.lanes[l].piece >= task.options.segments {
            return Arrival::End;
        }
        self.aim(l, task);
        if task.options.warm_start { Arrival::Onward } else { Arrival::Restart }
    }

    #[inline(always)]
    fn write_end(&mut self, l: usize, status: Status, task: &Task<L::Scalar>, clock: u64) {
        self.save_due(l, self.t.lane(l), task);
        let lane = self.lanes[l];
        let (s, results) = (lane.system, self.claimed.pool(lane.slot).results());
        for (i, y) in self.y.iter().enumerate() {
            // SAFETY: this pack drew `s` from the pool; i counts components.
            unsafe { results.write_state(s, i, y.lane(l)) };
        }
        let stats = Stats {
            steps: (clock - lane.loaded_at) as u32 - lane.rejected,
            rejected: lane.rejected,
            nfev: self.cost.nfev[l],
            nfev_radius: self.cost.nfev_radius[l],
            njev: self.cost.njev[l],
            nlu: self.cost.nlu[l],
            guarded: lane.guarded,
            outside: lane.outside,
        };
        // SAFETY: this pack drew `s` from the pool.
        unsafe { results.write_end(s, self.t.lane(l).to_f64(), status, stats) };
        // What made a system fail made its steps small, or no numbers: it begins anew where it is tried again.
        let next = if status.is_success() { self.h.abs().lane(l) } else { L::Scalar::default() };
        // SAFETY: as above.
        unsafe { results.write_next_step(s, next) };
        self.claimed.end(lane.slot);
        task.monitor.add_finished(1);
    }

    /// Counts a rejection in each lane whose bit is set.
    #[inline(always)]
    pub(super) fn count_rejections(&mut self, lanes: u64) {
        for l in set_bits(lanes) {
            self.lanes[l].rejected += 1;
        }
    }

    /// Counts a rejection by the growth guard in each lane whose bit is set.
    #[inline(always)]
    pub(super) fn count_guarded(&mut self, lanes: u64) {
        for l in set_bits(lanes) {
            self.lanes[l].guarded += 1;
        }
    }

    /// Counts a step that ended outside the model's data in each lane whose bit is set.
    #[inline(always)]
    pub(super) fn count_outside(&mut self, lanes: u64) {
        for l in set_bits(lanes) {
            self.lanes[l].outside += 1;
        }
    }

    /// The lanes that have made as many evaluations as a system may; sets the time of the next
    /// look, from how many one attempt takes `at_most`.
    pub(super) fn overworked(&mut self, limit: u32, at_most: Option<u32>, clock: u64) -> u64 {
        let mut over = 0;
        self.work_deadline = u64::MAX;
        for l in set_bits(self.active) {
            let left = limit.saturating_sub(self.cost.nfev[l]);
            if left == 0 {
                over |= 1 << l;
            }
            let attempts = at_most.map_or(1, |most| (left / most).max(1));
            self.work_deadline = self.work_deadline.min(clock + u64::from(attempts));
        }
        over
    }

    /// The lanes that have made as many attempts as a system may; sets the time of the next look.
    pub(super) fn overdue(&mut self, task: &Task<L::Scalar>, clock: u64) -> u64 {
        let limit = u64::from(task.options.max_steps);
        let mut overdue = 0;
        self.deadline = u64::MAX;
        for l in set_bits(self.active) {
            let last = self.lanes[l].loaded_at + limit;
            if clock >= last {
                overdue |= 1 << l;
            } else {
                self.deadline = self.deadline.min(last);
            }
        }
        overdue
    }

    /// The end of the present piece of lane `l`; of the last one, exactly the end of the span.
    #[inline(always)]
    fn piece_end(&self, l: usize, task: &Task<L::Scalar>) -> f64 {
        let lane = &self.lanes[l];
        let (t0, t1) = lane.span;
        let (done, pieces) = (lane.piece + 1, task.options.segments);
        if done >= pieces { t1 } else { t0 + (t1 - t0) * (f64::from(done) / f64::from(pieces)) }
    }

    /// Saves the state of lane `l` for every save time that is the time `t` in its precision.
    #[inline(always)]
    fn save_due(&mut self, l: usize, t: L::Scalar, task: &Task<L::Scalar>) {
        let times = task.options.save_times();
        while let Some(&time) = times.get(self.lanes[l].saved as usize) {
            if L::Scalar::from_f64(time) != t {
                break;
            }
            let lane = &mut self.lanes[l];
            let results = self.claimed.pool(lane.slot).results();
            for (i, y) in self.y.iter().enumerate() {
                // SAFETY: this pack drew the system from the pool; the time is one of those that are saved.
                unsafe { results.write_saved(lane.system, lane.saved as usize, i, y.lane(l)) };
            }
            lane.saved += 1;
            // SAFETY: this pack drew the system from the pool; there are save times.
            unsafe { results.write_n_saved(lane.system, lane.saved) };
        }
    }
}
