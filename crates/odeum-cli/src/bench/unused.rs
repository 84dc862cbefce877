//! Options that a study does not use: refused, for the numbers would not be those asked for.

use crate::args::BenchArgs;
use odeum_io::Finding;
use odeum_ode::Device;

/// Refuses what a study of a built-in problem does not use.
pub(super) fn of_problems(args: &BenchArgs) -> Result<(), Finding> {
    fields_only(args)?;
    mechanisms_only(args)
}

/// Refuses what a study of fields does not use.
pub(super) fn of_fields(args: &BenchArgs) -> Result<(), Finding> {
    mechanisms_only(args)?;
    let given = [
        ("--systems", !args.systems.is_empty()),
        ("--variants", !args.variants.is_empty()),
        ("--add", !args.add.is_empty()),
    ];
    refuse(args, &given, "these belong to studies of ensembles; --sizes says how large fields are")
}

/// Mechanisms have studies of their own.
fn mechanisms_only(args: &BenchArgs) -> Result<(), Finding> {
    let given = [
        ("--mechanism", args.mechanism.is_some()),
        ("--thermo", args.beside.thermo.is_some()),
        ("--phase", args.beside.phase.is_some()),
        ("--include", !args.beside.include.is_empty()),
        ("--states", args.states.is_some()),
        ("--parts", !args.parts.is_empty()),
        ("--methods", !args.methods.is_empty()),
    ];
    let help = "these belong to `odeum bench chemistry` and `odeum bench ethanol`; leave them out";
    refuse(args, &given, help)
}

/// Refuses what a study of a mechanism does not use.
pub(super) fn of_mechanisms(args: &BenchArgs) -> Result<(), Finding> {
    fields_only(args)?;
    let own_states = args.name == "ethanol" && args.states.is_some();
    refuse(args, &[("--states", own_states)], "it makes its own states; leave them out")?;
    let given = [("--variants", !args.variants.is_empty())];
    let help =
        "these belong to studies of built-in problems; --parts chooses what is measured here";
    refuse(args, &given, help)?;
    let on_gpu = matches!(args.place.device, Some(Device::Cuda(_)));
    if args.systems.len() > 1 && !on_gpu {
        let all: Vec<String> = args.systems.iter().map(usize::to_string).collect();
        let message = format!("the study `{}` takes one number of systems", args.name);
        return Err(Finding::error(message)
            .field("--systems")
            .found(all.join(","))
            .help("give the largest; the part `sizes` goes up to it from few"));
    }
    Ok(())
}

/// Refuses what is not used where the documents of `--add` are drawn and nothing is measured, for want of a mechanism.
pub(super) fn of_drawings(args: &BenchArgs) -> Result<(), Finding> {
    let given = [
        ("--states", args.states.is_some()),
        ("--parts", !args.parts.is_empty()),
        ("--methods", !args.methods.is_empty()),
        ("--systems", !args.systems.is_empty()),
        ("--json", args.json.is_some()),
        ("--device", args.place.device.is_some()),
        ("--threads", args.place.threads.is_some()),
    ];
    let help = "without --mechanism nothing is measured and what --add names is drawn; give one, or leave them out";
    refuse(args, &given, help)
}

/// Grids are of fields alone.
fn fields_only(args: &BenchArgs) -> Result<(), Finding> {
    let given = [("--small", args.small), ("--sizes", !args.sizes.is_empty())];
    refuse(args, &given, "it belongs to `odeum bench fields`; leave it out")
}

fn refuse(args: &BenchArgs, options: &[(&str, bool)], help: &str) -> Result<(), Finding> {
    let given: Vec<&str> =
        options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    if given.is_empty() {
        return Ok(());
    }
    let message = format!("the study `{}` does not use {}", args.name, given.join(", "));
    Err(Finding::error(message).help(help))
}
