//! Plain C++ to shared libraries, by g++, kept by content over runs.
//!
//! The name of a library is the SHA-256 of all that it follows from. A library is written under a temporary
//! name and renamed: another process sees all of it or none. What nobody has used for long is removed, and
//! the oldest when all of it is too large.

use crate::cache::content_name;
use libloading::Library;
use odeum_core::{Error, lock};
use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

/// Of every library. Variables of a thread are where those of the program itself are: kernels ask for them often.
const OPTIONS: [&str; 11] = [
    "-std=c++17",
    "-shared",
    "-s",
    "-fPIC",
    "-pthread",
    "-ftls-model=initial-exec",
    "-Wall",
    "-Werror",
    "-Wno-unused",
    "-Wno-unknown-pragmas",
    "-Wno-maybe-uninitialized",
];

/// Libraries that stay loaded after their kernels have gone: who asks for the same again does so soon.
const LOADED: usize = 48;

/// After such a time without use a library is removed.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Of more bytes than this the libraries that were not used for the longest time are removed.
const MOST_BYTES: u64 = 512 << 20;

/// What a library is made of.
pub(super) struct Source<'a> {
    /// That of errors.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    /// What g++ is told besides, after the text.
    pub(super) options: &'a [&'a str],
    /// A library with what the text only declares.
    pub(super) uses: Option<&'a Path>,
}

/// A library, and where it is.
pub(super) struct Loaded {
    pub(super) library: Library,
    pub(super) path: PathBuf,
}

/// What g++ says of its version; `None` where there is no g++.
fn version() -> Option<&'static str> {
    static VERSION: OnceLock<Option<String>> = OnceLock::new();
    let ask = || {
        let output = Command::new("g++").arg("--version").output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    VERSION.get_or_init(ask).as_deref()
}

/// Whether there is a g++, without which the host device compiles nothing.
pub fn is_available() -> bool {
    version().is_some()
}

/// A text as a shared library, compiled unless it is in the folder.
pub(super) fn library(folder: &Path, source: &Source) -> Result<Arc<Loaded>, Error> {
    /// By name, the latest last.
    static KNOWN: Mutex<VecDeque<(String, Arc<Loaded>)>> = Mutex::new(VecDeque::new());
    static TURNS: OnceLock<Mutex<HashMap<String, Arc<Mutex<()>>>>> = OnceLock::new();
    let version = version().ok_or_else(|| Error::Device {
        device: "host".to_owned(),
        reason: "g++ does not start".to_owned(),
        remedy: "install it, and see that it is on the PATH".to_owned(),
    })?;
    let uses = source.uses.map(|path| path.to_string_lossy()).unwrap_or_default();
    let options = OPTIONS.iter().chain(source.options).copied();
    let content = content_name([version, source.text, &uses].into_iter().chain(options));
    // Held by the thread that compiles it: others find it then.
    let turn = lock(TURNS.get_or_init(Mutex::default)).entry(content.clone()).or_default().clone();
    let _mine = lock(&turn);
    if let Some((_, library)) = lock(&KNOWN).iter().find(|(known, _)| *known == content) {
        return Ok(library.clone());
    }
    let folder = folder.join("host-kernels");
    clean(&folder);
    let path = folder.join(format!("{content}.so"));
    let library = Arc::new(Loaded { library: kept(&path, source)?, path });
    let mut known = lock(&KNOWN);
    known.push_back((content, library.clone()));
    if known.len() > LOADED {
        known.pop_front();
    }
    Ok(library)
}

/// The library at this path, where it is put unless it is there.
fn kept(path: &Path, source: &Source) -> Result<Library, Error> {
    // SAFETY: libraries have no initialisers but those of the C++ run time.
    let load = || unsafe { Library::new(path) };
    if File::open(path).and_then(|file| file.set_modified(SystemTime::now())).is_ok()
        && let Ok(library) = load()
    {
        return Ok(library);
    }
    let refused = |log: String| Error::Compile {
        kernel: source.name.to_owned(),
        log,
        source_text: source.text.to_owned(),
    };
    let [text, object] = [temporary(path, "cpp"), temporary(path, "tmp")];
    let compile = || {
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(&text, source.text)?;
        let mut compiler = Command::new("g++");
        compiler.args(OPTIONS).arg("-o").arg(&object).arg(&text);
        let output = compiler.args(source.uses).args(source.options).output()?;
        if output.status.success() {
            fs::rename(&object, path)?;
        }
        Ok::<Output, std::io::Error>(output)
    };
    let output = compile();
    for file in [text, object] {
        let _ = fs::remove_file(file);
    }
    let output = output.map_err(|e| refused(e.to_string()))?;
    if !output.status.success() {
        return Err(refused(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    load().map_err(|e| refused(e.to_string()))
}

/// A name beside a path that no other thread or process uses.
fn temporary(path: &Path, extension: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!("{}-{number}.{extension}", process::id()))
}

/// Removes what nobody has used for long, and the oldest of what is too much, once for each folder.
fn clean(folder: &Path) {
    static CLEANED: OnceLock<Mutex<HashSet<PathBuf>>> = OnceLock::new();
    if !lock(CLEANED.get_or_init(Mutex::default)).insert(folder.to_owned()) {
        return;
    }
    remove_unused(folder, UNUSED, MOST_BYTES);
}

fn remove_unused(folder: &Path, unused: Duration, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let described = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let about = entry.metadata().ok()?;
        let age = about.modified().ok()?.elapsed().unwrap_or_default();
        Some((age, about.len(), entry.path()))
    });
    let mut files: Vec<_> = described.collect();
    files.sort();
    let mut sum = 0;
    for (age, bytes, path) in files {
        sum += bytes;
        if age > unused || sum > most {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("odeum-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_is_old_or_too_much_goes() {
        let folder = folder("unused");
        let day = Duration::from_secs(24 * 60 * 60);
        for (days, name) in [(9, "a.so"), (3, "b.so"), (2, "c.so"), (0, "d.so")] {
            let file = File::create(folder.join(name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(SystemTime::now() - days * day).unwrap();
        }
        let left = || {
            let names = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name());
            let mut names: Vec<_> = names.map(|n| n.into_string().unwrap()).collect();
            names.sort();
            names.join(" ")
        };
        remove_unused(&folder, 7 * day, 1000);
        assert_eq!(left(), "b.so c.so d.so");
        remove_unused(&folder, 7 * day, 250);
        assert_eq!(left(), "c.so d.so");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_library_is_compiled_once_and_damage_is_mended() {
        if !is_available() {
            return;
        }
        let folder = folder("kept");
        let text = "extern \"C\" int od_seven() { return 7; }\n";
        let path = folder.join("seven.so");
        let seven = |text: &str| {
            let source = Source { name: "od_seven", text, options: &[], uses: None };
            let library = kept(&path, &source)?;
            // SAFETY: the library exports this function.
            Ok::<i32, Error>(unsafe {
                library.get::<unsafe extern "C" fn() -> i32>(b"od_seven").unwrap()()
            })
        };
        assert_eq!(seven(text).unwrap(), 7);
        // It comes from the folder: this text would not compile.
        assert_eq!(seven("?").unwrap(), 7);
        fs::write(&path, "damaged").unwrap();
        assert!(matches!(seven("?"), Err(Error::Compile { .. })));
        assert_eq!(seven(text).unwrap(), 7);
        let names = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
        let others = names.filter(|p| p.extension().is_some_and(|e| e == "cpp" || e == "tmp"));
        assert_eq!(others.count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }
}
