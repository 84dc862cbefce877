//! Kernels that are being compiled while other work goes on.

use super::compile::Text;
use super::cubin::Cubin;
use crate::error::Error;
use std::thread::{Builder, JoinHandle};

/// Kernels of a text, which a thread of its own compiles unless they are in the cache.
pub struct Coming {
    name: String,
    kernels: Vec<String>,
    /// `None` once they have been taken.
    code: Option<Code>,
}

enum Code {
    Under(JoinHandle<Result<Cubin, Error>>),
    Here(Result<Cubin, Error>),
}

impl Coming {
    fn new(text: &Text, kernels: &[&str], code: Code) -> Coming {
        let kernels = kernels.iter().map(|&name| name.to_owned()).collect();
        Coming { name: text.kernel.clone(), kernels, code: Some(code) }
    }

    /// Those that are in the cache.
    pub(super) fn kept(text: &Text, kernels: &[&str]) -> Option<Coming> {
        text.cached().map(|cubin| Coming::new(text, kernels, Code::Here(Ok(cubin))))
    }

    /// Those that are not in the cache are compiled from now on.
    pub(super) fn begin(text: &Text, kernels: &[&str]) -> Coming {
        Coming::kept(text, kernels).unwrap_or_else(|| {
            let its = text.clone();
            let thread = Builder::new().spawn(move || its.compile());
            let code = thread.map_or_else(|_| Code::Here(text.compile()), Code::Under);
            Coming::new(text, kernels, code)
        })
    }

    /// Whether nobody would have to wait for them.
    pub fn is_ready(&self) -> bool {
        !matches!(&self.code, Some(Code::Under(thread)) if !thread.is_finished())
    }

    /// Waits for them: the text's name, those of the kernels, and the machine code.
    pub(super) fn arrive(mut self) -> Result<(String, Vec<String>, Cubin), Error> {
        let cubin = match self.code.take() {
            Some(Code::Here(cubin)) => cubin,
            Some(Code::Under(thread)) => thread.join().unwrap_or_else(|_| Err(lost(&self.name))),
            None => Err(lost(&self.name)),
        };
        Ok((std::mem::take(&mut self.name), std::mem::take(&mut self.kernels), cubin?))
    }
}

/// Of a compiler that panicked.
fn lost(name: &str) -> Error {
    Error::Cuda { doing: format!("compiling {name}"), reason: "its thread ended".to_owned() }
}

impl Drop for Coming {
    /// A process that ends must not take the compiler's library from under it.
    fn drop(&mut self) {
        if let Some(Code::Under(thread)) = self.code.take() {
            let _ = thread.join();
        }
    }
}
