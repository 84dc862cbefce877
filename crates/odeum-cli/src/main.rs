//! The `odeum` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    let status = odeum_cli::run(std::env::args_os());
    leave(status);
    status.into()
}

/// Ends the process at once. The driver of GPUs takes some 30 ms at the end of a process to give back what the system
/// takes back by itself.
#[cfg(target_os = "linux")]
fn leave(status: u8) {
    use std::io::Write;
    unsafe extern "C" {
        /// Of POSIX: calls no handlers.
        safe fn _exit(status: i32) -> !;
    }
    // What could not be written was told before.
    let _ = std::io::stdout().flush();
    _exit(i32::from(status));
}

#[cfg(not(target_os = "linux"))]
fn leave(_: u8) {}
