//! One GPU: its context, its limits, and the kernels that are compiled for it.

use super::kernel::Kernel;
use super::memory::{Memory, Pinned, is_page_locked};
use super::pending::Pending;
use super::stream::{Event, Graph, Stream};
use crate::compile::{Source, VIRTUAL, known_architectures};
use crate::cubin::Cubin;
use crate::device::{Device, Limits};
use crate::library::{failed, has_driver, need_compiler, need_driver};
use crate::tensor_map::{TensorMap, TensorMapLayout};
use cudarc::driver::result::device;
use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use cudarc::driver::{CudaContext, CudaModule, sys};
use cudarc::nvrtc::Ptx;
use odeum_core::{Error, lock};
use std::collections::HashMap;
use std::ffi::c_void;
use std::iter;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// An opened GPU. Its context takes a tenth of a second, so it is made once per process, and only when it is wanted: what kernels are
/// compiled for is known without.
#[derive(Clone)]
pub struct Gpu(Arc<Opened>);

struct Opened {
    context: OnceLock<Arc<CudaContext>>,
    /// Held by who makes it.
    opening: Mutex<()>,
    limits: Limits,
    ordinal: usize,
    capability: Capability,
    /// `sm_90a`.
    arch: OnceLock<String>,
}

/// A compute capability: the generation of a GPU.
type Capability = (usize, usize);

/// The least that the compiler makes code for.
const NEEDED: Capability = (7, 5);

/// Of which GPUs are used for what no others have.
const HOPPER: Capability = (9, 0);

/// An error for a GPU that the compiler makes no code for.
fn check_capability(device: &str, (major, minor): Capability) -> Result<(), Error> {
    if (major, minor) >= NEEDED {
        return Ok(());
    }
    Err(Error::Device {
        device: device.to_owned(),
        reason: format!(
            "its compute capability is {major}.{minor}, and {}.{} is needed",
            NEEDED.0, NEEDED.1
        ),
        remedy: "use the CPU, or a newer GPU".to_owned(),
    })
}

/// What code is compiled for, by a compiler that knows these architectures. An `a` asks for what only this generation of GPUs
/// has. For GPUs newer than the compiler it is text for the newest that it knows, which the driver translates.
fn architecture((major, minor): Capability, known: &[usize]) -> String {
    let number = 10 * major + minor;
    let older = known.iter().copied().filter(|&known| known < number).max();
    match older {
        Some(older) if !known.contains(&number) => format!("{VIRTUAL}{older}"),
        _ if (major, minor) == HOPPER => format!("sm_{number}a"),
        _ => format!("sm_{number}"),
    }
}

impl Gpu {
    /// The GPU of this number.
    ///
    /// # Errors
    /// No driver or one that is too old, no such GPU, or one that is.
    pub fn open(ordinal: usize) -> Result<Gpu, Error> {
        let gpu = Gpu::find(ordinal)?;
        check_capability(&gpu.name(), gpu.0.capability)?;
        Ok(gpu)
    }

