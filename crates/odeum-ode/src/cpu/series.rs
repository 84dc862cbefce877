//! A series: threads integrate its parts while another one makes them and gives their solutions away.

use super::Run;
use super::pool::Pool;
use super::work_queue::{ProducerTask, WorkQueue};
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
        let queue = WorkQueue::of_series(self.options, pool(first));
        let ranges = self.on_lanes.ranges();
        let task = self.task(&queue, &ranges, sizes, (systems, threads));
        std::thread::scope(|scope| {
            let maker = queue.maker();
            let another = |_| {
                let at_work = queue.at_work();
                let work = || {
                    let _at_work = at_work;
                    self.integrate(&task);
                };
                computing_thread().spawn_scoped(scope, work).ok()
            };
            // Those that begin do the work of those that the system does not give.
            let begun: Vec<_> = (0..threads).filter_map(another).collect();
            if begun.is_empty() {
                queue.complete();
                self.integrate(&task);
            }
            loop {
                match queue.turn() {
                    ProducerTask::MakePart => match parts.next() {
                        Some(made) => queue.add(pool(made)),
                        None => queue.complete(),
                    },
                    ProducerTask::DeliverSolution(pool) => {
                        if let Some((number, solution)) = pool.take() {
                            parts.ended(number, solution);
                        }
                    }
                    ProducerTask::Stop => break,
                }
            }
            drop(maker);
            begun.into_iter().for_each(joined);
        });
        for (number, solution) in queue.undelivered() {
            parts.ended(number, solution);
        }
        Ok(self.remarks(&queue, &sample, systems))
    }
}
