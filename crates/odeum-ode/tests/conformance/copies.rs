//! Copies of a system side by side: a large system whose parts are alike, which kernels give to several
//! lanes, with the answers of the small one.

use odeum_ode::{Ensemble, Real, Scalar, Solution, System};

/// As many as make a system too large for the registers of a thread, and not too large for its shared memory.
const MOST: usize = 16;
const COMPONENTS: usize = 64;

pub(crate) struct Copies<'a, S> {
    system: &'a S,
    count: usize,
}

impl<'a, S: System> Copies<'a, S> {
    pub(crate) fn new(system: &'a S) -> Self {
        Copies { system, count: MOST.min(COMPONENTS / system.dim()) }
    }

    /// The ensemble of as many systems, of copies that all begin alike.
    pub(crate) fn ensemble<T: Scalar>(&self, of: &Ensemble<T>) -> Ensemble<T> {
        let spans = (0..of.len()).map(|s| of.span(s)).collect();
        let states = of.states().repeat(self.count);
        let copies = Ensemble::new(self.dim(), states, of.span(0)).unwrap();
        let copies = match of.n_params() {
            0 => copies,
            _ if of.shares_params() => copies.with_shared_params(of.params().to_vec()).unwrap(),
            _ => copies.with_params(of.params().to_vec()).unwrap(),
        };
        if of.shares_span() { copies } else { copies.with_spans(spans).unwrap() }
    }

    /// What the first copy of each system came to. All came to the same.
    pub(crate) fn first<T: Scalar>(&self, of: Solution<T>) -> Solution<T> {
        let (dim, systems) = (self.system.dim(), of.len());
        let first = |all: &[T]| {
            let (head, rest) = all.split_at(dim * systems);
            for copy in rest.chunks(dim * systems) {
                let bits = |values: &[T]| -> Vec<u64> {
                    values.iter().map(|x| x.to_f64().to_bits()).collect()
                };
                assert_eq!(bits(head), bits(copy));
            }
            head.to_vec()
        };
        let saved = of.saved.chunks(self.count * dim * systems).flat_map(first).collect();
        Solution { dim, states: first(&of.states), saved, ..of }
    }
}

impl<S: System> System for Copies<'_, S> {
    fn dim(&self) -> usize {
        self.count * self.system.dim()
    }
    fn n_params(&self) -> usize {
        self.system.n_params()
    }
    #[inline(always)]
    fn rhs<R: Real>(&self, t: R, y: &[R], p: &[R], dydt: &mut [R]) {
        let dim = self.system.dim();
        for (y, dydt) in y.chunks_exact(dim).zip(dydt.chunks_exact_mut(dim)) {
            self.system.rhs(t, y, p, dydt);
        }
    }
}