    /// The GPU of this number, whatever it is.
    fn find(ordinal: usize) -> Result<Gpu, Error> {
        /// One for each number: opening one GPU does not wait for another.
        type Place = Arc<Mutex<Option<Gpu>>>;
        static OPEN: OnceLock<Mutex<HashMap<usize, Place>>> = OnceLock::new();
        let device = format!("cuda:{ordinal}");
        need_driver(&device)?;
        let place = lock(OPEN.get_or_init(Mutex::default)).entry(ordinal).or_default().clone();
        let mut place = lock(&place);
        if let Some(gpu) = &*place {
            return Ok(gpu.clone());
        }
        let count = device_count(&device)?;
        if ordinal >= count {
            return Err(Error::Device {
                device,
                reason: format!("the driver sees {count} GPU(s), numbered from 0"),
                remedy: "choose one of these; CUDA_VISIBLE_DEVICES may hide others".to_owned(),
            });
        }
        // The compiler's library comes while the driver starts.
        let _ = thread::Builder::new().spawn(|| need_compiler("cuda"));
        let number = device::get(ordinal as i32).map_err(failed(format!("opening {device}")))?;
        let attribute = |attribute| -> Result<usize, Error> {
            // SAFETY: the driver has just said that it is a device.
            let value = unsafe { device::get_attribute(number, attribute) };
            Ok(usize::try_from(value.map_err(failed("reading attributes"))?).unwrap_or(0))
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
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let (context, opening, arch) = Default::default();
        let opened = Opened { context, opening, limits, ordinal, capability, arch };
        let gpu = Gpu(Arc::new(opened));
        *place = Some(gpu.clone());
        Ok(gpu)
    }

    /// The GPUs of these numbers, opened side by side, with their contexts.
    ///
    /// # Errors
    /// As [`open`](Gpu::open).
    pub fn open_all(ordinals: &[usize]) -> Result<Vec<Gpu>, Error> {
        let Some((&first, others)) = ordinals.split_first() else { return Ok(Vec::new()) };
        thread::scope(|scope| {
            let open = |ordinal: usize| -> Result<Gpu, Error> {
                let gpu = Gpu::open(ordinal)?;
                gpu.context()?;
                Ok(gpu)
            };
            let opening: Vec<_> =
                others.iter().map(|&ordinal| scope.spawn(move || open(ordinal))).collect();
            let first = open(first);
            let opened = others.iter().zip(opening).map(|(ordinal, opening)| {
                opening.join().unwrap_or_else(|_| {
                    Err(Error::Cuda {
                        doing: format!("opening cuda:{ordinal}"),
                        reason: "its thread ended".to_owned(),
                    })
                })
            });
            iter::once(first).chain(opened).collect()
        })
    }

    /// Its number, as the driver counts.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// Waits for all work that this process has given to the GPU, on any stream: other libraries' too, which share its context.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn wait_for_all(&self) -> Result<(), Error> {
        self.context()?.synchronize().map_err(failed("waiting for a GPU"))
    }

    /// Makes the GPU the one that this thread's driver calls mean.
    pub(super) fn bind(&self) -> Result<(), Error> {
        let bound = self.context()?.bind_to_thread();
        bound.map_err(failed(format!("binding cuda:{}", self.0.ordinal)))
    }

    /// Its context.
    pub(super) fn context(&self) -> Result<&Arc<CudaContext>, Error> {
        let Opened { context, opening, ordinal, .. } = &*self.0;
        if let Some(context) = context.get() {
            return Ok(context);
        }
        let _alone = lock(opening);
        if let Some(context) = context.get() {
            return Ok(context);
        }
        let made = CudaContext::new(*ordinal).map_err(failed(format!("opening cuda:{ordinal}")))?;
        Ok(context.get_or_init(|| made))
    }

    fn source(&self, source: &str, kernels: &[&str]) -> Source {
        let (kernel, arch) = (kernels.first().copied().unwrap_or_default(), self.arch().to_owned());
        Source { kernel: kernel.to_owned(), source: source.to_owned(), arch }
    }

    /// What code is compiled for.
    fn arch(&self) -> &str {
        self.0.arch.get_or_init(|| architecture(self.0.capability, &known_architectures()))
    }

    /// Loads machine code; the modules are those who asked's to keep.
    fn module(&self, name: &str, cubin: Cubin) -> Result<Arc<CudaModule>, Error> {
        let loaded = self.context()?.load_module(Ptx::from_binary(cubin.code));
        loaded.map_err(failed(format!("loading {name}")))
    }
}

impl Device for Gpu {
    type Memory = Memory;
    type Pinned = Pinned;
    type Kernel = Kernel;
    type Pending = Pending;
    type Stream = Stream;
    type Event = Event;
    type Graph = Graph;

    fn name(&self) -> String {
        format!("cuda:{}", self.0.ordinal)
    }

    fn limits(&self) -> Limits {
        self.0.limits
    }

    fn has_warp_groups(&self) -> bool {
        self.0.capability == HOPPER && !self.arch().starts_with(VIRTUAL)
    }

    /// `ODEUM_CUDA_MEMORY_LIMIT` (bytes) is the limit, which is how small GPUs are tried on large ones.
    fn free_memory(&self, idle: usize) -> Result<usize, Error> {
        self.bind()?;
        let (free, _) = self.context()?.mem_get_info().map_err(failed("asking for free memory"))?;
        let limit = std::env::var("ODEUM_CUDA_MEMORY_LIMIT").ok().and_then(|l| l.parse().ok());
        Ok((free + idle).min(limit.unwrap_or(usize::MAX)))
    }

