//! What is wrong with what a user gave: where, which field, what was found, what helps.

use crate::source::Source;
use odeum_core::with_exponents;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing can be run.
    Error,
    /// It can be run, but is probably not what was meant.
    Warning,
}

/// One thing that is wrong: a pointer wide, because most results are good.
#[derive(Clone, Debug)]
pub struct Finding(Box<Parts>);

/// The parts of a [`Finding`].
#[derive(Clone, Debug)]
pub struct Parts {
    /// Whether it stops a run.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// The name of the file when the place in it is not known.
    pub file: Option<String>,
    /// The place.
    pub span: Option<(Arc<Source>, Range<usize>)>,
    /// The field, as `tolerance.rtol`.
    pub field: Option<String>,
    /// The value found.
    pub found: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// A device failed: nothing that was given is at fault.
    pub device_failed: bool,
}

impl Finding {
    /// An error, at no place yet.
    pub fn error(message: impl Into<String>) -> Finding {
        Finding(Box::new(Parts {
            severity: Severity::Error,
            message: with_exponents(&message.into()),
            file: None,
            span: None,
            field: None,
            found: None,
            help: None,
            device_failed: false,
        }))
    }

    /// A warning, at no place yet.
    pub fn warning(message: impl Into<String>) -> Finding {
        Finding::error(message).into_warning()
    }

    /// The same, but no reason to stop.
    pub fn into_warning(mut self) -> Finding {
        self.severity = Severity::Warning;
        self
    }

    /// At a place in a text.
    pub fn at(mut self, source: &Arc<Source>, span: Range<usize>) -> Finding {
        self.span = Some((Arc::clone(source), span));
        self
    }

    /// In a file, the place in it unknown.
    pub fn in_file(mut self, name: impl Into<String>) -> Finding {
        self.file = Some(name.into());
        self
    }

    /// About a field, as `tolerance.rtol`.
    pub fn field(mut self, field: impl Into<String>) -> Finding {
        self.field = Some(field.into());
        self
    }

    /// The value that was found, cut when it is long.
    pub fn found(mut self, found: impl std::fmt::Display) -> Finding {
        let text = with_exponents(&found.to_string()).replace('\n', "⏎");
        let mut short: String = text.chars().take(60).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        self.found = Some(short);
        self
    }

    /// With what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(with_exponents(&help.into()));
        self
    }
}

impl std::ops::Deref for Finding {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl std::ops::DerefMut for Finding {
    fn deref_mut(&mut self) -> &mut Parts {
        &mut self.0
    }
}

/// Findings gathered while reading goes on, so that all are reported at once.
#[derive(Debug, Default)]
pub struct Findings(RefCell<Vec<Finding>>);

impl Findings {
    /// Adds one.
    pub fn push(&self, finding: Finding) {
        self.0.borrow_mut().push(finding);
    }

    /// Keeps the value, or the finding.
    pub fn ok<T>(&self, result: Result<T, Finding>) -> Option<T> {
        result.map_err(|finding| self.push(finding)).ok()
    }

    /// Whether any of them stops a run.
    pub fn has_errors(&self) -> bool {
        self.0.borrow().iter().any(|f| f.severity == Severity::Error)
    }

    /// All of them, in the order of their places.
    pub fn take(&self) -> Vec<Finding> {
        let mut all = self.0.take();
        all.sort_by_key(|f| f.span.as_ref().map_or(usize::MAX, |(_, span)| span.start));
        all
    }
}

impl From<odeum_ode::Error> for Finding {
    fn from(error: odeum_ode::Error) -> Finding {
        match error {
            odeum_ode::Error::Input { field, found, remedy } => {
                Finding::error(format!("{field}: {remedy}")).field(field.to_string()).found(found)
            }
            odeum_ode::Error::Device { device, reason, remedy } => {
                Finding::error(format!("the device {device} is not to be had: {reason}"))
                    .help(remedy)
            }
            other => {
                let mut finding = Finding::error(other.to_string());
                finding.device_failed = matches!(
                    other,
                    odeum_ode::Error::Cuda { .. } | odeum_ode::Error::Compile { .. }
                );
                finding
            }
        }
    }
}
