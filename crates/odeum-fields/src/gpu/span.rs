//! Planes that a launch goes through.

use crate::field::slab::Slab;

/// `OdSpan`: block n along z takes `planes` of them from `first` + n `stride` on, and none from
/// `last` on. Counted from the first plane that a slab holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Span {
    first: i32,
    last: i32,
    planes: i32,
    stride: i32,
}

/// A part of the planes of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Those that neighbours hold copies of.
    Edges,
    /// The others.
    Inner,
}

/// The own planes of a slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spans {
    edges: Option<Span>,
    inner: Option<Span>,
}

impl Span {
    fn new(first: usize, count: usize, planes: usize, stride: usize) -> Option<Span> {
        let [first, count, planes, stride] = [first, count, planes, stride].map(|n| n as i32);
        (count > 0).then_some(Span { first, last: first + count, planes, stride })
    }

    /// Whether a plane is one of these.
    pub(super) fn covers(&self, plane: usize) -> bool {
        let plane = plane as i32;
        let after = plane - self.first;
        (self.first..self.last).contains(&plane) && after % self.stride < self.planes
    }

    /// Blocks along z.
    pub(super) fn blocks(&self) -> usize {
        ((self.last - self.first) as usize).div_ceil(self.stride as usize)
    }
}

impl Spans {
    pub(super) fn of(&self, piece: Piece) -> Option<Span> {
        match piece {
            Piece::Edges => self.edges,
            Piece::Inner => self.inner,
        }
    }

    /// Both edges go into one launch, and by as many planes as `planes` says of a number of them
    /// the others.
    pub(super) fn new(slab: &Slab, planes: impl FnOnce(usize) -> usize) -> Spans {
        let ([low, high], own, first) = (slab.edges(), slab.own, slab.beside[0]);
        let edges = match own.checked_sub(low + high) {
            None | Some(0) => return Spans { edges: Span::new(first, own, own, own), inner: None },
            _ if low > 0 && high > 0 => Span::new(first, own, low, own - high),
            _ if low > 0 => Span::new(first, low, low, low),
            _ => Span::new(first + own - high, high, high, high),
        };
        let count = own - low - high;
        let planes = planes(count);
        Spans { edges, inner: Span::new(first + low, count, planes, planes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each plane is swept.
    fn swept(span: Option<Span>, times: &mut [u32]) {
        let Some(span) = span else { return };
        for n in 0..span.blocks() as i32 {
            let begin = span.first + n * span.stride;
            for plane in begin..(begin + span.planes).min(span.last) {
                times[plane as usize] += 1;
            }
        }
    }

    #[test]
    fn every_own_plane_is_swept_once() {
        for beside in [[0, 0], [2, 0], [0, 2], [2, 2]] {
            for own in 2..12 {
                let slab = Slab { of: 40, round: false, first: 7, own, beside };
                let spans = Spans::new(&slab, |count| count.div_ceil(2));
                let mut times = vec![0; slab.planes()];
                swept(spans.edges, &mut times);
                for (k, count) in times.iter().enumerate() {
                    let low = k >= beside[0] && k < beside[0] + slab.edges()[0];
                    let end = beside[0] + own;
                    let high = k >= end - slab.edges()[1] && k < end;
                    assert!(*count == 1 || !(low || high), "{slab:?} {times:?}");
                }
                swept(spans.inner, &mut times);
                let own = beside[0]..beside[0] + own;
                let once = |(k, n): (usize, &u32)| *n == u32::from(own.contains(&k));
                assert!(times.iter().enumerate().all(once), "{slab:?} {times:?}");
            }
        }
    }
}
