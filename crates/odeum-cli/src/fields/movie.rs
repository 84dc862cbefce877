//! A movie of the pictures, by ffmpeg where it is found.

use super::frames;
use crate::exit::Exit;
use crate::report::show;
use odeum_case::FieldCase;
use odeum_io::{Finding, Target};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether there will be a movie.
pub(super) struct Movie {
    wanted: bool,
    found: bool,
}

impl Movie {
    /// Looks for ffmpeg where a movie is wanted. One of a single picture is none, which reading the case says.
    pub(super) fn find(case: &FieldCase) -> Movie {
        if !case.output.movie || case.output.every.is_none() {
            return Movie { wanted: false, found: false };
        }
        let found = Command::new("ffmpeg")
            .arg("-version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        Movie { wanted: true, found }
    }

    /// Says that there will be none for want of ffmpeg.
    pub(super) fn tell_lack(&self, case: &FieldCase) {
        if self.wanted && !self.found {
            let finding = Finding::warning("there will be no movie: ffmpeg is not found")
                .help("install ffmpeg, or make the movie from the pictures by other means");
            show(&[finding.in_file(case.source.name()).field("output.formats")], Exit::Broken);
        }
    }

    /// Movies that will be made.
    pub(super) fn files(&self, case: &FieldCase, target: &Target) -> Vec<PathBuf> {
        if self.found { self.wanted_files(case, target) } else { Vec::new() }
    }

    /// Movies that are asked for, also where ffmpeg is not found.
    pub(super) fn wanted_files(&self, case: &FieldCase, target: &Target) -> Vec<PathBuf> {
        if !self.wanted {
            return Vec::new();
        }
        let stems = frames::picture_names(&case.output, case.problem.model.species());
        stems.iter().map(|stem| file(target, stem)).collect()
    }

    /// Makes a movie of each series of pictures; gives those that were made.
    pub(super) fn make(&self, case: &FieldCase, target: &Target) -> Vec<PathBuf> {
        if !self.found {
            return Vec::new();
        }
        let mut made = Vec::new();
        for stem in frames::picture_names(&case.output, case.problem.model.species()) {
            let pictures = pattern(&target.file("frames"), &stem);
            let (part, movie) = (target.file(&format!("{stem}.mp4.part")), file(target, &stem));
            let status = Command::new("ffmpeg")
                .args(["-y", "-loglevel", "error", "-framerate", "25", "-i"])
                .arg(pictures)
                // Widths and heights must be even.
                .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
                .args(["-f", "mp4"])
                .arg(plain(&part))
                .stdin(Stdio::null())
                .status();
            let whole = status.is_ok_and(|status| status.success());
            if whole && std::fs::rename(&part, &movie).is_ok() {
                made.push(movie);
            } else {
                let _ = std::fs::remove_file(&part);
                let finding = Finding::warning("ffmpeg did not make the movie")
                    .in_file(movie.display().to_string())
                    .help("the pictures are there: make it from them");
                show(&[finding], Exit::Broken);
            }
        }
        made
    }
}

fn file(target: &Target, stem: &str) -> PathBuf {
    target.file(&format!("{stem}.mp4"))
}

/// The numbered pictures of a stem, as ffmpeg is told of them: a `%` that begins no number is doubled.
fn pattern(folder: &Path, stem: &str) -> PathBuf {
    let parts = plain(folder);
    let doubled = parts.iter().map(|part| match part.to_str() {
        Some(text) => text.replace('%', "%%").into(),
        // Of what is no text nothing is changed.
        None => part.to_owned(),
    });
    doubled.collect::<PathBuf>().join(format!("{stem}_%05d.png"))
}

/// A path that ffmpeg takes for no option and no protocol, as it would `-a.mp4` and `a:b.mp4`.
fn plain(path: &Path) -> PathBuf {
    match path.is_relative() {
        true => Path::new(".").join(path),
        false => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ffmpeg_takes_names_for_what_they_are() {
        for (folder, expected) in [
            ("a.frames", "./a.frames/u_%05d.png"),
            ("-r 50% off:1.frames", "./-r 50%% off:1.frames/u_%05d.png"),
            ("/100%d/a.frames", "/100%%d/a.frames/u_%05d.png"),
        ] {
            assert_eq!(pattern(Path::new(folder), "u"), Path::new(expected));
        }
        assert_eq!(plain(Path::new("a:b.mp4")), Path::new("./a:b.mp4"));
    }
}
