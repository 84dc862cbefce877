//! Machine code on disk, so that a kernel is compiled once per machine.
//!
//! The name of an entry is the SHA-256 of everything its content follows from. An entry begins
//! with the SHA-256 of the rest, so a damaged one is seen and compiled again. Entries are written
//! under a temporary name and renamed: another process sees a whole entry or none. The cache is a
//! convenience: where it cannot be read or written, kernels are compiled.

use super::cubin::Cubin;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, process};

/// Length of a digest, in bytes.
const DIGEST: usize = 32;

/// The name of what follows from these parts: their SHA-256.
pub(super) fn content_name<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // The length keeps neighbouring parts apart.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// `ODEUM_CACHE_DIR`, else `odeum` in `XDG_CACHE_HOME` or in `~/.cache`.
    pub(super) fn of_user() -> Self {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let folder = variable("ODEUM_CACHE_DIR")
            .map(PathBuf::from)
            .or_else(|| variable("XDG_CACHE_HOME").map(|home| PathBuf::from(home).join("odeum")))
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache/odeum")));
        Cache { folder }
    }

    #[cfg(test)]
    pub(super) fn at(folder: PathBuf) -> Self {
        Cache { folder: Some(folder) }
    }

    fn path(&self, key: &[String]) -> Option<PathBuf> {
        let name = content_name(key.iter().map(String::as_str));
        Some(self.folder.as_ref()?.join(format!("{name}.cubin")))
    }

    /// The entry of this key; `None` when there is none, or a damaged one.
    pub(super) fn get(&self, key: &[String]) -> Option<Cubin> {
        let entry = fs::read(self.path(key)?).ok()?;
        let (digest, rest) = entry.split_at_checked(DIGEST)?;
        if Sha256::digest(rest).as_slice() != digest {
            return None;
        }
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (log, code) =
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Cubin { code: code.to_vec(), log: String::from_utf8(log.to_vec()).ok()? })
    }

    /// Keeps an entry, if the folder allows.
    pub(super) fn put(&self, key: &[String], cubin: &Cubin) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Some(path) = self.path(key) else { return };
        let mut rest = (cubin.log.len() as u64).to_le_bytes().to_vec();
        rest.extend_from_slice(cubin.log.as_bytes());
        rest.extend_from_slice(&cubin.code);
        let mut entry = Sha256::digest(&rest).to_vec();
        entry.extend_from_slice(&rest);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{number}.tmp", process::id()));
        let written = path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_ok())
            && fs::write(&temporary, entry).is_ok()
            && fs::rename(&temporary, &path).is_ok();
        if !written {
            let _ = fs::remove_file(&temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_damage_is_seen() {
        let folder = env::temp_dir().join(format!("odeum-cache-{}", process::id()));
        let cache = Cache::at(folder.clone());
        let key = ["source".to_owned(), "sm_90".to_owned()];
        let cubin = Cubin { code: vec![1, 2, 3], log: "Used 9 registers".to_owned() };
        assert_eq!(cache.get(&key), None);
        cache.put(&key, &cubin);
        assert_eq!(cache.get(&key), Some(cubin.clone()));
        assert_eq!(cache.get(&["sources".to_owned(), "m_90".to_owned()]), None);

        let path = cache.path(&key).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in [0, 5, DIGEST, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.get(&key), None, "cut at {length}");
        }
        let mut flipped = whole;
        flipped[DIGEST + 9] ^= 1;
        fs::write(&path, flipped).unwrap();
        assert_eq!(cache.get(&key), None);
        cache.put(&key, &cubin);
        assert_eq!(cache.get(&key), Some(cubin));
        fs::remove_dir_all(folder).unwrap();
    }
}
