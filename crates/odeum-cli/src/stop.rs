//! Runs that are stopped from outside, and how they are taken up again.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::report::{note, show};
use odeum_io::Finding;
use odeum_ode::Monitor;
use std::path::Path;
use std::sync::Arc;

/// The command that takes a stopped run up again.
pub(crate) fn resume_command(args: &RunArgs) -> String {
    let mut command = format!("odeum run {}", quoted(&args.case));
    if let Some(output) = &args.output {
        command += &format!(" --output {}", quoted(output));
    }
    if let Some(device) = &args.place.device {
        command += &format!(" --device {device}");
    }
    if let Some(threads) = args.place.threads {
        command += &format!(" --threads {threads}");
    }
    if args.allow_missing {
        command += " --allow-missing";
    }
    command + " --resume"
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
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
            note("\nstopping; press Ctrl-C again to leave at once");
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        let message = format!("Ctrl-C will not stop this run in an orderly way: {error}");
        show(&[Finding::warning(message)], Exit::Broken);
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::path::Path;

    #[test]
    fn words_of_the_shell_stay_whole() {
        for (path, expected) in [
            ("runs/a.toml", "runs/a.toml"),
            ("my runs/a.toml", "'my runs/a.toml'"),
            ("it's.toml", r"'it'\''s.toml'"),
            ("a;b", "'a;b'"),
        ] {
            assert_eq!(quoted(Path::new(path)), expected);
        }
    }
}