    fn reserve(&self, bytes: usize) -> Result<Memory, Error> {
        Memory::reserve(self, bytes)
    }

    fn memory(&self, bytes: usize) -> Result<Memory, Error> {
        Memory::zeroed(self, bytes)
    }

    fn pinned(&self, bytes: usize) -> Result<Pinned, Error> {
        Pinned::new(self, bytes)
    }

    fn is_page_locked(&self, address: *const u8, bytes: usize) -> bool {
        is_page_locked(self, address, bytes)
    }

    fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    fn event(&self) -> Result<Event, Error> {
        Event::new(self)
    }

    fn tensor_map(&self, field: u64, layout: &TensorMapLayout) -> Result<TensorMap, Error> {
        self.bind()?;
        let mut map = TensorMap([0; 16]);
        let (sizes, strides) = (layout.sizes.map(|n| n as u64), layout.strides.map(|n| n as u64));
        let box_sizes = [layout.box_sizes[0] as u32, layout.box_sizes[1] as u32, 1];
        // SAFETY: `map` has the size and the alignment of a tensor map; the lists have as many
        // entries as there are axes. The driver writes the map and keeps no pointer.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                (&raw mut map).cast(),
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                3,
                field as *mut c_void,
                sizes.as_ptr(),
                strides.as_ptr(),
                box_sizes.as_ptr(),
                [1; 3].as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        }
        .result()
        .map_err(failed("mapping a field"))?;
        Ok(map)
    }

    fn enable_peer_access(&self, other: &Gpu) -> Result<(), Error> {
        if self.0.ordinal == other.0.ordinal {
            return Ok(());
        }
        self.bind()?;
        let mut can = 0;
        let (device, peer) = (self.context()?.cu_device(), other.context()?.cu_device());
        // SAFETY: both devices are open; the pointer is to a live integer.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, device, peer) }
            .result()
            .map_err(failed("asking how GPUs are connected"))?;
        if can == 0 {
            return Ok(());
        }
        // SAFETY: the context that is bound is this GPU's, and the other one's lives as long as
        // it is open. What is refused (reached already, or too many) leaves the way it was.
        let _ = unsafe { sys::cuCtxEnablePeerAccess(other.context()?.cu_ctx(), 0) };
        Ok(())
    }

    fn cached(&self, source: &str, kernels: &[&str]) -> Option<Pending> {
        Pending::cached(&self.source(source, kernels), kernels)
    }

    fn compile_async(&self, source: &str, kernels: &[&str]) -> Pending {
        Pending::begin(&self.source(source, kernels), kernels)
    }

    fn wait(&self, pending: Pending) -> Result<Vec<Kernel>, Error> {
        // The context is made beside the compiler.
        let bound = self.bind();
        let (name, kernels, cubin) = pending.wait()?;
        bound?;
        let module = self.module(&name, cubin)?;
        let load = |kernel: String| {
            let function = module.load_function(&kernel);
            let function = function.map_err(failed(format!("loading {kernel}")))?;
            Ok(Kernel { function, name: kernel })
        };
        kernels.into_iter().map(load).collect()
    }
}

/// How many GPUs the driver sees: an error where there are none.
fn device_count(device: &str) -> Result<usize, Error> {
    let none = sys::CUresult::CUDA_ERROR_NO_DEVICE;
    match CudaContext::device_count() {
        Ok(count @ 1..) => Ok(usize::try_from(count).unwrap_or(0)),
        Err(error) if error.0 != none => Err(Error::Device {
            device: device.to_owned(),
            reason: format!("the NVIDIA driver does not start: {error}"),
            remedy: "see that `nvidia-smi` lists a GPU for this user".to_owned(),
        }),
        _ => Err(no_gpu(device, std::env::var("CUDA_VISIBLE_DEVICES").ok().as_deref())),
    }
}

