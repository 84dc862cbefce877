//! The book is whole: every page is in its table of contents, every link leads somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The source folder of the book, and its table of contents.
const BOOK: &str = "docs/src";
const SUMMARY: &str = "docs/src/SUMMARY.md";
/// Pages outside of `docs` whose links are checked too.
const OTHERS: [&str; 2] = ["README.md", "CONTRIBUTING.md"];

/// What was read, and what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) pages: usize,
    pub(crate) links: usize,
    pub(crate) findings: Vec<String>,
}

/// Checks the pages below `root`.
pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let mut pages = BTreeMap::new();
    for path in OTHERS.iter().map(|name| root.join(name)).chain(markdown(&root.join("docs"))?) {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        pages.insert(path.strip_prefix(root).unwrap_or(&path).to_owned(), text);
    }
    Ok(check_pages(&pages, &|path| root.join(path).is_file()))
}

/// As [`check`], of texts by path; `exists` knows the files.
fn check_pages(pages: &BTreeMap<PathBuf, String>, exists: &dyn Fn(&Path) -> bool) -> Report {
    let mut report = Report { pages: pages.len(), ..Report::default() };
    let mut listed: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (page, text) in pages {
        let in_book = page.starts_with(BOOK);
        for (line, link) in links(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            report.links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                _ => resolved(&page.parent().unwrap_or(Path::new("")).join(file)),
            };
            let wrong = if !exists(&target) {
                "leads to no file"
            } else if in_book && !target.starts_with(BOOK) {
                "leads out of the book"
            } else if !anchor.is_empty()
                && !pages.get(&target).is_some_and(|text| anchors(text).iter().any(|a| a == anchor))
            {
                "leads to no heading"
            } else {
                if page == Path::new(SUMMARY) {
                    *listed.entry(target).or_default() += 1;
                }
                continue;
            };
            report.findings.push(format!("{}:{line}: `{link}` {wrong}", page.display()));
        }
    }
    for page in pages.keys().filter(|page| page.starts_with(BOOK) && *page != Path::new(SUMMARY)) {
        let times = listed.get(page).copied().unwrap_or(0);
        if times != 1 {
            report.findings.push(format!("{SUMMARY}: lists {} {times} times", page.display()));
        }
    }
    report
}

/// All Markdown files below a folder.
fn markdown(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(markdown(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Lines that are no code blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        (!in_code && !is_fence).then_some((number + 1, line))
    })
}

/// Targets of links and images, `[…](TARGET)` and `src="TARGET"`, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for (open, close) in [("](", ')'), ("src=\"", '"')] {
            for (at, _) in line.match_indices(open) {
                // What stands between backticks is code.
                if line[..at].matches('`').count() % 2 == 1 {
                    continue;
                }
                let target = line[at + open.len()..].split(close).next().unwrap_or_default();
                found.extend(target.split_whitespace().next().map(|target| (number, target)));
            }
        }
    }
    found
}

/// The anchors of the headings of a page, as mdBook and GitHub make them.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut titles: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let before = titles.iter().filter(|other| **other == anchor).count();
        titles.push(anchor.clone());
        found.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
    }
    found
}

/// A path without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.pop() => {}
            _ => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(pages: &[(&str, &str)]) -> Vec<String> {
        let pages: BTreeMap<PathBuf, String> =
            pages.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect();
        let other = Path::new("docs/src/a.svg");
        check_pages(&pages, &|path| path == other || pages.contains_key(path)).findings
    }

    #[test]
    fn a_whole_book_passes() {
        let page = "# A `[b.c]`: one\n![](a.svg) [b](m/b.md#two-1) [o](https://x.y)\n`[x](y)`\n";
        let other = "## Two\n## Two\n```\n# no\n[x](y)\n```\n<img src=\"../a.svg\"> [t](#two)";
        assert!(
            findings(&[
                ("README.md", "[a](docs/src/a.md#a-bc-one)"),
                (SUMMARY, "- [A](a.md)\n  - [B](m/b.md)"),
                ("docs/src/a.md", page),
                ("docs/src/m/b.md", other),
            ])
            .is_empty()
        );
    }

    #[test]
    fn what_is_wrong_is_found() {
        for (summary, page, finding) in [
            ("", "", "SUMMARY.md: lists docs/src/a.md 0 times"),
            ("[a](a.md) [a](a.md)", "", "SUMMARY.md: lists docs/src/a.md 2 times"),
            ("[a](a.md) [b](b.md)", "", "SUMMARY.md:1: `b.md` leads to no file"),
            ("[a](a.md)", "\n[b](../b.md)", "a.md:2: `../b.md` leads to no file"),
            ("[a](a.md)", "[r](../../README.md)", "a.md:1: `../../README.md` leads out of"),
            ("[a](a.md)", "# One\n[o](#on)", "a.md:2: `#on` leads to no heading"),
            ("[a](a.md)", "<img src=\"b.png\">", "a.md:1: `b.png` leads to no file"),
        ] {
            let pages = [("README.md", ""), (SUMMARY, summary), ("docs/src/a.md", page)];
            let found = findings(&pages);
            assert!(found.len() == 1 && found[0].contains(finding), "{found:?}, not {finding}");
        }
    }

    #[test]
    fn this_book_is_whole() {
        let report = check(&crate::steps::root()).expect("a readable tree");
        assert_eq!(report.findings, Vec::<String>::new());
        assert!(report.pages > 20 && report.links > 50);
    }
}
