//! Runs that are stopped from outside, and how they are taken up again.

use crate::args::RunArgs;
use crate::finding::Finding;
use crate::{Exit, show};
use odeum::Monitor;
use std::sync::Arc;

/// The command that takes a stopped run up again.
pub(crate) fn resume_command(args: &RunArgs) -> String {
    let mut command = format!("odeum run {}", args.case.display());
    if let Some(output) = &args.output {
        command += &format!(" --output {}", output.display());
    }
    if let Some(device) = &args.place.device {
        command += &format!(" --device {device}");
    }
    if let Some(threads) = args.place.threads {
        command += &format!(" --threads {threads}");
    }
    command + " --resume"
}

/// The first Ctrl-C stops the run in an orderly way, the second at once.
pub(crate) fn stop_on_ctrl_c(monitor: &Arc<Monitor>, quiet: bool) {
    let monitor = Arc::clone(monitor);
    let handler = move || {
        if monitor.is_stopped() {
            std::process::exit(Exit::Interrupted as i32);
        }
        monitor.stop();
        if !quiet {
            eprintln!("\nstopping; press Ctrl-C again to leave at once");
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        let message = format!("Ctrl-C will not stop this run in an orderly way: {error}");
        show(&[Finding::warning(message)], Exit::Broken);
    }
}
