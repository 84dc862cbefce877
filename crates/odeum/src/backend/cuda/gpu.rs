//! One GPU: its context, its limits, and what is kept of it between calls.

use super::compile::{Text, version};
use super::cubin::Cubin;
use super::lane::Lane;
use super::layout::Limits;
use super::library::{failed, need_driver};
use super::lock::lock;
use super::plan::Kernel;
use super::recent::Recent;
use crate::error::Error;
use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use cudarc::driver::sys::CUfunction_attribute_enum as FunctionAttribute;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// An opened GPU. Opening takes a tenth of a second, so it is done once per process.
pub(super) struct Gpu {
    pub(super) context: Arc<CudaContext>,
    pub(super) limits: Limits,
    pub(super) ordinal: usize,
    /// `sm_90a`.
    arch: String,
    loaded: Mutex<Recent<Arc<Kernel>, Loaded>>,
    /// Streams and their memory that no run is using.
    idle: Mutex<Vec<Lane>>,
}

/// A kernel in the memory of a GPU, as long as someone has it.
#[derive(Clone)]
pub(super) struct Loaded {
    pub(super) function: CudaFunction,
    /// Blocks that a multiprocessor holds at once.
    pub(super) resident: usize,
}

/// What code is compiled for. An `a` asks for what only this generation of GPUs has.
fn architecture(major: i32, minor: i32) -> String {
    let own = if (major, minor) == (9, 0) { "a" } else { "" };
    format!("sm_{major}{minor}{own}")
}

impl Gpu {
    /// The GPU of this number.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Gpu>, Error> {
        /// One for each number: opening one GPU does not wait for another.
        type Place = Arc<Mutex<Option<Arc<Gpu>>>>;
        static OPEN: OnceLock<Mutex<HashMap<usize, Place>>> = OnceLock::new();
        let device = format!("cuda:{ordinal}");
        need_driver(&device)?;
        let place = lock(OPEN.get_or_init(Mutex::default)).entry(ordinal).or_default().clone();
        let mut place = lock(&place);
        if let Some(gpu) = &*place {
            return Ok(gpu.clone());
        }
        let count = device_count()?;
        if ordinal >= count {
            return Err(Error::Device {
                device,
                reason: format!("the driver sees {count} GPU(s), numbered from 0"),
                remedy: "choose one of these; CUDA_VISIBLE_DEVICES may hide others".to_owned(),
            });
        }
        // The compiler's library comes while the driver starts.
        let _ = thread::Builder::new().spawn(version);
        let context = CudaContext::new(ordinal).map_err(failed(format!("opening {device}")))?;
        let attribute = |attribute| -> Result<usize, Error> {
            let value = context.attribute(attribute).map_err(failed("reading attributes"))?;
            Ok(usize::try_from(value).unwrap_or(0))
        };
        let limits = Limits {
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_per_multiprocessor: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
            shared_per_block: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
        };
        let (major, minor) =
            context.compute_capability().map_err(failed("reading the compute capability"))?;
        let gpu = Arc::new(Gpu {
            context,
            limits,
            ordinal,
            arch: architecture(major, minor),
            loaded: Mutex::default(),
            idle: Mutex::default(),
        });
        *place = Some(gpu.clone());
        Ok(gpu)
    }

    /// The GPUs of these numbers, opened side by side.
    pub(super) fn open_all(ordinals: &[usize]) -> Result<Vec<Arc<Gpu>>, Error> {
        thread::scope(|scope| {
            let open = |&ordinal| scope.spawn(move || Gpu::open(ordinal));
            let opening: Vec<_> = ordinals.iter().map(open).collect();
            let opened = ordinals.iter().zip(opening).map(|(ordinal, opening)| {
                opening.join().unwrap_or_else(|_| {
                    Err(Error::Cuda {
                        doing: format!("opening cuda:{ordinal}"),
                        reason: "its thread ended".to_owned(),
                    })
                })
            });
            opened.collect()
        })
    }

    /// Whether warps can hand registers to each other, and copy boxes of fields.
    pub(super) fn has_warp_groups(&self) -> bool {
        self.arch == architecture(9, 0)
    }

    /// Makes the GPU the one that this thread's driver calls mean.
    pub(super) fn bind(&self) -> Result<(), Error> {
        self.context.bind_to_thread().map_err(failed(format!("binding cuda:{}", self.ordinal)))
    }

    /// A lane whose arena has at least this many bytes: an idle one, or a new one.
    pub(super) fn lane(&self, bytes: usize) -> Result<Lane, Error> {
        self.bind()?;
        let idle = {
            let mut idle = lock(&self.idle);
            let fits = idle.iter().position(|lane| lane.arena.bytes() >= bytes);
            // One that is too small makes room for its successor.
            fits.or_else(|| idle.len().checked_sub(1)).map(|k| idle.swap_remove(k))
        };
        match idle {
            Some(lane) => lane.with_room(bytes),
            None => Lane::new(&self.context, bytes),
        }
    }

    /// Takes a lane back for later runs, when its stream is done; after an error it may never be.
    pub(super) fn keep(&self, lane: Lane) {
        if lane.stream.synchronize().is_ok() {
            lock(&self.idle).push(lane);
        }
    }

    /// Compiles and loads a kernel, unless that has been done.
    pub(super) fn load(&self, kernel: &Arc<Kernel>) -> Result<Loaded, Error> {
        let mut loaded = lock(&self.loaded);
        if let Some(kernel) = loaded.get(kernel) {
            return Ok(kernel);
        }
        let cubin = self.text(kernel.name, &kernel.source).compile()?;
        let doing = || failed(format!("loading {}", kernel.name));
        let module = self.module(kernel.name, cubin)?;
        let function = module.load_function(kernel.name).map_err(doing())?;
        let layout = &kernel.layout;
        if layout.shared > 0 {
            let bytes = layout.shared as i32;
            let most = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function.set_attribute(most, bytes).map_err(doing())?;
            // All of the memory that is shared memory or cache, in percent.
            let share = FunctionAttribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
            function.set_attribute(share, 100).map_err(doing())?;
        }
        let resident = function
            .occupancy_max_active_blocks_per_multiprocessor(
                layout.block as u32,
                layout.shared,
                None,
            )
            .map_err(doing())?;
        let kernel_loaded = Loaded { function, resident: (resident as usize).max(1) };
        loaded.put(Arc::clone(kernel), kernel_loaded.clone());
        Ok(kernel_loaded)
    }

    /// A text for this GPU, which `name` names in errors.
    pub(super) fn text(&self, name: &str, source: &str) -> Text {
        Text { kernel: name.to_owned(), source: source.to_owned(), arch: self.arch.clone() }
    }

    /// Loads machine code; the modules are those who asked's to keep.
    pub(super) fn module(&self, name: &str, cubin: Cubin) -> Result<Arc<CudaModule>, Error> {
        self.context
            .load_module(Ptx::from_binary(cubin.code))
            .map_err(failed(format!("loading {name}")))
    }

    /// Bytes of device memory that may be used: what is free, or less where
    /// `ODEUM_CUDA_MEMORY_LIMIT` (bytes) says so, which is how small GPUs are tried on large ones.
    pub(super) fn free_memory(&self) -> Result<usize, Error> {
        let (free, _) = self.context.mem_get_info().map_err(failed("asking for free memory"))?;
        let kept: usize = lock(&self.idle).iter().map(|lane| lane.arena.bytes()).sum();
        let limit = std::env::var("ODEUM_CUDA_MEMORY_LIMIT").ok().and_then(|l| l.parse().ok());
        Ok((free + kept).min(limit.unwrap_or(usize::MAX)))
    }
}

