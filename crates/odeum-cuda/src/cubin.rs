//! Machine code, and what the compiler says of it.

/// Machine code of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cubin {
    pub(crate) code: Vec<u8>,
    /// The compiler's log: registers, stack and spills of the kernel.
    pub(crate) log: String,
}

/// What ptxas says of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Stack of a thread, in bytes.
    pub stack: u32,
    /// Bytes a thread stores to memory for want of registers.
    pub spill_stores: u32,
    /// Bytes it loads back.
    pub spill_loads: u32,
}

impl Cubin {
    /// The resources of the kernel, read from the log.
    pub(crate) fn resources(&self, kernel: &str) -> Resources {
        let mut resources = Resources::default();
        let (mut entry, mut mine) = (false, false);
        for line in self.log.lines() {
            // A text may have several kernels.
            if line.contains("Compiling entry function") {
                entry = line.contains(&format!("'{kernel}'"));
            }
            if line.contains("Compiling entry function") || line.contains("Function properties for")
            {
                // Another block follows for each function that is called, whose name may contain the kernel's.
                mine = line.trim_end().ends_with(&format!(" {kernel}"))
                    || line.contains(&format!("'{kernel}'"));
            }
            let before = |word: &str| -> Option<u32> {
                let (head, _) = line.split_once(word)?;
                head.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
            };
            if let (true, Some(stack)) = (mine, before(" bytes stack frame")) {
                resources.stack = stack;
                resources.spill_stores = before(" bytes spill stores").unwrap_or(0);
                resources.spill_loads = before(" bytes spill loads").unwrap_or(0);
            }
            if let (true, 0, Some(registers)) = (entry, resources.registers, before(" registers")) {
                resources.registers = registers;
            }
        }
        resources
    }
}
