//! A series: threads integrate its parts while another one makes them and gives their solutions away.

use super::Run;
use super::feed::{Feed, Turn};
use super::pool::Pool;
use crate::lent::Remarks;
use crate::series::{Made, Parts};
use odeum_core::{Error, Scalar, computing_thread, joined};

impl<T: Scalar> Run<'_, T> {
    /// Integrates the parts of a series; where the system gives no thread, none but the first.
    pub(crate) fn solve_series(&self, parts: &mut Parts<'_, T>) -> Result<Remarks, Error> {
        self.check()?;
        let systems = parts.systems();
        let threads = self.cpu.thread_count().min(systems).max(1);
        let pool = |made: Made<T>| Pool::own(made.number, made.ensemble, made.options, threads);
        let Some(first) = parts.next() else { return Ok(Remarks::default()) };
        let sizes = (first.ensemble.dim(), first.ensemble.n_params());
        let sample = (first.ensemble.initial_state(0), first.ensemble.params_of(0));
        let feed = Feed::of_series(self.options, pool(first));
        let ranges = self.on_lanes.ranges();
        let task = self.task(&feed, &ranges, sizes, (systems, threads));
        std::thread::scope(|scope| {
            let maker = feed.maker();
            let another = |_| {
                let at_work = feed.at_work();
                let work = || {
                    let _at_work = at_work;
                    self.integrate(&task);
                };
                computing_thread().spawn_scoped(scope, work).ok()
            };
            // Those that begin do the work of those that the system does not give.
            let begun: Vec<_> = (0..threads).filter_map(another).collect();
            if begun.is_empty() {
                feed.complete();
                self.integrate(&task);
            }
            loop {
                match feed.turn() {
                    Turn::Make => match parts.next() {
                        Some(made) => feed.add(pool(made)),
                        None => feed.complete(),
                    },
                    Turn::Give(pool) => {
                        if let Some((number, solution)) = pool.take() {
                            parts.ended(number, solution);
                        }
                    }
                    Turn::Leave => break,
                }
            }
            drop(maker);
            begun.into_iter().for_each(joined);
        });
        for (number, solution) in feed.rest() {
            parts.ended(number, solution);
        }
        Ok(self.remarks(&feed, &sample, systems))
    }
}
