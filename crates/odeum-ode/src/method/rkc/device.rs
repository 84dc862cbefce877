//! What Runge–Kutta–Chebyshev is in device code.

use super::radius::reduction;
use super::{Rkc, radius, recurrence};
use crate::method::device::{
    GroupKernel, NUMBERS, OnDevice, Registers, Storage, Subject, ThreadKernels, ThreadNeeds,
    epsilon, signature,
};
use odeum_core::{Graph, emit};
use odeum_cuda::{Text, literal};

/// The kernel `od_rkc`, of one thread for each system.
const SINGLE: &str = concat!(
    include_str!("recurrence.cuh"),
    "\n",
    include_str!("radius.cuh"),
    "\n",
    include_str!("phases.cuh"),
    "\n",
    include_str!("rkc.cuh")
);
/// The kernel `od_rkc_groups`, of a group of threads for each system.
const GROUPS: &str = concat!(
    include_str!("recurrence.cuh"),
    "\n",
    include_str!("radius.cuh"),
    "\n",
    include_str!("rkc_groups.cuh")
);
/// The kernel `od_rkc_interleaved`, of interleaved systems.
const INTERLEAVED: &str = concat!(
    include_str!("recurrence.cuh"),
    "\n",
    include_str!("radius.cuh"),
    "\n",
    include_str!("phases.cuh"),
    "\n",
    include_str!("rkc_interleaved.cuh")
);

/// Vectors of a thread that lie in shared memory where registers do not hold all.
const SHARED_VECTORS: usize = 4;

/// The numbers of a task, in their order there.
const TASK_NUMBERS: [&str; NUMBERS] = ["od_radius_bound", "od_max_stages"];

impl OnDevice for Rkc {
    fn group_kernel(&self, _: &Subject<'_>) -> GroupKernel {
        GroupKernel { name: "od_rkc_groups", text: GROUPS, keeps_stages: false, implicit: None }
    }

    fn interleaved_kernel(&self) -> Option<(&'static str, &'static str)> {
        Some(("od_rkc_interleaved", INTERLEAVED))
    }

    fn write_numbers(&self, text: &mut Text, subject: &Subject<'_>) {
        let system_bound = subject.graph.and_then(Graph::spectral_radius);
        let bound = match (self.radius_bound, system_bound) {
            (Some(_), _) => 1,
            (None, Some(_)) => 2,
            (None, None) => 0,
        };
        text.define("OD_RADIUS_BOUND", bound);
        text.define("OD_PART_OF_STATE", literal(radius::part_of_state(epsilon(subject.word))));
        let is_float = subject.word == size_of::<f32>();
        let reduction = if is_float { reduction::<f32>() } else { reduction::<f64>() };
        text.define("OD_REDUCTION", literal(reduction));
        text.define("OD_RADIUS_EVERY", self.radius_every());
        text.define("OD_POWER_ITERATIONS", Rkc::POWER_ITERATIONS);
        text.define("OD_LEAST_ITERATIONS", radius::LEAST_ITERATIONS);
        let [of_states, of_slopes] = Rkc::ERROR_WEIGHTS;
        for (name, number) in [
            ("OD_DAMPING", recurrence::DAMPING),
            ("OD_STABILITY", recurrence::STABILITY),
            ("OD_MARGIN", radius::MARGIN),
            ("OD_SETTLED", radius::SETTLED),
            ("OD_SPAN_EPSILONS", radius::SPAN_EPSILONS),
            ("OD_ERROR_OF_STATES", of_states),
            ("OD_ERROR_OF_SLOPES", of_slopes),
        ] {
            text.define(name, literal(number));
        }
        for (k, name) in TASK_NUMBERS.into_iter().enumerate() {
            text.line(format_args!(
                "OD_FN real {name}(const OdTask &task) {{ return task.of_method[{k}]; }}"
            ));
        }
        if let (2, Some(radius)) = (bound, system_bound) {
            text.line(emit::function(&radius.fused(), "od_radius", &signature()));
        }
    }

    fn thread_kernels<'a>(
        &'a self,
        graph: &'a Graph,
        word: usize,
    ) -> Option<Box<dyn ThreadKernels + 'a>> {
        Some(Box::new(Threads { rkc: self, graph, word }))
    }

    fn numbers(&self, rtol: f64, epsilon: f64) -> [f64; NUMBERS] {
        [self.radius_bound.unwrap_or(0.0), self.most_stages(rtol, epsilon)]
    }
}

/// The method for one recorded system.
struct Threads<'a> {
    rkc: &'a Rkc,
    graph: &'a Graph,
    /// Size of a number \[bytes\].
    word: usize,
}

impl ThreadKernels for Threads<'_> {
    fn name(&self, _: Storage) -> &'static str {
        "od_rkc"
    }

    /// Six vectors of n components. In local memory a stage goes through all of them, which caches do not hold for as many
    /// threads as hide their way from memory: a group of threads has them in registers.
    fn thread(&self) -> ThreadNeeds {
        let (dim, words) = (self.graph.outputs().len(), self.word / 4);
        let vectors = 7 * dim * words;
        ThreadNeeds {
            registers: Some(Registers { least: vectors + 48, wanted: vectors + 72, warps: 32 }),
            stages: (SHARED_VECTORS * dim * self.word, 2 * dim * words + 60),
            prefers_groups: true,
        }
    }

    fn write(&self, text: &mut Text, _: Storage) {
        let dim = self.graph.outputs().len();
        let subject = Subject { graph: Some(self.graph), dim, word: self.word };
        text.line(emit::function(&self.graph.fused(), "od_rhs", &signature()));
        self.rkc.write_numbers(text, &subject);
        text.line(SINGLE);
    }
}
