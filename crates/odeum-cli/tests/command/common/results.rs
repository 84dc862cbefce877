//! What runs of fields leave behind.

use super::Folder;

/// All files of two results must be the same, but for their names.
pub(crate) fn assert_same(folder: &Folder, a: &str, b: &str) {
    for end in [".npz", ".csv", ".lines.csv"] {
        let (one, other) = (folder.read(&format!("{a}{end}")), folder.read(&format!("{b}{end}")));
        assert!(one == other, "{a}{end} differs from {b}{end}");
    }
    for tree in [".frames", ".zarr"] {
        let list = |name: &str| {
            let root = folder.path(&format!("{name}{tree}"));
            let mut files = Vec::new();
            let mut folders = vec![root.clone()];
            while let Some(next) = folders.pop() {
                for entry in std::fs::read_dir(next).unwrap() {
                    let path = entry.unwrap().path();
                    if path.is_dir() {
                        folders.push(path);
                    } else if !path.file_name().unwrap().to_string_lossy().starts_with('.') {
                        let name = path.strip_prefix(&root).unwrap().to_owned();
                        files.push((name, std::fs::read(path).unwrap()));
                    }
                }
            }
            files.sort();
            files
        };
        let (one, other) = (list(a), list(b));
        assert!(!one.is_empty());
        let names = |files: &[(std::path::PathBuf, Vec<u8>)]| {
            files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&one), names(&other));
        assert!(one == other, "{tree} differs");
    }
}
