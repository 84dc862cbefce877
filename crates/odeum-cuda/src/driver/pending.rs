//! Kernels that are being compiled while other work goes on.

use crate::compile::Source;
use crate::cubin::Cubin;
use odeum_core::Error;
use std::thread::{Builder, JoinHandle};

/// Kernels of a text, which a thread of its own compiles unless they are in the cache.
pub struct Pending {
    name: String,
    kernels: Vec<String>,
    /// `None` once they have been taken.
    code: Option<Code>,
}

enum Code {
    Under(JoinHandle<Result<Cubin, Error>>),
    Here(Result<Cubin, Error>),
}

impl Pending {
    fn new(text: &Source, kernels: &[&str], code: Code) -> Pending {
        let kernels = kernels.iter().map(|&name| name.to_owned()).collect();
        Pending { name: text.kernel.clone(), kernels, code: Some(code) }
    }

    /// Those that are in the cache.
    pub(super) fn cached(text: &Source, kernels: &[&str]) -> Option<Pending> {
        text.cached().map(|cubin| Pending::new(text, kernels, Code::Here(Ok(cubin))))
    }

    /// Those that are not in the cache are compiled from now on.
    pub(super) fn begin(text: &Source, kernels: &[&str]) -> Pending {
        Pending::cached(text, kernels).unwrap_or_else(|| {
            let its = text.clone();
            let thread = Builder::new().spawn(move || its.compile());
            let code = thread.map_or_else(|_| Code::Here(text.compile()), Code::Under);
            Pending::new(text, kernels, code)
        })
    }

    /// Waits for them: the text's name, those of the kernels, and the machine code.
    pub(super) fn wait(mut self) -> Result<(String, Vec<String>, Cubin), Error> {
        let cubin = match self.code.take() {
            Some(Code::Here(cubin)) => cubin,
            Some(Code::Under(thread)) => thread.join().unwrap_or_else(|_| Err(lost(&self.name))),
            None => Err(lost(&self.name)),
        };
        Ok((std::mem::take(&mut self.name), std::mem::take(&mut self.kernels), cubin?))
    }
}

impl crate::device::Pending for Pending {
    fn is_ready(&self) -> bool {
        !matches!(&self.code, Some(Code::Under(thread)) if !thread.is_finished())
    }
}

/// Of a compiler that panicked.
fn lost(name: &str) -> Error {
    Error::Cuda { doing: format!("compiling {name}"), reason: "its thread ended".to_owned() }
}

impl Drop for Pending {
    /// A process that ends must not take the compiler's library from under it.
    fn drop(&mut self) {
        if let Some(Code::Under(thread)) = self.code.take() {
            let _ = thread.join();
        }
    }
}