fn device_count() -> Result<usize, Error> {
    let count = CudaContext::device_count().map_err(|error| Error::Device {
        device: "cuda".to_owned(),
        reason: format!("the NVIDIA driver does not start: {error}"),
        remedy: "see that `nvidia-smi` lists a GPU for this user".to_owned(),
    })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// What a GPU is.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Number of the GPU, as [`Cuda::ordinals`](super::Cuda::ordinals) takes it.
    pub ordinal: usize,
    /// Name, as the driver gives it.
    pub name: String,
    /// Compute capability.
    pub compute_capability: (i32, i32),
    /// Memory, in bytes, all and free.
    pub memory: (usize, usize),
    /// Number of multiprocessors.
    pub multiprocessors: usize,
    /// Highest clock of the multiprocessors, in MHz.
    pub clock_mhz: f64,
    /// Newest CUDA version the driver supports, as 13.0.
    pub driver: (i32, i32),
}

/// The GPUs of this computer.
///
/// # Errors
/// When there is no NVIDIA driver; the error says what was looked for, and where.
pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
    need_driver("cuda")?;
    (0..device_count()?)
        .map(|ordinal| {
            let gpu = Gpu::open(ordinal)?;
            let context = &gpu.context;
            let doing = || failed(format!("describing cuda:{ordinal}"));
            let (free, all) = context.mem_get_info().map_err(doing())?;
            let clock =
                context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).map_err(doing())?;
            let mut version = 0;
            // SAFETY: the library is present; the pointer is to a live integer.
            unsafe { cudarc::driver::sys::cuDriverGetVersion(&mut version) }
                .result()
                .map_err(doing())?;
            Ok(DeviceInfo {
                ordinal,
                name: context.name().map_err(doing())?,
                compute_capability: context.compute_capability().map_err(doing())?,
                memory: (all, free),
                multiprocessors: gpu.limits.multiprocessors,
                clock_mhz: f64::from(clock) / 1e3,
                driver: (version / 1000, version % 1000 / 10),
            })
        })
        .collect()
}
