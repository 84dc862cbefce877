//! Runs that are stopped from outside, and how they are taken up again.

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::report::{note, show};
use odeum_io::Finding;
use odeum_ode::Monitor;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The command that takes a stopped run up again, with all options that say what is done, where, and how it ends.
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
    if args.strict {
        command += " --strict";
    }
    command + " --resume"
}

/// A path as a shell takes it for one word, and a command for no option.
fn quoted(path: &Path) -> String {
    let mut text = path.display().to_string();
    if text.starts_with('-') {
        text.insert_str(0, "./");
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What a run loses that is left at once.
pub(crate) const SINCE_CHECKPOINT: &str = "what was computed since the last checkpoint";

/// Signals that come within this time are one request: `timeout` and terminals that are closed send several at once.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// The first Ctrl-C stops the run in an orderly way, a later one at once, which says what is `lost`.
pub(crate) fn stop_on_ctrl_c(monitor: &Arc<Monitor>, quiet: bool, lost: &'static str) {
    let monitor = Arc::clone(monitor);
    let mut asked: Option<Instant> = None;
    let handler = move || match asked {
        None => {
            asked = Some(Instant::now());
            monitor.stop();
            if !quiet {
                note("\nstopping; press Ctrl-C again to leave at once");
            }
        }
        Some(first) if first.elapsed() < ONE_REQUEST => {}
        Some(_) => {
            note(&format!("left at once: {lost} is lost"));
            std::process::exit(Exit::Interrupted as i32);
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
            ("-a.toml", "./-a.toml"),
            ("- a", "'./- a'"),
        ] {
            assert_eq!(quoted(Path::new(path)), expected);
        }
    }
}
