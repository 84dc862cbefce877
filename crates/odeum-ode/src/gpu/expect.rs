//! The order of the systems of a first call: by what they will probably cost (device/expect.cuh).

use super::kept::{Kept, Loaded};
use super::launch::blocks;
use super::order::{Costs, Ordered};
use super::plan::Kernel;
use super::task::Task;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Stream, argument};
use std::ops::Range;
use std::sync::Arc;

/// Systems of which the costs are looked at first: those of all take as long as a part of a step.
const SAMPLE: usize = 2048;

/// The kernel that says what systems will probably cost.
pub(super) struct Expected<D: Device> {
    pub(super) kernel: Arc<Kernel>,
    pub(super) loaded: Loaded<D>,
}

impl<D: Device> Expected<D> {
    /// Gives the order of a part, of the systems of `range`, to a stream. `at_once`: systems that the kernel to come integrates at
    /// once.
    ///
    /// # Safety
    /// The arrays of the task, which are those of the part, and `ordered` must live until the stream has been waited for.
    pub(super) unsafe fn order<T: Scalar>(
        &self,
        device: &Kept<D>,
        stream: &D::Stream,
        ordered: &mut Ordered<D>,
        (part, range): (usize, Range<usize>),
        (task, at_once): (&Task<T>, usize),
    ) -> Result<(), Error> {
        let (order, systems) = (device.order()?, range.len());
        let sample = if systems < 2 * SAMPLE { systems } else { SAMPLE };
        let (costs, pays) = (ordered.costs(range.start), ordered.pays(part));
        let of_group = systems as f32 / at_once as f32;
        // SAFETY: the caller's.
        unsafe {
            self.costs(device, stream, task, (costs, sample, 0))?;
            order.judge(stream, ordered, (part, range.start), (sample, of_group))?;
            if sample < systems {
                self.costs(device, stream, task, (costs, systems, pays))?;
            }
            order.sort(stream, ordered, (part, range), Costs::Expected)
        }
    }

    /// Gives the costs of so many systems of a task to a stream, unless a word says that they do not pay.
    ///
    /// # Safety
    /// As [`order`](Expected::order); there is room for the costs.
    unsafe fn costs<T: Scalar>(
        &self,
        device: &Kept<D>,
        stream: &D::Stream,
        task: &Task<T>,
        (costs, count, pays): (u64, usize, u64),
    ) -> Result<(), Error> {
        let Expected { kernel, loaded } = self;
        let mut task = *task;
        task.arrays.tables = loaded.tables();
        let layout = &kernel.layout;
        let (blocks, count) = (blocks(device, loaded, layout, 1, count), count as u32);
        let mut arguments = [argument(&task), argument(&costs), argument(&count), argument(&pays)];
        // SAFETY: the kernel takes these four; the driver copies them before it returns. Of the arrays the caller answers for.
        unsafe {
            let (blocks, threads) = ([blocks, 1, 1], [layout.block, 1]);
            stream.launch(&loaded.kernel, blocks, threads, layout.shared, &mut arguments)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::Ensemble;
    use crate::gpu::arena::{Offsets, Shape};
    use crate::gpu::plan::{Wanted, planned};
    use crate::gpu::source::Traits;
    use crate::gpu::system::DeviceSystem;
    use crate::gpu::task::Lists;
    use crate::{Method, Options, Tolerance};
    use odeum_core::Graph;
    use odeum_cuda::Memory;
    use odeum_cuda::host::{self, Setup};
    use std::collections::BTreeSet;

    /// Of y' = -k y, by a thread and by a warp for each system, of all and of one of each three.
    #[test]
    fn costs_follow_from_the_first_speed_or_the_first_step() {
        if !host::is_available() {
            return eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        }
        let graph = Graph::record(2, 1, |_, y, p| vec![-(p[0] * y[0]), -(p[0] * y[1])]);
        let system = DeviceSystem::recorded(graph, Vec::new());
        let (rtol, atol, span, y) = (1e-6, 1e-9, 2.0, [3.0, 0.5]);
        let rates: Vec<f64> = (0..90).map(|s| 10_f64.powi(s % 9 - 4)).collect();
        let steps: Vec<f64> = (0..90).map(|s| if s % 5 == 1 { 0.01 } else { 0.0 }).collect();
        let states = y.iter().flat_map(|&y| [y; 90]).collect();
        let ensemble = Ensemble::new(2, states, (0.0, span))
            .and_then(|ensemble| ensemble.with_params(rates.clone()))
            .and_then(|ensemble| ensemble.with_first_steps(steps.clone()))
            .unwrap();
        let options = Options::new(Tolerance::new(rtol, atol));
        let device = Kept::new(Setup::new(std::env::temp_dir().join("odeum-expect")).device());
        // By stages the radius counts, which is that of the power method with its margin of a fifth.
        let (rodas4, rkc) = (Method::rodas4(), Method::rkc());
        for (method, width) in [(&rodas4, 1), (&rodas4, 32), (&rkc, 32)] {
            let by_stages = matches!(method, Method::Rkc(_));
            let traits = Traits::new(false, false, method, &options, &[]);
            let wanted = Wanted::new(&system, method, &traits, &device.limits, (false, width));
            let kernel = planned(wanted.costs()).unwrap();
            assert_eq!(kernel.layout.width, width);
            let expected = Expected { loaded: device.load(&kernel).unwrap(), kernel };
            let n_counts = traits.n_counts;
            let shape = Shape::of(&ensemble.inputs(), &options, n_counts);
            let shape = Shape { shared_span: true, ..shape };
            let offsets = Offsets::new(&shape, 90);
            let mut lane = device.lane(offsets.end).unwrap();
            let lists = Lists::new(&traits, &options, 2);
            lane.put(&offsets, &ensemble.inputs(), &lists).unwrap();
            lane.write(offsets.first_steps.unwrap(), &steps).unwrap();
            let arrays = offsets.arrays::<f64>(lane.arena.address());
            let task = Task::new(arrays, (0.0, span), 90, 90, method, &options);
            for count in [90, 30] {
                let memory = device.device.reserve(4 * 90).unwrap();
                let at = (memory.address(), count, 0);
                // SAFETY: all memory lives until the stream has been waited for, which reading does.
                unsafe { expected.costs(&device, &lane.stream, &task, at).unwrap() };
                let mut found = vec![0_f32; count];
                lane.stream.read(&memory, 0, &mut found).unwrap();
                let is_of = |cost: f32, s: usize| {
                    let units = y.map(|y| rates[s] * y / (atol + rtol * y));
                    let way = span * ((units[0].powi(2) + units[1].powi(2)) / 2.0).sqrt();
                    let by_speed = 2.0 * way.powf(0.75) * rtol.sqrt();
                    let attempts = if steps[s] > 0.0 { span / steps[s] } else { by_speed.max(1.0) };
                    let radius = 1.2 * rates[s];
                    let by_radius = (attempts * span * radius).sqrt().max(1.0);
                    let wanted = if by_stages { by_radius } else { attempts };
                    (f64::from(cost) / wanted - 1.0).abs() < 1e-5
                };
                let part = 90 / count;
                let places: BTreeSet<usize> = (0..count)
                    .map(|k| (0..part).find(|&i| is_of(found[k], part * k + i)).unwrap())
                    .collect();
                // Systems that follow each other at equal distances are seen, wherever they begin.
                assert_eq!(places.len(), part, "{width} {count}: {found:?}");
            }
        }
    }
}
