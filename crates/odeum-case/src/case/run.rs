//! `[run]` and `[output]`: where to compute, and what to write.

use super::reader::Section;
use super::source_spans::SourceSpans;
use crate::device;
use odeum_io::{Finding, Findings, Target, ensemble};
use odeum_ode::Device;
use std::path::{Path, PathBuf};

/// Number format of states and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Double.
    F64,
    /// Single.
    F32,
}

impl Precision {
    /// `f64` or `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }

    /// The nearest number of this format.
    pub fn round(self, x: f64) -> f64 {
        match self {
            Precision::F64 => x,
            Precision::F32 => f64::from(x as f32),
        }
    }

    /// Whether this number is not zero but would be in this format.
    pub(crate) fn vanishes(self, x: f64) -> bool {
        x != 0.0 && self.round(x) == 0.0
    }

    /// Whether this number vanishes, or is finite but would not be in this format.
    pub(crate) fn loses(self, x: f64) -> bool {
        self.vanishes(x) || (x.is_finite() && !self.round(x).is_finite())
    }

    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            Precision::F64 => 8,
            Precision::F32 => 4,
        }
    }
}

/// `[run]`.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Number format of states and parameters.
    pub precision: Precision,
    /// Where systems are integrated.
    pub device: Device,
    /// Threads of the CPU, which may take the place of the device.
    pub threads: Option<usize>,
    /// Systems between two entries of the checkpoint.
    pub batch: usize,
}

/// Most threads that a case, or whoever runs it, may ask for.
pub const MOST_THREADS: usize = 65_536;

/// Systems between two entries of the checkpoint unless the case says otherwise: about a second
/// of a common ensemble on two cores, and enough to fill a GPU.
const BATCH: usize = 65_536;

impl Default for RunSpec {
    fn default() -> Self {
        RunSpec { precision: Precision::F64, device: Device::cpu(), threads: None, batch: BATCH }
    }
}

/// Reads `[run]`.
pub(super) fn read(
    section: &Section<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<RunSpec> {
    let (precision, device, threads) = read_machine(section, source_spans, findings);
    let batch = section
        .get("batch")
        .map_or(Some(BATCH as u64), |field| field.whole(1, u64::from(u32::MAX)));
    section.finish();
    let batch = batch? as usize;
    Some(RunSpec { precision: precision?, device: device?, threads: threads?, batch })
}

/// Reads `precision`, `device` and `threads`.
fn read_machine(
    section: &Section<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> (Option<Precision>, Option<Device>, Option<Option<usize>>) {
    let choices = [("f64", Precision::F64), ("f32", Precision::F32)];
    let precision = section.get("precision").map_or(Some(Precision::F64), |field| {
        source_spans.put("precision", field.source_span());
        field.choice("precisions", &choices)
    });
    let threads = section.get("threads").map_or(Some(None), |field| {
        source_spans.put("threads", field.source_span());
        field.whole(1, MOST_THREADS as u64).map(|threads| Some(threads as usize))
    });
    let device = section.get("device").map_or(Some(Device::cpu()), |field| {
        source_spans.put("device", field.source_span());
        let parsed = device::parse(field.text()?);
        findings.ok(parsed.map_err(|help| {
            field.source_span().error("there is no such kind of device").help(help)
        }))
    });
    let device = device.map(|mut device| {
        if let Device::Cpu(cpu) = &mut device {
            cpu.threads = threads.flatten();
        }
        device
    });
    (precision, device, threads)
}

/// `[run]` of a field.
#[derive(Clone, Debug)]
pub(super) struct FieldRun {
    pub precision: Precision,
    pub device: Device,
    /// As of [`RunSpec`].
    pub threads: Option<usize>,
    /// Steps between two checkpoints.
    pub checkpoint_steps: Option<u64>,
}

impl Default for FieldRun {
    fn default() -> FieldRun {
        FieldRun {
            precision: Precision::F64,
            device: Device::cpu(),
            threads: None,
            checkpoint_steps: None,
        }
    }
}

/// Reads `[run]` of a field.
pub(super) fn read_field(
    section: &Section<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<FieldRun> {
    let (precision, device, threads) = read_machine(section, source_spans, findings);
    let steps = section.get("checkpoint_steps").map(|field| field.whole(1, u64::MAX));
    section.finish();
    let checkpoint_steps = steps.map_or(Some(None), |steps| steps.map(Some))?;
    Some(FieldRun { precision: precision?, device: device?, threads: threads?, checkpoint_steps })
}

/// `[output]`.
#[derive(Clone, Debug, Default)]
pub struct OutputSpec {
    /// Name of the result without folder and extension.
    pub name: Option<String>,
    /// The folder of the result.
    pub folder: Option<PathBuf>,
    /// Keys of formats beside NPZ, which is always written.
    pub formats: Vec<&'static str>,
}

impl OutputSpec {
    /// Where the result goes: from the command line, else from the case file at `case`.
    ///
    /// # Errors
    /// The path on the command line is that of a file of another kind.
    pub fn target(&self, output: Option<&Path>, case: &Path) -> Result<Target, Finding> {
        Target::new(output, (self.name.as_deref(), self.folder.as_deref()), case)
    }
}

/// Bytes of the name of a result: file systems take 255, and `.NAME.partial.npz.part` is the longest of its files.
const LONGEST_NAME: usize = 237;

/// Name and folder of the result.
type Place = (Option<Option<String>>, Option<Option<PathBuf>>);

/// Reads `name` and `folder` of `[output]`.
pub(super) fn read_place(section: &Section<'_>) -> Place {
    let name = section.get("name").map(|field| {
        let name = field.text()?;
        let bad = name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']);
        if bad {
            return field.refuse(
                "the name of the result is not a plain file name",
                "give a name without folder and extension; the folder goes into `folder`",
            );
        }
        if name.len() > LONGEST_NAME {
            let message = format!("the name of the result has more than {LONGEST_NAME} bytes");
            return field
                .refuse(message, "give a shorter one: the names of all files begin with it");
        }
        Some(name.strip_suffix(".npz").unwrap_or(name).to_owned())
    });
    let folder = section.get("folder").map(|field| field.path(Path::new("")));
    (name.map_or(Some(None), |n| n.map(Some)), folder.map_or(Some(None), |f| f.map(Some)))
}

/// Reads `[output]`.
pub(super) fn read_output(
    section: &Section<'_>,
    source_spans: &mut SourceSpans,
) -> Option<OutputSpec> {
    let (name, folder) = read_place(section);
    let formats = section.get("formats").map_or(Some(Vec::new()), |field| {
        let known: Vec<_> = ensemble::keys().map(|key| (key, key)).collect();
        let items = field.list()?;
        let chosen: Vec<_> = items.iter().map(|f| f.choice("formats", &known)).collect();
        if let Some(at) = chosen.iter().position(|format| *format == Some("svg")) {
            source_spans.put("svg", items[at].source_span());
        }
        chosen.into_iter().collect()
    });
    section.finish();
    let formats = formats?;
    Some(OutputSpec { name: name?, folder: folder?, formats })
}
