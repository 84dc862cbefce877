//! Planes that go from a slab to its neighbours, while the rest of it is swept.
//!
//! A part sweeps the planes first that neighbours hold copies of. A stream of its own takes these to
//! them, and the next sweep begins when they have come. Nobody waits on this side.

use super::part::{Part, StepLaunch};
use crate::backend::Slot;
use crate::field::slab::HALO;
use odeum_cuda::{Device, Stream};
use odeum_ode::{Error, Scalar};

/// What each part sends by; empty for one alone.
pub(super) struct Links<D: Device>(Vec<Link<D>>);

struct Link<D: Device> {
    /// A stream beside that of the sweeps.
    stream: D::Stream,
    /// The edges of the last sweep are there, and what it read of neighbours' is free.
    swept: D::Event,
    /// They have come to the neighbours.
    sent: D::Event,
}

impl<D: Device> Links<D> {
    pub(super) fn new(devices: &[D]) -> Result<Links<D>, Error> {
        if devices.len() == 1 {
            return Ok(Links(Vec::new()));
        }
        for (n, device) in devices.iter().enumerate() {
            for other in devices.iter().enumerate().filter(|(m, _)| *m != n).map(|(_, o)| o) {
                device.enable_peer_access(other)?;
            }
        }
        let link = |device: &D| {
            Ok(Link { stream: device.stream()?, swept: device.event()?, sent: device.event()? })
        };
        Ok(Links(devices.iter().map(link).collect::<Result<_, Error>>()?))
    }

    /// Parts that have planes below and above those of part `n`.
    fn beside<T: Scalar>(&self, parts: &[Part<T, D>], n: usize) -> [Option<usize>; 2] {
        let there = parts[n].plan.slab.beside.map(|planes| planes > 0);
        let count = parts.len();
        [there[0].then_some((n + count - 1) % count), there[1].then_some((n + 1) % count)]
    }

    /// What is given to the parts from here on finds all copies there, and may overwrite what they
    /// are copies of.
    pub(super) fn settle<T: Scalar>(&self, parts: &[Part<T, D>]) -> Result<(), Error> {
        for (n, link) in self.0.iter().enumerate() {
            let stream = &parts[n].stream;
            stream.wait_event(&link.sent)?;
            for other in self.beside(parts, n).into_iter().flatten() {
                stream.wait_event(&self.0[other].sent)?;
            }
        }
        Ok(())
    }

    /// Waits until what was sent has come.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.0.iter().try_for_each(|link| link.stream.wait())
    }

    /// Gives a sweep to all parts, whose edges go out.
    pub(super) fn sweep<T: Scalar>(
        &mut self,
        parts: &mut [Part<T, D>],
        launches: &[StepLaunch<D>],
        out: Slot,
    ) -> Result<(), Error> {
        self.settle(parts)?;
        for (n, part) in parts.iter().enumerate() {
            part.sweep_edges(&launches[n])?;
            if let Some(link) = self.0.get_mut(n) {
                part.stream.record_event(&mut link.swept)?;
            }
        }
        for n in 0..parts.len() {
            self.send(parts, n, out)?;
            parts[n].sweep_inner(&launches[n])?;
        }
        Ok(())
    }

    /// Sends the edges of part `n`, once its neighbours no longer read what is overwritten.
    fn send<T: Scalar>(
        &mut self,
        parts: &mut [Part<T, D>],
        n: usize,
        out: Slot,
    ) -> Result<(), Error> {
        let beside = self.beside(parts, n);
        let Some(link) = self.0.get(n) else { return Ok(()) };
        link.stream.wait_event(&link.swept)?;
        for other in beside.into_iter().flatten() {
            link.stream.wait_event(&self.0[other].swept)?;
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
                link.stream.copy_to_peer(source, (&mut to.fields[out as usize], place), bytes)?;
            }
        }
        let link = &mut self.0[n];
        link.stream.record_event(&mut link.sent)
    }
}

impl<D: Device> Drop for Links<D> {
    /// The memory may go only when nothing is on its way to it.
    fn drop(&mut self) {
        for link in &self.0 {
            // Nobody is left to be told.
            let _ = link.stream.wait();
        }
    }
}
