//! Exit codes.

use odeum_io::Finding;

/// How a command ended, as the exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Success = 0,
    /// The run is complete, but systems failed, and `--strict` was given.
    SystemsFailed = 1,
    /// Something the user gave cannot be used; nothing was computed.
    BadInput = 2,
    /// The run broke: the device failed, or the result could not be written.
    Broken = 3,
    /// Stopped by Ctrl-C (128 + SIGINT).
    Interrupted = 130,
    /// The reader of the standard output has gone (128 + SIGPIPE).
    Unheard = 141,
}

impl Exit {
    /// How a command ends that has computed nothing yet.
    pub(crate) fn of(finding: &Finding) -> Exit {
        if finding.device_failed { Exit::Broken } else { Exit::BadInput }
    }
}