/// An error for a driver that sees no GPU, with what `CUDA_VISIBLE_DEVICES` is.
fn no_gpu(device: &str, visible: Option<&str>) -> Error {
    // A list that begins with the first GPU hides not all.
    let hidden = visible.filter(|list| list.split(',').next() != Some("0"));
    let (why, remedy) = match hidden {
        Some(list) => (
            format!(": CUDA_VISIBLE_DEVICES, which is \"{list}\", may hide all"),
            "unset CUDA_VISIBLE_DEVICES, or give it the numbers of GPUs, as 0,1",
        ),
        None => (String::new(), "see that `nvidia-smi` lists a GPU for this user"),
    };
    Error::Device {
        device: device.to_owned(),
        reason: format!("the NVIDIA driver sees no GPU{why}"),
        remedy: remedy.to_owned(),
    }
}

/// What a GPU is.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Number of the GPU, as `Cuda::ordinals` takes it.
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

impl DeviceInfo {
    /// Whether it can be used.
    ///
    /// # Errors
    /// A GPU that is too old.
    pub fn check(&self) -> Result<(), Error> {
        let number = |n: i32| usize::try_from(n).unwrap_or(0);
        let (major, minor) = self.compute_capability;
        check_capability(&format!("cuda:{}", self.ordinal), (number(major), number(minor)))
    }
}

/// Whether the driver, if there is one that sees any GPU, sees those of these numbers, and they can be used: a run may be meant for
/// another computer where there is none.
///
/// # Errors
/// As [`Gpu::open`].
pub fn check_gpus(ordinals: &[usize]) -> Result<(), Error> {
    if !has_driver() {
        return Ok(());
    }
    need_driver("cuda")?;
    match device_count("cuda") {
        Ok(1..) => ordinals.iter().try_for_each(|&ordinal| Gpu::open(ordinal).map(drop)),
        _ => Ok(()),
    }
}

/// The GPUs of this computer.
///
/// # Errors
/// When there is no NVIDIA driver, one that is too old, or one that sees no GPU; the error says what was looked for, and where.
pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
    let driver = need_driver("cuda")?;
    (0..device_count("cuda")?)
        .map(|ordinal| {
            let gpu = Gpu::find(ordinal)?;
            let context = gpu.context()?;
            let doing = || failed(format!("describing cuda:{ordinal}"));
            let (free, all) = context.mem_get_info().map_err(doing())?;
            let clock =
                context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).map_err(doing())?;
            Ok(DeviceInfo {
                ordinal,
                name: context.name().map_err(doing())?,
                compute_capability: context.compute_capability().map_err(doing())?,
                memory: (all, free),
                multiprocessors: gpu.0.limits.multiprocessors,
                clock_mhz: f64::from(clock) / 1e3,
                driver,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_made_for_what_the_compiler_knows() {
        let known = [75, 80, 86, 90, 100, 120];
        assert_eq!(architecture((9, 0), &known), "sm_90a");
        assert_eq!(architecture((8, 6), &known), "sm_86");
        // For newer GPUs, and those in between, of what the newest older one understands.
        assert_eq!(architecture((13, 0), &known), "compute_120");
        assert_eq!(architecture((8, 9), &known), "compute_86");
        assert_eq!(architecture((9, 0), &[75, 80]), "compute_80");
        // Where there is no compiler that is told later.
        assert_eq!(architecture((12, 0), &[]), "sm_120");
    }

    #[test]
    fn the_variable_that_hides_gpus_is_named_where_it_may() {
        for list in ["", "-1", "7", "GPU-1f"] {
            let error = no_gpu("cuda", Some(list)).to_string();
            let found = format!("sees no GPU: CUDA_VISIBLE_DEVICES, which is \"{list}\",");
            assert!(error.contains(&found) && error.contains("unset"), "{error}");
        }
        // As the command sets it by itself.
        for list in [None, Some("0"), Some("0,1")] {
            assert!(!no_gpu("cuda", list).to_string().contains("CUDA_VISIBLE_DEVICES"), "{list:?}");
        }
    }

    #[test]
    fn gpus_that_are_too_old_are_refused() {
        assert!(check_capability("cuda:0", (7, 5)).is_ok());
        assert!(check_capability("cuda:0", (10, 0)).is_ok());
        for capability in [(7, 0), (6, 1), (5, 2)] {
            let error = check_capability("cuda:1", capability).unwrap_err().to_string();
            let found =
                format!("cuda:1: its compute capability is {}.{}", capability.0, capability.1);
            assert!(error.starts_with(&found), "{error}");
            assert!(error.contains("7.5 is needed") && error.contains("use the CPU"), "{error}");
        }
    }
}
