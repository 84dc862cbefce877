//! Kernels of a caller over the systems of a session: they fill states from arrays that lie on the same GPU, and give
//! them back, without a copy through the host (device/resident.cuh).

use super::session::Session;
use super::source;
use odeum_core::{Error, Scalar};
use odeum_cuda::{Device, Gpu, Kernel, Memory, REAL, Stream, Text, argument};

const RESIDENT: &str = include_str!("device/resident.cuh");
/// Threads of a block.
const BLOCK: usize = 128;

/// Compiled kernels of a caller, for one session.
pub struct Exchange<D: Device = Gpu> {
    kernels: Vec<D::Kernel>,
    /// The least number that a kernel told.
    least: D::Memory,
}

impl<T: Scalar, D: Device> Session<T, D> {
    /// Compiles kernels of a caller, `__global__ void name(const OdResident, const A)`, each thread of which works for the
    /// system `od_own_system()` if there is one. Before the text stand the types and functions of device code, and
    /// `device/resident.cuh`.
    ///
    /// # Errors
    /// No compiler, a text that it refuses, or too little memory.
    pub fn exchange(&self, kernels: &str, names: &[&str]) -> Result<Exchange<D>, Error> {
        let (_, device, _) = self.resident().ok_or_else(ended)?;
        let text = text::<T>(kernels, self.n_counts());
        let kernels = device.wait(device.compile_async(&text, names))?;
        for kernel in &kernels {
            kernel.prepare(BLOCK, 0)?;
        }
        Ok(Exchange { kernels, least: device.reserve(size_of::<u64>())? })
    }

    /// Runs a kernel, by its place among the names, over all systems, and waits for it; gives the least number that it
    /// told by `od_tell`.
    ///
    /// # Safety
    /// The kernel takes an `A` as its second argument, and what it reaches through that is memory of the device that stays
    /// until it is done and that only the stream of the session ([`stream`](Session::stream)) writes meanwhile.
    ///
    /// # Errors
    /// When the driver fails.
    pub unsafe fn run<A: Copy>(
        &mut self,
        exchange: &mut Exchange<D>,
        kernel: usize,
        with: &A,
    ) -> Result<Option<u64>, Error> {
        let (mut resident, _, stream) = self.resident().ok_or_else(ended)?;
        let Exchange { kernels, least } = exchange;
        resident.least = least.address();
        let kernel = kernels.get(kernel).ok_or_else(|| {
            Error::input("kernel", kernel, format!("there are {}, from 0", kernels.len()))
        })?;
        let blocks = (resident.n_systems as usize).div_ceil(BLOCK);
        let mut arguments = [argument(&resident), argument(with)];
        // SAFETY: the kernel takes the structure that `Resident` mirrors, whose arrays live as long as the session, which
        // waits here; of the second argument the caller's promise.
        unsafe {
            stream.set_bytes(least, 0..size_of::<u64>(), 0xff)?;
            stream.launch(kernel, [blocks, 1, 1], [BLOCK, 1], 0, &mut arguments)?;
        }
        let mut told = [u64::MAX];
        stream.read(least, 0, &mut told)?;
        Ok(Some(told[0]).filter(|&told| told != u64::MAX))
    }

    /// The handle of the stream on which all work of the session is done, as the driver knows it.
    ///
    /// # Errors
    /// A session that ended.
    pub fn stream(&self) -> Result<u64, Error> {
        self.resident().map(|(_, _, stream)| stream.handle()).ok_or_else(ended)
    }
}

/// The whole text of kernels over systems of which so many numbers are counted.
pub(super) fn text<T: Scalar>(kernels: &str, n_counts: usize) -> String {
    let mut text = Text::default();
    text.define("OD_FLOAT", i32::from(T::NAME == "f32"));
    text.define("OD_EXCHANGE_BLOCK", BLOCK);
    source::statuses(&mut text);
    source::counts(&mut text, n_counts);
    source::compiler(&mut text);
    for part in [REAL, RESIDENT, kernels] {
        text.line(part);
    }
    text.finish()
}

fn ended() -> Error {
    Error::input("session", "its end", "begin another one")
}
