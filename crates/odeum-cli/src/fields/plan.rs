//! From a case of a field to a run: memory, device, the size of steps.

use super::structure;
use crate::case::{FieldCase, Precision, StepSpec};
use crate::finding::{Finding, Findings};
use crate::plan::{Overrides, available_memory};
use crate::report::{Style, Table, bytes, count, wrap};
use odeum::Device;
use odeum_fields::{
    Field, Method, Options, Problem, Stability, Stencil, Steps, Wind, cuda, fields_needed,
    stability,
};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A run that is ready to start.
pub(crate) struct FieldPlan<'a> {
    pub(crate) case: &'a FieldCase,
    pub(crate) device: Device,
    /// Memory needed at most [bytes]; of a GPU it is its own.
    pub(crate) memory: u128,
}

/// A field at its start, and the steps it can take.
pub(crate) struct Prepared<T> {
    pub(crate) field: Field<T>,
    pub(crate) limits: Stability,
    pub(crate) options: Options,
}

/// Stages that a step may have where the case does not say.
const MOST_STAGES: u32 = 400;

/// Copies of the field that wait to be written: one on its way, one being written.
const WAITING: u128 = 2;

impl<'a> FieldPlan<'a> {
    /// Checks what can be checked without memory for the field; `None` after reporting.
    pub(crate) fn new(
        case: &'a FieldCase,
        overrides: &Overrides,
        findings: &Findings,
    ) -> Option<FieldPlan<'a>> {
        let mut device = overrides.device.clone().unwrap_or_else(|| case.device.clone());
        match &mut device {
            Device::Cpu(cpu) => cpu.threads = overrides.threads.or(cpu.threads),
            other if overrides.threads.is_some() => findings.push(
                Finding::warning(format!("--threads means nothing to {other}"))
                    .help("leave it out, or use --device cpu"),
            ),
            Device::Cuda(_) => {}
        }
        let memory = memory(case, &device);
        let plan = FieldPlan { case, device, memory };
        plan.check_memory(findings);
        (!findings.has_errors()).then_some(plan)
    }

    fn check_memory(&self, findings: &Findings) {
        let Some(available) = available_memory() else { return };
        if self.memory > available {
            findings.push(self.too_large(self.memory, available, ""));
        }
    }

    fn too_large(&self, need: u128, free: u128, place: &str) -> Finding {
        let message =
            format!("the fields need {}{place}, and {} are free", bytes(need), bytes(free));
        let finding = match self.case.spots.find("shape") {
            Some(spot) => spot.error(message),
            None => Finding::error(message).in_file(self.case.source.name()),
        };
        let finding = finding.found(format!("{need} bytes of {free}"));
        finding.help("take fewer cells, precision = \"f32\", or method = \"euler\"")
    }

    /// Memory needed on the GPU that needs most [bytes]; an error where one has not that much. A
    /// GPU that is not here is no fault of the case: who begins a run is told.
    pub(crate) fn check_gpu(&self) -> Result<Option<u128>, Finding> {
        let Device::Cuda(gpu) = &self.device else { return Ok(None) };
        let FieldCase { problem, time, precision, .. } = self.case;
        let asked = match precision {
            Precision::F64 => cuda::memory::<f64>(problem, time.method, gpu),
            Precision::F32 => cuda::memory::<f32>(problem, time.method, gpu),
        };
        let each = match asked {
            Err(odeum::Error::Device { .. }) => return Ok(None),
            asked => asked.map_err(|error| self.case.spots.place(error))?,
        };
        if let Some(memory) = each.iter().find(|memory| memory.need > memory.free) {
            let place = format!(" on cuda:{}", memory.ordinal);
            return Err(self.too_large(memory.need, memory.free, &place));
        }
        Ok(each.iter().map(|memory| memory.need).max())
    }

    /// Makes the field and judges its steps; the error lies in the case.
    pub(crate) fn prepare<T: odeum_fields::Precision>(&self) -> Result<Prepared<T>, Finding> {
        let FieldCase { problem, time, spots, .. } = self.case;
        let names = problem.model.species();
        let field = self.case.initial.field::<T>(&problem.grid).map_err(|error| {
            // The library knows species by their numbers.
            let odeum::Error::Input { field, found, remedy } = error else { return error.into() };
            let number = field.rsplit(' ').next().and_then(|n| n.parse::<usize>().ok());
            let name = number.and_then(|n| names.get(n)).cloned().unwrap_or(field);
            Finding::error(format!("the initial value of `{name}` {remedy}"))
                .in_file(self.case.source.name())
                .field(format!("initial.{name}"))
                .found(found)
                .help("change the expression or the array it comes from")
        })?;
        let place = |error| spots.place(error);
        let limits = stability(problem, &field, (time.start, time.until)).map_err(place)?;
        let stages = match time.method {
            Method::Rkc { stages } | Method::Rkl2 { stages } => stages.unwrap_or(MOST_STAGES),
            Method::Euler => 1,
        };
        let largest = time.method.largest_stable_step(&limits, stages);
        let steps = match &time.steps {
            StepSpec::Adaptive(tolerance) => {
                tolerance.check::<T>(names.len()).map_err(place)?;
                Steps::Adaptive(tolerance.clone())
            }
            StepSpec::Share(share) if largest.is_finite() => Steps::Fixed(share * largest),
            StepSpec::Share(_) => {
                return Err(self
                    .at("step", "nothing limits the step here")
                    .help("give its size: step = 0.01"));
            }
            StepSpec::Fixed(step) => Steps::Fixed(*step),
        };
        if let Steps::Fixed(step) = steps
            && step > largest * (1.0 + 1e-9)
            && !time.force
        {
            let finding = self.at("step", &format!("steps of {step} are not stable"));
            return Err(finding.found(step).help(format!(
                "stable up to {largest:.6e} here: take step = \"stable\", a smaller one, or \
                 force = true if you mean it"
            )));
        }
        let mut options = Options::new(time.method, steps);
        (options.force, options.max_steps) = (time.force, time.max_steps);
        Ok(Prepared { field, limits, options })
    }

    fn at(&self, field: &str, message: &str) -> Finding {
        match self.case.spots.find(field) {
            Some(spot) => spot.error(message),
            None => Finding::error(message)
                .in_file(self.case.source.name())
                .field(format!("time.{field}")),
        }
    }

    /// What a result depends on, as (name, value) pairs; equal pairs mean equal bits on the same
    /// kind of device.
    pub(crate) fn identity(&self) -> Vec<(String, String)> {
        let FieldCase { problem, initial, time, output, precision, .. } = self.case;
        let pair = |name: &str, value: String| (name.to_owned(), value);
        let mut all = vec![
            pair("version of odeum", env!("CARGO_PKG_VERSION").to_owned()),
            pair("system, grid and walls", fingerprint(problem)),
            pair("initial values", fingerprint(initial)),
            pair("time", fingerprint(time)),
            // Steps are cut where states are written.
            pair("output", fingerprint(&(output.every, &output.series))),
            pair("precision", precision.name().to_owned()),
        ];
        all.extend(output.structure.as_ref().map(|it| pair("structure", fingerprint(it))));
        all
    }

    /// The kind of device: on another the result agrees to rounding only.
    pub(crate) fn kind_of_device(&self) -> String {
        match &self.device {
            Device::Cpu(cpu) => format!("cpu, {} lanes", cpu.isa),
            // Their sums are added in another order, by which the error of a step is judged.
            Device::Cuda(gpu)
                if gpu.ordinals.len() > 1
                    && matches!(self.case.time.steps, StepSpec::Adaptive(_)) =>
            {
                format!("cuda, {} GPUs", gpu.ordinals.len())
            }
            Device::Cuda(_) => "cuda".to_owned(),
        }
    }
}

