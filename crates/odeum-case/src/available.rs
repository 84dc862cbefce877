//! Memory that can still be had: that of the system, or less where a control group or a limit of the
//! process says so, as containers, batch systems and shells do.

use odeum_io::Finding;
use odeum_io::number::bytes;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// What is left of a limit on addresses for what nobody plans: texts, the buffers of threads and files,
/// and libraries. A process that finds none ends by a signal.
const RESERVE: u128 = 64 << 20;

/// Addresses that a thread takes: its stack, and pieces of files that it makes \[bytes\].
const THREAD: u128 = 4 << 20;

/// Memory that is free, and the limit that says so, where the process has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Free {
    /// How many bytes.
    pub bytes: u128,
    limit: Option<&'static str>,
}

impl Free {
    /// That of a device, or where a limit is not known of.
    pub fn bytes(bytes: u128) -> Free {
        Free { bytes, limit: None }
    }
}

impl fmt::Display for Free {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} are free", bytes(self.bytes))?;
        self.limit.map_or(Ok(()), |limit| write!(f, " within {limit}"))
    }
}

/// What a run takes beside the memory it asks for. It is that of addresses: little of it is touched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Working {
    /// Threads that are started beside it.
    pub threads: usize,
    /// Copies on their way to files, and starts of systems.
    pub bytes: u128,
}

/// Where the system says so.
pub fn available_memory(working: Working) -> Option<Free> {
    let limited = of_process().map(|(left, limit)| {
        let threads = THREAD.saturating_mul(working.threads as u128);
        let beside = RESERVE.saturating_add(threads).saturating_add(working.bytes);
        Free { bytes: left.saturating_sub(beside), limit: Some(limit) }
    });
    of_system().map(Free::bytes).into_iter().chain(limited).min_by_key(|free| free.bytes)
}

/// Makes what follows fit for a limit on addresses; an error where there is no room for anything.
pub fn prepare() -> Result<(), Finding> {
    let Some((left, limit)) = of_process() else { return Ok(()) };
    share_one_heap();
    if left >= RESERVE {
        return Ok(());
    }
    let (left, wanted) = (bytes(left), bytes(RESERVE));
    Err(Finding::error(format!("{left} are free within {limit}, and {wanted} are wanted at least"))
        .help("raise the limit, or run it where there is none"))
}

/// Keeps the C library from reserving addresses of 64 MiB for each thread that asks for memory, of which
/// threads here ask for little.
fn share_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// `M_ARENA_MAX` of the GNU C library.
        const MOST_HEAPS: i32 = -8;
        unsafe extern "C" {
            fn mallopt(param: i32, value: i32) -> i32;
        }
        // SAFETY: it sets a number of the allocator, which takes it at any time.
        unsafe { mallopt(MOST_HEAPS, 1) };
    }
}

fn of_system() -> Option<u128> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u128 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limited = in_groups(&groups, Path::new("/sys/fs/cgroup"));
    Some(limited.map_or(kib * 1024, |limited| limited.min(kib * 1024)))
}

fn of_process() -> Option<(u128, &'static str)> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    in_limits(&limits, &fs::read_to_string("/proc/self/status").ok()?)
}

/// What the limits of a process on its addresses leave, and which of them leaves least (proc(5)).
fn in_limits(limits: &str, status: &str) -> Option<(u128, &'static str)> {
    let all = [
        ("Max address space", "VmSize:", "the limit on address space (ulimit -v)"),
        ("Max data size", "VmData:", "the limit on data (ulimit -d)"),
    ];
    let left = |(limit, used, name)| {
        let limit = limits.lines().find_map(|line| line.strip_prefix(limit))?;
        // The word `unlimited` is no number.
        let limit: u128 = limit.split_whitespace().next()?.parse().ok()?;
        let used = status.lines().find_map(|line| line.strip_prefix(used))?;
        let used: u128 = used.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some((limit.saturating_sub(used * 1024), name))
    };
    all.into_iter().filter_map(left).min_by_key(|(left, _)| *left)
}

/// What the files of a version of control groups are called.
struct Names {
    limit: &'static str,
    used: &'static str,
    /// Of what is used, in `memory.stat`: copies of files, which the system takes back first.
    files: &'static str,
}

const FIRST: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    files: "total_inactive_file ",
};
const SECOND: Names =
    Names { limit: "memory.max", used: "memory.current", files: "inactive_file " };

/// What the control groups of a process leave, which are lines `number:controllers:path`, with
/// their files below `root` (Linux, Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst).
fn in_groups(groups: &str, root: &Path) -> Option<u128> {
    let line = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let (mount, names) = match controllers {
            "" => (root.to_owned(), SECOND),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), FIRST)
            }
            _ => return None,
        };
        in_group(&mount, path.trim_start_matches('/'), &names)
    };
    groups.lines().filter_map(line).min()
}

/// What a group and those above it leave. Within a container the path may be that outside, and
/// what lies at the mount the group itself.
fn in_group(mount: &Path, path: &str, names: &Names) -> Option<u128> {
    let mut folder: PathBuf = mount.join(path);
    let mut least = None;
    while folder.starts_with(mount) {
        least = least.into_iter().chain(left(&folder, names)).min();
        if !folder.pop() {
            break;
        }
    }
    least
}

/// What one group leaves; `None` where it has no limit.
fn left(folder: &Path, names: &Names) -> Option<u128> {
    let number = |name: &str| -> Option<u128> {
        fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    // The word `max` is no number, and says that there is no limit.
    let (limit, used) = (number(names.limit)?, number(names.used)?);
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let files = stat.lines().find_map(|line| line.strip_prefix(names.files)?.trim().parse().ok());
    Some(limit.saturating_sub(used.saturating_sub(files.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_of_a_process_counts() {
        let limits = |data: &str, space: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data}            unlimited            bytes     \n\
                 Max address space         {space}            unlimited            bytes     \n"
            )
        };
        let status =
            "Name:\todeum\nVmPeak:\t    9000 kB\nVmSize:\t    8000 kB\nVmData:\t    1000 kB\n";
        let left = |data: &str, space: &str| in_limits(&limits(data, space), status);
        assert_eq!(left("unlimited", "unlimited"), None);
        let space = left("unlimited", "10240000").unwrap();
        assert_eq!(space, (10_240_000 - 8_192_000, "the limit on address space (ulimit -v)"));
        assert_eq!(left("2048000", "10240000").unwrap().0, 1_024_000);
        assert_eq!(left("2048000", "1").unwrap().0, 0);
        assert_eq!(in_limits("no limits", status), None);
    }

    #[test]
    fn the_tightest_group_counts() {
        let root = std::env::temp_dir().join(format!("odeum-unit-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        // The second version: no limit of its own, one of the group above.
        write("job/step/memory.max", "max\n");
        write("job/step/memory.current", "100\n");
        write("job/memory.max", "1000\n");
        write("job/memory.current", "700\n");
        write("job/memory.stat", "anon 400\nactive_file 100\ninactive_file 200\n");
        assert_eq!(in_groups("0::/job/step\n", &root), Some(500));
        // The first version, with a path that is not there.
        write("memory/memory.limit_in_bytes", "300\n");
        write("memory/memory.usage_in_bytes", "250\n");
        assert_eq!(in_groups("4:cpu,memory:/docker/1f\n0::/job\n", &root), Some(50));
        assert_eq!(in_groups("1:cpu:/\n0::/none\n", &root), None);
        assert_eq!(in_groups("no lines of groups", &root), None);
        fs::remove_dir_all(&root).unwrap();
    }
}
