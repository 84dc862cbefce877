//! A run, of whatever kind: where its files go, what it must not replace, and how it ends when it cannot
//! come to its end.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::report::{Style, note, show, tell};
use crate::stop::resume_command;
use odeum_io::file::{Lock, Room, broken_link, is_there, probe, refuse_another_kind};
use odeum_io::{Finding, Target, former, refuse_no_file};
use std::path::{Path, PathBuf};

/// What else to do than to replace a result.
const ANOTHER_PLACE: &str = "choose another place with --output";

/// What a file is that lies beside no result and no checkpoint.
const OF_NO_RESULT: &str =
    "a file of a run that ended before its first checkpoint, or of another run";

/// What is to be run.
pub(crate) trait Job {
    /// What it makes ready before it looks at the disk.
    type Ready;

    /// Where its files go.
    fn target(&self, output: Option<&Path>) -> Result<Target, Finding>;

    /// Files and folders that it was read from.
    fn inputs(&self) -> &[PathBuf];

    /// Files that it would replace beside the result.
    fn others(&self, target: &Target) -> Vec<PathBuf>;

    /// Those of the others that are folders.
    fn folders(&self, _target: &Target) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether there is something that `--resume` goes on from. The job refuses it where it is of another run.
    fn goes_on(&self, target: &Target) -> bool;

    /// How a run is taken up whose result is there, where `--resume` does not do that.
    fn later(&self) -> Option<&'static str>;

    /// Bytes of the result, about.
    fn result_bytes(&self) -> u128;

    /// Bytes on the disk of all that is written, about.
    fn disk_bytes(&self) -> u128;

    /// Makes ready what can be refused before anything is written or removed.
    fn prepare(&self, args: &RunArgs, target: &Target) -> Result<Self::Ready, Finding>;

    /// Removes what a killed run has left with the names of files that the one which goes on writes anew.
    fn take_back(&self, _ready: &Self::Ready, _target: &Target) {}

    /// Computes and writes.
    fn go(&self, ready: Self::Ready, ground: Ground<'_>) -> Result<Exit, Stop>;
}

/// What a job writes to, while no other run does.
pub(crate) struct Ground<'a> {
    pub(crate) args: &'a RunArgs,
    pub(crate) target: &'a Target,
    /// Room that is made for the result.
    pub(crate) room: Option<Room>,
    /// What is there may be replaced: the user says so, or goes on from it.
    pub(crate) replace: bool,
}

/// A run that cannot go on, and how it ends.
pub(crate) struct Stop(pub(crate) Finding, pub(crate) Exit);

impl Stop {
    /// Before anything was computed: for what the user gave, or a device that fails.
    pub(crate) fn bad(finding: Finding) -> Stop {
        let exit = Exit::of(&finding);
        Stop(finding, exit)
    }

    /// Shows it.
    pub(crate) fn show(self) -> Exit {
        let Stop(finding, exit) = self;
        show(&[finding], exit).unwrap_or(exit)
    }
}

/// Runs a job to its end, or shows why it cannot come there.
pub(crate) fn run(job: &impl Job, args: &RunArgs) -> Exit {
    try_run(job, args).unwrap_or_else(Stop::show)
}

fn try_run(job: &impl Job, args: &RunArgs) -> Result<Exit, Stop> {
    let target = job.target(args.output.as_deref()).map_err(Stop::bad)?;
    let own = [target.npz(), target.checkpoint()];
    let help =
        "give the result another name, by `name` in [output], or another place with --output";
    keep_inputs(job.inputs(), own.into_iter().chain(job.others(&target)), help)
        .map_err(Stop::bad)?;
    let _lock = target.lock(tell).map_err(Stop::bad)?;
    refuse_other_kinds(job, &target).map_err(Stop::bad)?;
    refuse_to_replace(job, &target, args).map_err(Stop::bad)?;
    let replace = args.overwrite || is_there(&target.npz());
    let ready = job.prepare(args, &target).map_err(Stop::bad)?;
    if args.resume {
        // Before the probe, which takes the place of the result that says what to remove.
        job.take_back(&ready, &target);
    }
    target.probe(job.disk_bytes()).map_err(Stop::bad)?;
    let room = target.room(job.result_bytes());
    job.go(ready, Ground { args, target: &target, room, replace })
}

/// The right to write a single file, of the `own` kind, at a path that an option names: it replaces nothing that
/// is read, nothing at all unless the user says so, and can be written.
pub(crate) fn claim(
    (option, path): (&str, &Path),
    (own, help): (&str, &str),
    inputs: &[PathBuf],
    overwrite: bool,
) -> Result<Option<Lock>, Finding> {
    refuse_no_file(option, path, own, help)?;
    let claim = || {
        keep_inputs(inputs, [path.to_owned()], ANOTHER_PLACE)?;
        refuse_another_kind(path)?;
        let lock = Lock::take(path, tell)?;
        if is_there(path) && !overwrite {
            return Err(exists("file", path, ANOTHER_PLACE));
        }
        probe(path)?;
        Ok(lock)
    };
    claim().map_err(|finding| by_option(finding, option))
}

