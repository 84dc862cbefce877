//! Planes that go from a slab to its neighbours, while the rest of it is swept.
//!
//! A part sweeps the planes first that neighbours hold copies of. A queue of its own takes these to
//! them, and the next sweep begins when they have come. Nobody waits on this side.

use super::machine::Machine;
use super::part::{Part, Ready};
use crate::backend::Slot;
use crate::slab::HALO;
use odeum_ode::{Error, Scalar};

/// What each part sends by; empty for one alone.
pub(super) struct Links<M: Machine>(Vec<Link<M>>);

struct Link<M: Machine> {
    /// A queue beside that of the sweeps.
    queue: M,
    /// The edges of the last sweep are there, and what it read of neighbours' is free.
    swept: M::Point,
    /// They have come to the neighbours.
    sent: M::Point,
}

impl<M: Machine> Links<M> {
    pub(super) fn new(machines: &[M]) -> Result<Links<M>, Error> {
        if machines.len() == 1 {
            return Ok(Links(Vec::new()));
        }
        for (n, machine) in machines.iter().enumerate() {
            for other in machines.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, o)| o) {
                machine.befriend(other)?;
            }
        }
        let link = |machine: &M| {
            let queue = machine.twin()?;
            Ok(Link { swept: machine.point()?, sent: queue.point()?, queue })
        };
        Ok(Links(machines.iter().map(link).collect::<Result<_, Error>>()?))
    }

    /// Parts that have planes below and above those of part `n`.
    fn beside<T: Scalar>(&self, parts: &[Part<T, M>], n: usize) -> [Option<usize>; 2] {
        let there = parts[n].plan.slab.beside.map(|planes| planes > 0);
        let count = parts.len();
        [there[0].then_some((n + count - 1) % count), there[1].then_some((n + 1) % count)]
    }

    /// What is given to the parts from here on finds all copies there, and may overwrite what they
    /// are copies of.
    pub(super) fn settle<T: Scalar>(&self, parts: &[Part<T, M>]) -> Result<(), Error> {
        for (n, link) in self.0.iter().enumerate() {
            let machine = &parts[n].machine;
            machine.after(&link.sent)?;
            for other in self.beside(parts, n).into_iter().flatten() {
                machine.after(&self.0[other].sent)?;
            }
        }
        Ok(())
    }

    /// Gives a sweep to all parts, whose edges go out.
    pub(super) fn sweep<T: Scalar>(
        &mut self,
        parts: &mut [Part<T, M>],
        ready: &[Ready<M>],
        out: Slot,
    ) -> Result<(), Error> {
        self.settle(parts)?;
        for (n, part) in parts.iter().enumerate() {
            part.sweep_edges(&ready[n])?;
            if let Some(link) = self.0.get_mut(n) {
                part.machine.set(&mut link.swept)?;
            }
        }
        for n in 0..parts.len() {
            self.send(parts, n, out)?;
            parts[n].sweep_inner(&ready[n])?;
        }
        Ok(())
    }

    /// Sends the edges of part `n`, once its neighbours no longer read what is overwritten.
    fn send<T: Scalar>(
        &mut self,
        parts: &mut [Part<T, M>],
        n: usize,
        out: Slot,
    ) -> Result<(), Error> {
        let beside = self.beside(parts, n);
        let Some(link) = self.0.get(n) else { return Ok(()) };
        link.queue.after(&link.swept)?;
        for other in beside.into_iter().flatten() {
            link.queue.after(&self.0[other].swept)?;
        }
        for (side, other) in beside.into_iter().enumerate() {
            let Some(other) = other else { continue };
            let Ok([from, to]) = parts.get_disjoint_mut([n, other]) else { continue };
            let (mine, theirs) = (from.plan.slab, to.plan.slab);
            // Lowest planes go above the neighbour's own, the highest below them.
            let (first, place) = match side {
                0 => (mine.beside[0], theirs.beside[0] + theirs.own),
                _ => (mine.beside[0] + mine.own - HALO, 0),
            };
            let bytes = HALO * from.shape.plane * size_of::<T>();
            for s in 0..from.shape.species {
                let place = to.place(s, place);
                let source = (&from.fields[out as usize], from.place(s, first));
                link.queue.send(source, (&mut to.fields[out as usize], place), bytes)?;
            }
        }
        let link = &mut self.0[n];
        link.queue.set(&mut link.sent)
    }
}

impl<M: Machine> Drop for Links<M> {
    /// The memory may go only when nothing is on its way to it.
    fn drop(&mut self) {
        for link in &self.0 {
            // Nobody is left to be told.
            let _ = link.queue.wait();
        }
    }
}
