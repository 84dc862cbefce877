//! The order of an ensemble by the costs of its systems (device/order.cuh).

use super::kept::Kept;
use super::source;
use crate::method::Method;
use odeum_core::Error;
use odeum_cuda::{Device, Kernel, Memory, Stream, Text, argument, literal};
use std::ops::Range;

const ORDER: &str = include_str!("device/order.cuh");
/// Costs from 1 to 2³² by eighths of their powers of two; as many threads has a block.
const CLASSES: usize = 256;
/// Systems of each thread.
const TURNS: usize = 8;
const KERNELS: [&str; 4] =
    ["od_judge_costs", "od_count_costs", "od_begin_classes", "od_place_systems"];
const WORD: usize = size_of::<u32>();
/// Shared memory of a block \[bytes\].
const SHARED: usize = 2 * CLASSES * WORD;
/// Words of a part: two for each class, and whether an order pays.
const OF_PART: usize = 2 * CLASSES + 4;

/// An order pays where the most costly system takes longer than this part of all that a group of threads has to do, in steps of the
/// cheapest systems: what is expected of it is often too little. To find the costs takes about a twentieth of such a step.
const PART_OF_ALL: f64 = 0.025;
/// And where it costs more than this many systems on average.
const TIMES_MEAN: f64 = 2.0;

/// The kernels that judge costs, and sort by them.
pub(super) struct Order<D: Device>(Vec<D::Kernel>);

/// Memory of systems in the order of their costs.
pub(super) struct Ordered<D: Device> {
    memory: D::Memory,
    systems: usize,
}

/// What is known of the costs.
#[derive(Clone, Copy)]
pub(super) enum Costs {
    /// Those of the call before.
    Counted(Counts),
    /// What is expected, at [`Ordered::costs`], where that was judged to pay.
    Expected,
}

/// Counts of the call before.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    /// Where they lie.
    pub(super) address: u64,
    /// Of each system.
    pub(super) each: usize,
    /// Which of them, summed, are its cost.
    pub(super) cost: (usize, usize),
}

impl Counts {
    /// Of a call by this method: its attempts, but of Runge–Kutta–Chebyshev, whose steps differ in their stages, its evaluations.
    pub(super) fn of(method: &Method, address: u64, each: usize) -> Self {
        let cost = if matches!(method, Method::Rkc(_)) { (2, 3) } else { (0, 2) };
        Counts { address, each, cost }
    }
}

/// As `OdOrder`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Arguments {
    counts: u64,
    costs: u64,
    order: u64,
    of_class: u64,
    places: u64,
    pays: u64,
    n_systems: u32,
    n_counts: u32,
    first_cost: u32,
    end_costs: u32,
}

impl<D: Device> Ordered<D> {
    /// Of so many systems, in so many parts at most, each with an order of its own.
    pub(super) fn new(kept: &Kept<D>, systems: usize, parts: usize) -> Result<Self, Error> {
        let memory = kept.reserve(Ordered::<D>::bytes_of(systems, parts))?;
        Ok(Ordered { memory, systems })
    }

    /// Bytes for so many systems in so many parts.
    pub(super) fn bytes_of(systems: usize, parts: usize) -> usize {
        (2 * systems + parts * OF_PART) * WORD
    }

    /// Bytes of its memory.
    pub(super) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Whether there is room for so many systems in so many parts.
    pub(super) fn has_room(&self, systems: usize, parts: usize) -> bool {
        let bytes = Ordered::<D>::bytes_of(self.systems, parts);
        systems <= self.systems && bytes <= self.memory.bytes()
    }

    /// Where the systems lie, from one on, once they have been sorted: numbers within their part.
    pub(super) fn address(&self, first: usize) -> u64 {
        self.memory.address() + (first * WORD) as u64
    }

    /// Where their expected costs lie, as `float`.
    pub(super) fn costs(&self, first: usize) -> u64 {
        self.address(self.systems + first)
    }