/// What is said of a file, by the option that names it.
pub(crate) fn by_option(finding: Finding, option: &str) -> Finding {
    match finding.help.as_ref().map(|help| help.replace("--output", option)) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// What a run is computed from stays, whatever the user says: a second run would start from the output of
/// the first.
fn keep_inputs(
    inputs: &[PathBuf],
    outputs: impl IntoIterator<Item = PathBuf>,
    help: &str,
) -> Result<(), Finding> {
    let replaced = outputs.into_iter().find(|output| is_read(inputs, output));
    replaced.map_or(Ok(()), |path| {
        Err(Finding::error("the result would replace what it is computed from")
            .in_file(path.display().to_string())
            .help(help))
    })
}

/// Whether a file is among the inputs, or a folder holds one of them.
pub(crate) fn is_read(inputs: &[PathBuf], output: &Path) -> bool {
    // What is not there cannot be what was read.
    let whole = |path: &Path| std::fs::canonicalize(path).ok();
    whole(output).is_some_and(|output| {
        inputs.iter().filter_map(|input| whole(input)).any(|input| input.starts_with(&output))
    })
}

/// Something that is there stays; `another` says what else to do than to replace it.
fn exists(what: &str, path: &Path, another: &str) -> Finding {
    let message = match broken_link(path) {
        Some(link) => format!("the {what} would replace a link: {link}"),
        None => format!("the {what} exists already"),
    };
    Finding::error(message)
        .in_file(path.display().to_string())
        .help(format!("replace it with --overwrite, or {another}"))
}

/// An existing result stays, unless the user says otherwise.
fn refuse_to_replace(job: &impl Job, target: &Target, args: &RunArgs) -> Result<(), Finding> {
    if args.overwrite && args.resume {
        return Err(Finding::error("--overwrite and --resume together")
            .help("--resume goes on from a checkpoint, --overwrite starts anew: give one"));
    }
    if args.overwrite {
        return Ok(());
    }
    if args.resume && job.goes_on(target) {
        // What cannot be read is refused by the job.
        let Some(former) = former::ends(target) else { return Ok(()) };
        let own = [former, former::put(target)].concat();
        let is_own = |path: &Path| target.extension(path).is_some_and(|end| own.contains(&end));
        let foreign = job.others(target).into_iter().find(|path| is_there(path) && !is_own(path));
        return foreign.map_or(Ok(()), |path| {
            let message = "the run that goes on would replace a file that it has not written, or not to the end";
            Err(Finding::error(message)
                .in_file(path.display().to_string())
                .help("move it away, or leave it out of [output] as the run began"))
        });
    }
    let later = job.later().filter(|_| args.resume).map_or(String::new(), |l| format!("; {l}"));
    let another = format!("{ANOTHER_PLACE}{later}");
    let exists = |path: &Path| exists("result", path, &another);
    if is_there(&target.npz()) {
        return Err(exists(&target.npz()));
    }
    let checkpoint = target.checkpoint();
    if is_there(&checkpoint) && !checkpoint.exists() {
        return Err(exists(&checkpoint));
    }
    if checkpoint.is_file() && !args.resume {
        return Err(Finding::error("there is a checkpoint of a run that was stopped")
            .in_file(checkpoint.display().to_string())
            .help("go on from it with --resume, or start anew with --overwrite"));
    }
    let Some(other) = job.others(target).into_iter().find(|path| is_there(path)) else {
        return Ok(());
    };
    if args.resume && !checkpoint.exists() {
        return Err(Finding::error("there is nothing to resume from: no checkpoint and no result")
            .in_file(other.display().to_string())
            .found(OF_NO_RESULT)
            .help("start anew with --overwrite, or choose another place with --output"));
    }
    Err(self::exists("file", &other, &another).found(OF_NO_RESULT))
}

/// A file is never replaced by a folder, nor anything but a file by one.
fn refuse_other_kinds(job: &impl Job, target: &Target) -> Result<(), Finding> {
    let folders = job.folders(target);
    let refuse = |path: PathBuf| {
        if !folders.contains(&path) {
            return refuse_another_kind(&path);
        }
        if path.is_dir() || !path.exists() {
            return Ok(());
        }
        Err(Finding::error("where a folder is to be written there is a file")
            .in_file(path.display().to_string())
            .help("move it away, or choose another place with --output"))
    };
    let own = [target.npz(), target.checkpoint()];
    own.into_iter().chain(job.others(target)).try_for_each(refuse)
}

/// Says that a run goes on, and from where.
pub(crate) fn note_resumed(from: &str) {
    note(&format!("{} {from}", Style::stderr().bold("resuming:")));
}

/// Says that a run was to go on and there is nothing to go on from.
pub(crate) fn note_no_checkpoint() {
    let head = Style::stderr().bold("note:");
    note(&format!("{head} there is no checkpoint, starting from the beginning"));
}

/// Says how far a run has come that was stopped.
pub(crate) fn note_stopped(at: &str) {
    note(&format!("{} {at}", Style::stderr().yellow("stopped:")));
}

/// Says where a checkpoint is, and how to go on from it.
pub(crate) fn note_kept(checkpoint: &Path, args: &RunArgs) {
    note(&format!("  the checkpoint:   {}", checkpoint.display()));
    note(&format!("  to go on from it: {}", resume_command(args)));
}
