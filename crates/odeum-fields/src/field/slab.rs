//! A box cut into slabs along z.

use odeum_ode::Error;

/// Copies of a neighbour's planes that a slab holds at each side: as far as any sweep reaches.
pub(crate) const HALO: usize = 2;

/// Planes of a box along z, and copies of those beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slab {
    /// Planes of the whole box.
    pub(crate) of: usize,
    /// The box continues at its other end.
    pub(crate) round: bool,
    /// The first of its own planes, counted in the box.
    pub(crate) first: usize,
    /// How many are its own.
    pub(crate) own: usize,
    /// Copies below and above these; none where the box ends, or where there is no neighbour.
    pub(crate) beside: [usize; 2],
}

impl Slab {
    /// All planes of a box.
    pub(crate) fn whole(planes: usize, round: bool) -> Slab {
        Slab { of: planes, round, first: 0, own: planes, beside: [0; 2] }
    }

    /// The same planes in so many parts, as equal as may be, from the lowest to the highest.
    pub(crate) fn split(self, parts: usize) -> Result<Vec<Slab>, Error> {
        if parts == 1 {
            return Ok(vec![self]);
        }
        if parts == 0 || self.own < parts * HALO {
            let found = format!("{} planes along z on {parts} GPUs", self.own);
            let remedy = format!("wants at least {}: take fewer GPUs", parts.max(1) * HALO);
            return Err(Error::input("shape", found, remedy));
        }
        let first = |n: usize| n * self.own / parts;
        let beside = |there: bool| if there { HALO } else { 0 };
        let slab = |n: usize| Slab {
            first: first(n),
            own: first(n + 1) - first(n),
            beside: [beside(self.round || n > 0), beside(self.round || n + 1 < parts)],
            ..self
        };
        Ok((0..parts).map(slab).collect())
    }

    /// Whether it is all of the box.
    pub(crate) fn is_whole(&self) -> bool {
        self.own == self.of
    }

    /// Planes that it holds.
    pub(crate) fn planes(&self) -> usize {
        self.beside[0] + self.own + self.beside[1]
    }

    /// Where plane `k` of those it holds lies in the box.
    pub(crate) fn in_box(&self, k: usize) -> usize {
        (self.first + self.of + k - self.beside[0]) % self.of
    }

    /// The first plane that it holds, counted in the box, before whose beginning it may lie.
    pub(crate) fn offset(&self) -> i64 {
        self.first as i64 - self.beside[0] as i64
    }

    /// Own planes that neighbours hold copies of, below and above.
    pub(crate) fn edges(&self) -> [usize; 2] {
        self.beside.map(|planes| planes.min(self.own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plane_has_one_owner() {
        for (planes, parts) in [(4, 2), (7, 3), (512, 4), (17, 8), (5, 1)] {
            for round in [false, true] {
                let slabs = Slab::whole(planes, round).split(parts).unwrap();
                assert_eq!(slabs.len(), parts);
                let mut next = 0;
                for slab in &slabs {
                    assert_eq!(slab.first, next);
                    assert!(parts == 1 || slab.own >= HALO);
                    next += slab.own;
                    for k in 0..slab.planes() {
                        let expected = (slab.offset() + k as i64).rem_euclid(planes as i64);
                        assert_eq!(slab.in_box(k) as i64, expected);
                    }
                }
                assert_eq!(next, planes);
                let outer = if round && parts > 1 { HALO } else { 0 };
                assert_eq!((slabs[0].beside[0], slabs[parts - 1].beside[1]), (outer, outer));
            }
        }
    }

    #[test]
    fn thin_boxes_say_what_they_lack() {
        let error = Slab::whole(5, false).split(3).unwrap_err().to_string();
        assert!(error.contains("5 planes along z") && error.contains("at least 6"), "{error}");
        assert!(Slab::whole(5, false).split(0).is_err());
    }
}