    /// Where the words of a part lie, in bytes.
    fn words(&self, part: usize) -> usize {
        (2 * self.systems + part * OF_PART) * WORD
    }

    /// Where it stands whether an order of a part pays.
    pub(super) fn pays(&self, part: usize) -> u64 {
        self.memory.address() + (self.words(part) + 2 * CLASSES * WORD) as u64
    }
}

impl<D: Device> Order<D> {
    pub(super) fn new(device: &D) -> Result<Self, Error> {
        let mut text = Text::default();
        text.define("OD_CLASSES", CLASSES);
        text.define("OD_TURNS", TURNS);
        text.define("OD_PART_OF_ALL", literal(PART_OF_ALL));
        text.define("OD_TIMES_MEAN", literal(TIMES_MEAN));
        let pending = device.compile_async(&source::of_none(text, ORDER), &KERNELS);
        let kernels = device.wait(pending)?;
        for kernel in &kernels {
            kernel.prepare(CLASSES, SHARED)?;
        }
        Ok(Order(kernels))
    }

    /// Lets a stream judge by the first expected costs of a part, so many, whether an order pays: of systems of which a group of threads has
    /// `of_group` one after the other.
    ///
    /// # Safety
    /// `ordered` must live until the stream has been waited for.
    pub(super) unsafe fn judge(
        &self,
        stream: &D::Stream,
        ordered: &Ordered<D>,
        (part, first): (usize, usize),
        (count, of_group): (usize, f32),
    ) -> Result<(), Error> {
        let (costs, pays, count) = (ordered.costs(first), ordered.pays(part), count as u32);
        let mut arguments =
            [argument(&costs), argument(&count), argument(&of_group), argument(&pays)];
        // SAFETY: the kernel takes these four; of the memory the caller answers for.
        unsafe { stream.launch(&self.0[0], [1, 1, 1], [CLASSES, 1], SHARED, &mut arguments) }
    }

