//! A movie of the pictures, by ffmpeg where it is found.

use super::frames;
use crate::exit::Exit;
use crate::report::show;
use odeum_case::FieldCase;
use odeum_io::{Finding, Target};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Whether there will be a movie.
pub(super) struct Movie {
    found: bool,
}

impl Movie {
    /// Looks for ffmpeg where a movie is wanted; says so at once where it is not found.
    pub(super) fn find(case: &FieldCase) -> Movie {
        // One of a single picture is none, which reading the case says.
        if !case.output.movie || case.output.every.is_none() {
            return Movie { found: false };
        }
        let found = Command::new("ffmpeg")
            .arg("-version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !found {
            let finding = Finding::warning("there will be no movie: ffmpeg is not found")
                .help("install ffmpeg, or make the movie from the pictures by other means");
            show(&[finding.in_file(case.source.name()).field("output.formats")], Exit::Broken);
        }
        Movie { found }
    }

    /// Makes a movie of each series of pictures; gives those that were made.
    pub(super) fn make(&self, case: &FieldCase, target: &Target) -> Vec<PathBuf> {
        if !self.found {
            return Vec::new();
        }
        let mut made = Vec::new();
        for stem in frames::picture_names(&case.output, case.problem.model.species()) {
            let pictures = target.file("frames").join(format!("{stem}_%05d.png"));
            let (part, movie) =
                (target.file(&format!("{stem}.mp4.part")), target.file(&format!("{stem}.mp4")));
            let status = Command::new("ffmpeg")
                .args(["-y", "-loglevel", "error", "-framerate", "25", "-i"])
                .arg(&pictures)
                // Widths and heights must be even.
                .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"])
                .args(["-f", "mp4"])
                .arg(&part)
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
