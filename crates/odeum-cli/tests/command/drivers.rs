//! NVIDIA drivers that do not do, by libraries that stand for them.

use crate::common::{Folder, Said};
use std::process::Command;

const CASE: &str = "\
system = { problem = \"lorenz\" }
ensemble = { sweep = { rho = { from = 1.0, to = 2.0, count = 4 } } }
time = { span = [0.0, 1.0] }
method = { name = \"dopri5\" }
tolerance = { rtol = 1e-6, atol = 1e-9 }
";

const FIELD: &str = "\
system = { problem = \"plume\" }
grid = { shape = [8, 8, 8] }
time = { until = 1.0 }
";

/// A folder with a driver whose functions give these numbers; `None` without a compiler.
fn driver(functions: &[(&str, &str)]) -> Option<Folder> {
    let folder = Folder::new();
    let text: String = functions
        .iter()
        .map(|(head, body)| format!("extern \"C\" int {head} {{ {body} }}\n"))
        .collect();
    folder.write("driver.cpp", text);
    let mut compiler = Command::new("g++");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.path("libcuda.so"));
    let made = compiler.arg(folder.path("driver.cpp")).status();
    if made.is_err() {
        eprintln!("SKIPPED: no driver is made, for want of g++ on the PATH");
    }
    assert!(made.as_ref().is_ok_and(std::process::ExitStatus::success) || made.is_err());
    made.is_ok().then_some(folder)
}

fn odeum(folder: &Folder, visible: Option<&str>, args: &[&str]) -> Said {
    let mut command = folder.command(args);
    command.env("LD_LIBRARY_PATH", folder.path("")).env_remove("CUDA_VISIBLE_DEVICES");
    command.envs(visible.map(|list| ("CUDA_VISIBLE_DEVICES", list)));
    Said::of(&mut command)
}

const NO_WORDS: (&str, &str) = ("cuGetErrorString(int, const char **)", "return 34;");
const VERSION: (&str, &str) = ("cuDriverGetVersion(int *v)", "*v = 13000; return 0;");

/// Stubs of the toolkit, for linkers alone: they were told as no driver, and what checks passed them.
#[test]
fn a_driver_that_does_not_work_is_told() {
    let stub = ("cuDriverGetVersion(int *)", "return 34;");
    let Some(folder) = driver(&[stub, NO_WORDS]) else { return };
    folder.write("a.toml", CASE);
    let parts = ["libcuda.so", "does not work", "CUDA_ERROR_STUB_LIBRARY", "off LD_LIBRARY_PATH"];
    for command in ["check", "run"] {
        odeum(&folder, None, &[command, "a.toml", "--device", "cuda"]).refused(&parts);
    }
    let said = odeum(&folder, None, &["devices"]).well();
    assert!(parts.iter().all(|part| said.out.contains(part)), "{}", said.out);
}

#[test]
fn a_driver_that_sees_no_gpu_is_told() {
    let none = ("cuInit(unsigned)", "return 0;");
    let count = ("cuDeviceGetCount(int *n)", "*n = 0; return 0;");
    let Some(folder) = driver(&[VERSION, none, count]) else { return };
    let said = odeum(&folder, None, &["devices"]).well();
    assert!(said.out.contains("the NVIDIA driver sees no GPU"), "{}", said.out);
    let refuses = ("cuInit(unsigned)", "return 100;");
    let Some(folder) = driver(&[VERSION, refuses, NO_WORDS]) else { return };
    let said = odeum(&folder, Some(""), &["devices"]).well();
    let part = "sees no GPU: CUDA_VISIBLE_DEVICES, which is \"\"";
    assert!(said.out.contains(part), "{}", said.out);
    folder.write("a.toml", CASE);
    let run = ["run", "a.toml", "--device", "cuda"];
    odeum(&folder, Some("7"), &run).refused(&["cuda:0 is not to be had", "which is \"7\""]);
    odeum(&folder, None, &run).refused(&["sees no GPU", "nvidia-smi"]);
}

/// Nothing that was given is at fault, whatever has been computed.
#[test]
fn a_device_that_fails_is_a_run_that_broke() {
    let starts = ("cuInit(unsigned)", "return 0;");
    let count = ("cuDeviceGetCount(int *n)", "*n = 1; return 0;");
    let fails = ("cuDeviceGet(int *, int)", "return 719;");
    let Some(folder) = driver(&[VERSION, starts, count, fails, NO_WORDS]) else { return };
    folder.write("a.toml", CASE).write("b.toml", FIELD);
    for case in ["a.toml", "b.toml"] {
        for command in ["check", "run"] {
            odeum(&folder, None, &[command, case, "--device", "cuda"])
                .failed(&["opening cuda:0", "CUDA_ERROR_LAUNCH_FAILED"]);
        }
    }
    odeum(&folder, None, &["bench", "fields", "--device", "cuda"]).failed(&["opening cuda:0"]);
}
