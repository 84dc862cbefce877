//! Memory that can still be had: that of the system, or less where a control group limits it, as
//! containers and batch systems do.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes, where the system says so.
pub(crate) fn available_memory() -> Option<u128> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u128 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limited = in_groups(&groups, Path::new("/sys/fs/cgroup"));
    Some(limited.map_or(kib * 1024, |limited| limited.min(kib * 1024)))
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