    /// Gives the sort of a part, of the systems of `range`, to a stream.
    ///
    /// # Safety
    /// The counts must lie where they are said to, and `ordered` live, until the stream has been waited for.
    pub(super) unsafe fn sort(
        &self,
        stream: &D::Stream,
        ordered: &mut Ordered<D>,
        (part, range): (usize, Range<usize>),
        costs: Costs,
    ) -> Result<(), Error> {
        let (bytes, classes) = (CLASSES * WORD, ordered.words(part));
        // SAFETY: the caller's.
        unsafe { stream.set_bytes(&mut ordered.memory, classes..classes + bytes, 0)? };
        let of_class = ordered.memory.address() + classes as u64;
        let (Counts { address: counts, each, cost }, pays) = match costs {
            Costs::Counted(counts) => (counts, 0),
            Costs::Expected => (Counts { address: 0, each: 0, cost: (0, 0) }, ordered.pays(part)),
        };
        let task = Arguments {
            counts,
            costs: ordered.costs(range.start),
            order: ordered.address(range.start),
            of_class,
            places: of_class + bytes as u64,
            pays,
            n_systems: range.len() as u32,
            n_counts: each as u32,
            first_cost: cost.0 as u32,
            end_costs: cost.1 as u32,
        };
        let all = range.len().div_ceil(CLASSES * TURNS);
        for (kernel, blocks) in self.0[1..].iter().zip([all, 1, all]) {
            // SAFETY: each takes the structure that `Arguments` mirrors, whose arrays the caller answers for.
            unsafe {
                let mut arguments = [argument(&task)];
                stream.launch(kernel, [blocks, 1, 1], [CLASSES, 1], SHARED, &mut arguments)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odeum_cuda::host::{self, Setup};

    #[test]
    fn costly_systems_come_first() {
        if !host::is_available() {
            return eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        }
        let device = Setup::new(std::env::temp_dir().join("odeum-device-order")).device();
        let len = 5_000;
        // Of four counts the first two are attempts, the third is evaluations.
        let attempts = |s: usize| [1, 2, 7, 8, 9, 40, 1000, 0, 5_000_000][s * 7 % 9] as u32;
        let evaluations = |s: usize| attempts(s + 4);
        let counts: Vec<u32> = (0..len)
            .flat_map(|s| [attempts(s) / 3, attempts(s) - attempts(s) / 3, evaluations(s), 9])
            .collect();
        let costs: Vec<f32> = (0..len).map(|s| attempts(s) as f32).collect();
        let stream = device.stream().unwrap();
        let mut stats = device.reserve(counts.len() * WORD).unwrap();
        stream.write(&mut stats, 0, &counts).unwrap();
        let order = Order::new(&device).unwrap();
        let mut ordered = Ordered::new(&Kept::new(device.clone()), len, 2).unwrap();
        assert!(ordered.has_room(len, 2) && !ordered.has_room(len + 1, 2));
        assert!(!ordered.has_room(len, 3));
        stream.write(&mut ordered.memory, len * WORD, &costs).unwrap();
        // SAFETY: as below.
        unsafe {
            order.judge(&stream, &ordered, (0, 0), (3_000, 10.0)).unwrap();
            order.judge(&stream, &ordered, (1, 3_000), (2_000, 10.0)).unwrap();
        }
        let address = stats.address();
        let counted = |method| Costs::Counted(Counts::of(&method, address, 4));
        let by_attempts: &dyn Fn(usize) -> u32 = &attempts;
        for (what, cost_of, range) in [
            (counted(Method::rodas4()), by_attempts, 0..len),
            (counted(Method::rkc()), &evaluations, 0..len),
            (Costs::Expected, by_attempts, 0..3_000),
            (Costs::Expected, by_attempts, 3_000..len),
        ] {
            let part = (usize::from(range.start > 0), range.clone());
            // SAFETY: both live until the stream has been waited for, which reading does.
            unsafe { order.sort(&stream, &mut ordered, part, what).unwrap() };
            let mut systems = vec![0_u32; range.len()];
            stream.read(&ordered.memory, range.start * WORD, &mut systems).unwrap();
            // What never began costs as little as one attempt.
            let cost = |&s: &u32| cost_of(range.start + s as usize).max(1);
            let costs: Vec<u32> = systems.iter().map(cost).collect();
            assert!(costs.is_sorted_by(|a, b| a >= b), "costly ones first");
            systems.sort_unstable();
            assert!(systems.into_iter().eq(0..range.len() as u32), "each system once");
        }
    }

    #[test]
    fn an_order_pays_where_few_systems_decide_when_all_are_done() {
        if !host::is_available() {
            return eprintln!("SKIPPED: device code is not executed, for want of g++ on the PATH");
        }
        let device = Setup::new(std::env::temp_dir().join("odeum-device-order")).device();
        let (order, stream) = (Order::new(&device).unwrap(), device.stream().unwrap());
        let len = 1000;
        let mut ordered = Ordered::new(&Kept::new(device.clone()), len, 1).unwrap();
        let mut systems = |most: f32, others: f32, of_group: f32| -> Vec<u32> {
            let mut costs = vec![others; len];
            costs[17] = most;
            stream.write(&mut ordered.memory, len * WORD, &costs).unwrap();
            // SAFETY: both live until the stream has been waited for, which reading does.
            unsafe {
                order.judge(&stream, &ordered, (0, 0), (len, of_group)).unwrap();
                order.sort(&stream, &mut ordered, (0, 0..len), Costs::Expected).unwrap();
            }
            let mut systems = vec![0_u32; len];
            stream.read(&ordered.memory, 0, &mut systems).unwrap();
            systems
        };
        let as_they_lie: Vec<u32> = (0..len as u32).collect();
        assert_eq!(systems(1.0, 1.0, 1.0), as_they_lie, "all alike");
        assert_eq!(systems(30.0, 1.0, 100.0)[0], 17);
        assert_eq!(systems(20.0, 1.0, 1000.0), as_they_lie, "lost among many");
        assert_eq!(systems(90.0, 50.0, 1.0), as_they_lie, "not so different");
    }
}
