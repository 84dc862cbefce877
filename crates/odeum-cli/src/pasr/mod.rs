//! `odeum pasr`: states of a partially stirred reactor, as a set to test integrators on.

mod database;
mod feeds;
mod refused;
mod runs;
mod saved;

pub use database::Database;
pub(crate) use feeds::Feeds;
pub use runs::Plan;

use crate::args::PasrArgs;
use crate::exit::Exit;
use crate::job::claim;
use crate::report::{Progress, Style, Table, count, say, show, significant};
use odeum_case::mechanism;
use odeum_core::cores;
use odeum_io::Finding;
use odeum_io::npz::{Archive, write_archive};
use odeum_kinetics::Kinetics;
use odeum_kinetics::pasr::PasrSettings;
use odeum_ode::Monitor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn command(args: &PasrArgs) -> Exit {
    match run(args) {
        Ok(exit) => exit,
        Err((findings, exit)) => show(&findings, exit).unwrap_or(exit),
    }
}

fn run(args: &PasrArgs) -> Result<Exit, (Vec<Finding>, Exit)> {
    let bad = |finding| (vec![finding], Exit::BadInput);
    let inputs: Vec<_> =
        [&args.file].into_iter().chain(&args.beside.thermo).map(PathBuf::clone).collect();
    let own = ("npz", "its name may end in nothing too");
    let _lock = claim(("--output", &args.output), own, &inputs, args.overwrite).map_err(bad)?;
    let read = mechanism::read(&args.file, &args.beside.selection())
        .map_err(|findings| (findings, Exit::BadInput))?;
    show(&read.warnings, Exit::Success);
    let kinetics = Arc::new(read.kinetics);
    let plan = Plan::new(&kinetics, &args.runs).map_err(bad)?;
    let monitor = Arc::new(Monitor::new());
    crate::stop::stop_on_ctrl_c(&monitor, args.quiet, "what was computed");
    let begun = Instant::now();
    let mut progress = Progress::new(plan.steps, 0, args.quiet);
    let database = plan.compute(&monitor, |done| progress.update(done));
    progress.end();
    let database = database.map_err(|finding| (vec![finding], Exit::Broken))?;
    if monitor.is_stopped() {
        let finding = Finding::error("stopped: nothing is written")
            .help("run it again; the same seed gives the same states");
        return Err((vec![finding], Exit::Interrupted));
    }
    write(&args.output, &kinetics, &plan.settings, &database)
        .map_err(|finding| (vec![finding], Exit::Broken))?;
    let outside = database.temperatures.iter().filter(|t| !kinetics.data_hold_at(**t)).count();
    if outside > 0 {
        let (low, high) = kinetics.temperature_bounds();
        let message =
            format!("{} states lie outside the thermodynamic data", count(outside as u64));
        let help = format!("the data hold from {low} to {high} K, and are extrapolated");
        show(&[Finding::error(message).into_warning().help(help)], Exit::Success);
    }
    if !args.quiet {
        let mut facts = Table::pairs();
        facts.pair("states", count(database.len() as u64));
        facts.pair("runs", plan.settings.len().to_string());
        let (low, high) = database.temperatures();
        facts.pair("temperatures", format!("{low:.0} to {high:.0} K"));
        facts.pair("integrations", count(database.integrations));
        let seconds = begun.elapsed().as_secs_f64();
        let rate = significant(database.integrations as f64 / seconds);
        facts.pair("time", format!("{seconds:.1} s, {rate} integrations/s"));
        facts.pair("result", args.output.display().to_string());
        say(&facts.render(Style::stdout()));
    }
    Ok(Exit::Success)
}

fn write(
    path: &Path,
    kinetics: &Kinetics,
    settings: &[PasrSettings],
    database: &Database,
) -> Result<(), Finding> {
    let (m, n) = (database.len(), kinetics.n_species());
    let about = serde_json::json!({
        "odeum": env!("CARGO_PKG_VERSION"),
        "runs": settings.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>(),
    });
    let mut archive = Archive::default();
    archive.numbers("t", &[m], &database.times[..]);
    archive.numbers("T", &[m], &database.temperatures[..]);
    archive.numbers("p", &[m], &database.pressures[..]);
    archive.numbers("Y", &[m, n], &database.mass_fractions[..]);
    archive.rows("run", "<i8", &[m], m, |rows, bytes| {
        database.runs[rows].iter().for_each(|run| bytes.extend((*run as i64).to_le_bytes()));
    });
    archive.texts("species_names", kinetics.species_names());
    archive.text("about", &about.to_string());
    write_archive(path, None, cores(), archive)
}
