//! From a case of a field to a run: memory, device, the size of steps.

use crate::available::Free;
use crate::case::{Every, FieldCase, FieldTime, Precision, too_large};
use crate::plan::Overrides;
use odeum_fields::{
    Field, Method, Options, Stability, Steps, first_growing_step, gpu, rounded_away,
    sharpening_step, stability,
};
use odeum_io::{Finding, Findings};
use odeum_ode::Device;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Steps this many times longer than what follows reactions are warned of.
const UNFOLLOWED: f64 = 2.0;

/// A run that is ready to start.
pub struct FieldPlan<'a> {
    /// What is to be run.
    pub case: &'a FieldCase,
    /// Where.
    pub device: Device,
}

/// A field at its start, and the steps it can take.
pub struct Prepared<T> {
    /// The initial field.
    pub field: Field<T>,
    /// How long stable steps may be.
    pub limits: Stability,
    /// Method and steps.
    pub options: Options,
    /// What the steps do to the field that is hardly meant.
    pub warnings: Vec<Finding>,
}

impl<'a> FieldPlan<'a> {
    /// Takes what the command line says over the case; `None` after reporting what is wrong.
    pub fn new(
        case: &'a FieldCase,
        overrides: &Overrides,
        findings: &Findings,
    ) -> Option<FieldPlan<'a>> {
        let own = (&case.device, case.threads);
        let device = overrides.device(own, &case.source_spans, findings);
        let plan = FieldPlan { case, device };
        if let Some(finding) = plan.too_short_steps() {
            findings.push(finding);
        }
        (!findings.has_errors()).then_some(plan)
    }

    /// A warning of steps of a given size with which the run fails before its end.
    fn too_short_steps(&self) -> Option<Finding> {
        let FieldTime { start, until, max_steps, ref steps, .. } = self.case.time;
        let Steps::Fixed(step) = *steps else { return None };
        let of = |span: f64| (span / step * (1.0 - 1e-9)).ceil().max(0.0);
        // Steps are cut where states are written.
        let (span, every) = match self.case.output.every {
            Some(Every::Time(every)) => (until - start, every),
            _ => (until - start, until - start),
        };
        let pieces = (span / every + 1e-9).floor();
        let rest = span - pieces * every;
        let rest = if rest > 1e-9 * every { rest } else { 0.0 };
        let need = pieces * of(every) + of(rest);
        if need <= max_steps as f64 {
            return None;
        }
        let message = format!("steps of this size do not reach the end within {max_steps}");
        let help = match need < 1e15 {
            true => format!("raise time.max_steps to {need} or more, or take larger steps"),
            false => "take larger steps".to_owned(),
        };
        Some(self.at("step", &message).into_warning().help(help))
    }

    /// Threads for what is done beside stepping.
    pub fn threads(&self) -> usize {
        crate::device::threads_of(&self.device)
    }

    /// Memory needed on the GPU that needs most \[bytes\]; an error where one has not that much, or cannot be used. Where there
    /// is none at all, that is no fault of the case: who begins a run is told.
    pub fn check_gpu(&self) -> Result<Option<u128>, Finding> {
        let Device::Cuda(gpu) = &self.device else { return Ok(None) };
        gpu.check()?;
        let FieldCase { problem, time, precision, .. } = self.case;
        let asked = match precision {
            Precision::F64 => gpu::memory::<f64>(problem, time.method, gpu),
            Precision::F32 => gpu::memory::<f32>(problem, time.method, gpu),
        };
        let each = match asked {
            Err(odeum_ode::Error::Device { .. }) => return Ok(None),
            asked => asked.map_err(|error| self.case.source_spans.place(error))?,
        };
        if let Some(memory) = each.iter().find(|memory| memory.need > memory.free) {
            let place = format!(" on cuda:{}", memory.ordinal);
            let free = Free::bytes(memory.free);
            return Err(too_large(memory.need, free, &place, &self.case.source_spans));
        }
        Ok(each.iter().map(|memory| memory.need).max())
    }

    /// Makes the field and judges its steps; the error lies in the case.
    pub fn prepare<T: odeum_fields::Precision>(&self) -> Result<Prepared<T>, Finding> {
        let FieldCase { problem, time, source_spans, .. } = self.case;
        let names = problem.model.species();
        let field = self.case.initial.field::<T>(&problem.grid).map_err(|error| {
            // The library knows species by their numbers.
            let odeum_ode::Error::Input { field, found, remedy } = error else {
                return error.into();
            };
            let name = field.index().and_then(|s| names.get(s)).cloned();
            let name = name.unwrap_or_else(|| field.to_string());
            Finding::error(format!("the initial value of `{name}` {remedy}"))
                .in_file(self.case.source.name())
                .field(format!("initial.{name}"))
                .found(found)
                .help("change the expression or the array it comes from")
        })?;
        let place = |error| source_spans.place(error);
        let limits = stability(problem, &field, (time.start, time.until)).map_err(place)?;
        let largest = limits.largest_step(time.method);
        match &time.steps {
            Steps::Adaptive(tolerance) => {
                tolerance.check::<T>(names.len()).map_err(place)?;
            }
            Steps::Fraction(_) if limits.usual_step(time.method).is_infinite() => {
                return Err(self
                    .at("step", "nothing limits the step here")
                    .help("give its size: step = 0.01"));
            }
            Steps::Fraction(_) if largest == 0.0 => {
                let message = format!("no step of {} is stable here", time.method.name());
                let help = limits.remedy(time.method).unwrap_or("take another method".to_owned());
                return Err(self.at("step", &message).help(help));
            }
            Steps::Fraction(fraction) => {
                let usual = limits.usual_step(time.method);
                let step = fraction * usual;
                if let Some(t) = time.stands_at(step) {
                    let message = format!("a step of {step:e} does not move the time at {t}");
                    let found = format!("{fraction:?} of the largest step, {usual:.6e}");
                    let help = "take a larger fraction, a method that is stable for larger steps, \
                                or slower rates";
                    return Err(self.at("step", &message).found(found).help(help));
                }
            }
            Steps::Fixed(step) if *step > largest * (1.0 + 1e-9) && !time.force => {
                let finding = self.at("step", &format!("steps of {step} are not stable"));
                let or = limits.remedy(time.method).map_or(String::new(), |remedy| remedy + "; ");
                return Err(finding.found(step).help(format!(
                    "stable up to {largest:.6e} here: {or}take step = \"stable\", a smaller one, or \
                     force = true if you mean it"
                )));
            }
            Steps::Fixed(step) if !time.force => {
                let span = (time.start, time.until);
                let growing = first_growing_step(problem, &field, span, time.method, *step);
                if let Some((t, shorter)) = growing.map_err(place)? {
                    let message = format!(
                        "coefficients change within a step of {step}, which makes waves grow"
                    );
                    let or = if time.method.name() == "rkc" { "`tolerance`, " } else { "" };
                    let found = format!("a step from t = {t}");
                    return Err(self.at("step", &message).found(found).help(format!(
                        "stable up to {shorter:.6e} there: take step = \"stable\", a smaller one, {or}or \
                         force = true if you mean it"
                    )));
                }
            }
            Steps::Fixed(_) => {}
        }
        let mut warnings = self.warnings(&field, &limits)?;
        warnings.extend(self.rounded_away(&field, &limits)?);
        let mut options = Options::new(time.method, time.steps.clone());
        (options.force, options.max_steps) = (time.force, time.max_steps);
        Ok(Prepared { field, limits, options, warnings })
    }

    /// Warnings of steps that are stable.
    fn warnings<T: odeum_fields::Precision>(
        &self,
        field: &Field<T>,
        limits: &Stability,
    ) -> Result<Vec<Finding>, Finding> {
        let h = match &self.case.time.steps {
            Steps::Fixed(h) => *h,
            Steps::Fraction(fraction) => fraction * limits.usual_step(self.case.time.method),
            Steps::Adaptive(_) => return Ok(Vec::new()),
        };
        let sharpened = self.sharpened(field, h)?.into_iter();
        Ok(sharpened
            .chain(self.oscillations(limits, h))
            .chain(self.not_followed(limits, h))
            .collect())
    }

    /// A warning of stable steps that are too long for what reactions do.
    fn not_followed(&self, limits: &Stability, h: f64) -> Option<Finding> {
        let FieldTime { method, force, .. } = &self.case.time;
        let followed = limits.followed_step(*method);
        if *force || h <= UNFOLLOWED * followed {
            return None;
        }
        let message = "steps are stable, but too long to follow the reactions";
        let help = format!(
            "take steps up to {followed:.6e} by {}, step = \"stable\", which follows them, or \
             method = \"rkc\" with `tolerance`; what relaxes at once, and stays where it is, needs none of this",
            method.name()
        );
        let found = format!("steps of {h:.6e}, where reactions take {:.6e}", 1.0 / limits.reaction);
        Some(self.at("step", message).into_warning().found(found).help(help))
    }

    /// A warning of changes that single precision is too coarse for.
    fn rounded_away<T: odeum_fields::Precision>(
        &self,
        field: &Field<T>,
        limits: &Stability,
    ) -> Result<Option<Finding>, Finding> {
        let FieldCase { problem, time, source_spans, .. } = self.case;
        let span = (time.start, time.until);
        let lost = rounded_away(problem, field, span, (time.method, &time.steps), limits)
            .map_err(|error| source_spans.place(error))?;
        if lost.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = lost.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "changes of {} are lost or too large in single precision: they are less than ten units \
             in the last place in each stage of a step",
            names.join(", ")
        );
        let finding = match source_spans.find("precision") {
            Some(source_span) => source_span.error(message),
            None => Finding::error(message).in_file(self.case.source.name()).field("run.precision"),
        };
        let help = "take precision = \"f64\", or count values from a level nearer to them";
        Ok(Some(finding.into_warning().help(help)))
    }

    /// A warning of steps of forward Euler that keep pulses too sharp.
    fn sharpened<T: odeum_fields::Precision>(
        &self,
        field: &Field<T>,
        h: f64,
    ) -> Result<Option<Finding>, Finding> {
        let FieldCase { problem, time, source_spans, .. } = self.case;
        if time.method != Method::Euler {
            return Ok(None);
        }
        let most = sharpening_step(problem, field, (time.start, time.until))
            .map_err(|error| source_spans.place(error))?;
        let Some(most) = most.filter(|most| h > most * (1.0 + 1e-9)) else { return Ok(None) };
        let message =
            "forward Euler takes away more than half of the diffusion: pulses stay too sharp";
        let smaller =
            if most > 0.0 { format!(", or steps up to {most:.6e}") } else { String::new() };
        let help = format!("take method = \"ssprk3\"{smaller}, with advection = \"koren\"");
        let finding = self.at("method", message).into_warning();
        Ok(Some(finding.found(format!("steps of {h:.6e} by \"euler\"")).help(help)))
    }

    /// A warning of steps that make weakly damped waves grow that no growth of their own lets.
    fn oscillations(&self, limits: &Stability, h: f64) -> Option<Finding> {
        let FieldTime { method, force, .. } = &self.case.time;
        let help = limits.oscillation_warning(*method, h).filter(|_| !force)?;
        let message = "weakly damped waves may grow, as fast as others do by themselves";
        let finding = self.at("step", message).into_warning();
        Some(finding.found(format!("steps of {h:.6e}")).help(help))
    }

    fn at(&self, field: &'static str, message: &str) -> Finding {
        match self.case.source_spans.find(field) {
            Some(source_span) => source_span.error(message),
            None => Finding::error(message)
                .in_file(self.case.source.name())
                .field(format!("time.{field}")),
        }
    }

    /// What a result depends on, as (name, value) pairs; equal pairs mean equal bits on the same
    /// kind of device.
    pub fn identity(&self) -> Vec<(String, String)> {
        let FieldCase { problem, initial, time, output, precision, .. } = self.case;
        let pair = |name: &str, value: String| (name.to_owned(), value);
        let mut all = vec![
            pair("version of odeum", env!("CARGO_PKG_VERSION").to_owned()),
            pair("system, grid and boundaries", fingerprint(problem)),
            pair("initial values", fingerprint(initial)),
            // The same steps go on to a later end.
            pair("time", fingerprint(&FieldTime { until: 0.0, max_steps: 0, ..time.clone() })),
            // Steps are cut where states are written.
            pair("output", fingerprint(&(output.every, &output.series))),
            pair("precision", precision.name().to_owned()),
        ];
        all.extend(output.structure.as_ref().map(|it| pair("structure", fingerprint(it))));
        // A series has one scale.
        let pictures = (&output.slices, &output.isosurfaces);
        all.extend(output.has_pictures().then(|| pair("pictures", fingerprint(&pictures))));
        all
    }

    /// The kind of device: on another the result agrees to rounding only.
    pub fn kind_of_device(&self) -> String {
        match &self.device {
            Device::Cpu(cpu) => format!("cpu, {} lanes", cpu.isa),
            // Their sums are added in another order, by which the error of a step is judged.
            Device::Cuda(gpu)
                if gpu.ordinals.len() > 1 && matches!(self.case.time.steps, Steps::Adaptive(_)) =>
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