/// Fingerprint of all that a value says of itself.
fn fingerprint(value: &impl std::fmt::Debug) -> String {
    struct Hash(Sha256);

    impl Write for Hash {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }

    let mut hash = Hash(Sha256::new());
    // Writing into a hash cannot fail.
    let _ = write!(hash, "{value:?}");
    hash.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn memory(case: &FieldCase, device: &Device) -> u128 {
    let species = case.problem.model.species().len();
    let grid = &case.problem.grid;
    // What cannot be addressed was refused with the grid.
    let field = match case.precision {
        Precision::F64 => Field::<f64>::bytes(grid, species),
        Precision::F32 => Field::<f32>::bytes(grid, species),
    };
    let field = field.map_or(u128::MAX / 16, |bytes| bytes as u128);
    let arrays = case.problem.diffusion.len()
        + if matches!(case.problem.wind, Some(Wind::Cells(_))) { 3 } else { 0 };
    let (fields, arrays) = match device {
        Device::Cpu(_) => (fields_needed(case.time.method) as u128, 3 * arrays),
        // That of the start, or of the end.
        Device::Cuda(gpu) if gpu.ordinals.len() == 1 => (1, 3 * arrays),
        // Cut for each GPU.
        Device::Cuda(_) => (2, 4 * arrays),
    };
    // Arrays of the case, of the march's own copy of the problem, and made ready for sweeps.
    let surroundings = 8 * (arrays * grid.cells()) as u128;
    // A processor's weights near solid cells: for a cache line of a species another one at most.
    let weights = match (device, &case.problem.mask) {
        (Device::Cpu(_), Some(_)) => field / species.max(1) as u128,
        _ => 0,
    };
    let spectrum = case.output.structure.as_ref().map_or(0, |_| structure::bytes(grid));
    field * (fields + WAITING) + surroundings + weights + spectrum + case.initial.bytes()
}

/// How many cells there are, in words.
pub(super) fn cells(problem: &Problem) -> String {
    let [nx, ny, nz] = problem.grid.shape();
    let all = format!("{nx} × {ny} × {nz} = {}", count(problem.grid.cells() as u64));
    match &problem.mask {
        Some(mask) => format!("{all}, of which {} in the domain", count(mask.cells() as u64)),
        None => all,
    }
}

/// What would be run, in words.
pub(crate) fn describe<T: odeum_fields::Precision>(
    plan: &FieldPlan<'_>,
    prepared: &Prepared<T>,
    on_gpu: Option<u128>,
    style: Style,
) -> String {
    let FieldCase { problem, time, .. } = plan.case;
    let mut text = style.bold(&plan.case.path.display().to_string());
    if let Some(title) = &plan.case.title {
        text += &format!(" — {title}");
    }
    text += &format!("\n\n{}\n", style.bold(&plan.case.system));
    for line in &plan.case.lines {
        for part in wrap(line, 92) {
            text += &format!("  {part}\n");
        }
    }
    let mut table = Table::pairs();
    let grid = &problem.grid;
    table.pair("cells", cells(problem));
    let [hx, hy, hz] = grid.spacing();
    let spacing = if hx == hy && hy == hz { hx.to_string() } else { format!("{hx}, {hy}, {hz}") };
    table.pair("spacing", spacing);
    table.pair("species", problem.model.species().join(", "));
    let stencil = match problem.stencil {
        Stencil::Isotropic => "isotropic",
        Stencil::Star => "star",
    };
    table.pair("stencil", stencil);
    table.pair("time", format!("{} to {}", time.start, time.until));
    let method = match time.method {
        Method::Euler => "euler",
        Method::Rkc { .. } => "rkc",
        Method::Rkl2 { .. } => "rkl2",
    };
    let steps = match &prepared.options.steps {
        Steps::Fixed(h) => {
            let n = ((time.until - time.start) / h).ceil();
            format!("steps of {h:.6e}, about {}", count(n as u64))
        }
        Steps::Adaptive(tolerance) => format!("steps by tolerance, rtol {:e}", tolerance.rtol),
    };
    table.pair("method", format!("{method}, {steps}"));
    table.pair("stable up to", format!("{:.6e} (euler)", prepared.limits.euler));
    if let Some(positive) = prepared.limits.positive {
        table.pair("positive up to", format!("{positive:.6e} (euler)"));
    }
    table.pair("device", crate::device::describe(&plan.device));
    table.pair("precision", plan.case.precision.name());
    table.pair("memory", bytes(plan.memory));
    if let Some(memory) = on_gpu {
        let several = matches!(&plan.device, Device::Cuda(gpu) if gpu.ordinals.len() > 1);
        let whose = if several { "memory of each GPU" } else { "memory of the GPU" };
        table.pair(whose, bytes(memory));
    }
    text += &format!("\n{}", table.render(style));
    text += &format!("\n{} nothing is wrong\n", style.green("ok:"));
    text
}
