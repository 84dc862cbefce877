//! Fields on grids: from a case to results.

mod axes;
mod axis;
mod canvas;
mod checkpoint;
mod colour;
mod conservation;
mod finished;
mod frames;
mod growing;
mod movie;
mod npz;
mod observer;
mod ome;
mod plan;
mod profile;
mod progress;
mod queue;
mod run;
mod series;
mod slice;
mod structure;
mod surface;
mod target;
mod vti;
mod writer;
mod zarr;

pub(crate) use run::{check, run};

use crate::finding::Finding;

/// What else can be done where files of a run that goes on are missing.
const LOST: &str = "--allow-missing goes on without them, --overwrite starts anew";

/// What went wrong on the writing thread; a [`Finding`] stays on its own.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    message: String,
    file: Option<String>,
    help: Option<String>,
}

impl From<Finding> for Trouble {
    fn from(finding: Finding) -> Trouble {
        Trouble {
            message: finding.message.clone(),
            file: finding.file.clone(),
            help: finding.help.clone(),
        }
    }
}

impl From<Trouble> for Finding {
    fn from(trouble: Trouble) -> Finding {
        let mut finding = Finding::error(trouble.message);
        (finding.file, finding.help) = (trouble.file, trouble.help);
        finding
    }
}

/// A name for an array that stands beside those of the species.
fn aside(name: &str, species: &[String]) -> String {
    let mut name = name.to_owned();
    while species.contains(&name) {
        name.push('_');
    }
    name
}

/// Bytes of a value as the files have it, little-endian.
fn put<T: odeum_ode::Scalar>(bytes: &mut Vec<u8>, values: &[T]) {
    if cfg!(target_endian = "little") {
        // SAFETY: scalars are floating-point numbers, whose bytes have values of their own; here
        // they lie in the order of the files.
        let whole = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
        };
        bytes.extend_from_slice(whole);
        return;
    }
    for value in values {
        if size_of::<T>() == 8 {
            bytes.extend(value.to_f64().to_le_bytes());
        } else {
            // A single-precision number goes through double precision unchanged.
            bytes.extend((value.to_f64() as f32).to_le_bytes());
        }
    }
}
