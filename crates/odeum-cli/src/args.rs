//! The command line.

use clap::{Parser, Subcommand};
use odeum_case::{MOST_THREADS, device};
use odeum_kinetics::read::Selection;
use odeum_ode::Device;
use std::path::PathBuf;

/// Integrates very large numbers of independent ODE systems on SIMD lanes, threads and GPUs.
#[derive(Debug, Parser)]
#[command(
    name = "odeum",
    version,
    after_help = "\
Examples:
  odeum run cases/pleiades.toml            integrate the ensemble of a case file
  odeum run cases/turing.toml              integrate fields on a grid
  odeum check cases/lorenz_sweep.toml      show what would be run, and everything that is wrong
  odeum problems van_der_pol               what a built-in problem is

Exit codes:
  0  done   1  systems failed (with --strict)   2  bad input   3  the run broke   130  Ctrl-C
  141  nobody reads the standard output any more"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Integrate the ensemble or the fields of a case file
    Run(RunArgs),
    /// Read a case file and its tables, report everything that is wrong, show what would be run
    Check(CheckArgs),
    /// List the devices of this machine
    Devices,
    /// List the built-in problems, or describe one
    Problems(ProblemsArgs),
    /// Read a chemical mechanism, report everything that is wrong, show what it contains
    Mechanism(MechanismArgs),
    /// Compute states of a partially stirred reactor, to test integrators on
    Pasr(PasrArgs),
    /// Measure speed on a built-in problem, on chemistry or on fields
    Bench(BenchArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The result NAME.npz opens with numpy.load. Its arrays have one row for each system:

  t [M], y [M, n]             time reached and state there (of a failed system: the last good one,
                              but of an invalid start what was given)
  status [M], status_names    how each system ended; 0 is success, 8 too: it reached its level
  saved [M, K, n], save_times [K], n_saved [M]   where the case file asks for saved states
  system [M], y0 [M, n], params [M, m], span [M, 2]   what each system started from
  steps, rejected, nfev, nfev_radius, njev, nlu [M]   what it cost
  guarded [M]                 steps the growth guard rejected, counted in rejected too
  outside [M]                 steps that ended outside the model's data, as its temperatures
  state_names [n], param_names [m], axes, shape   names; y.reshape(*shape, n) gives the sweep's axes
  variables [M, v], variable_names [v]   of a gas: T, p and the composition each system started from
  about                       the case file, the method, the precision, the version and how the
                              names of other files of the result end, as JSON

The result of a case with a [grid] has one array [nz, ny, nx] for each species under its name, and
t, x, y, z, steps, species_names, mass_start, mass_end, about, resume (what --resume goes on from)
and, of a part of the box, mask; of these, one whose name a species has gets a _ behind it. What
else a case asks for (pictures, VTK, Zarr, tables) lies beside it.

An existing result is never replaced without --overwrite. A run that is stopped, by Ctrl-C or
otherwise, leaves NAME.checkpoint; --resume takes it up and gives the same bits as a run that was
never stopped. With a [grid], --resume also goes on from a result to a later time.until.

Examples:
  odeum run cases/pleiades.toml
  odeum run case.toml --device cuda:0,1 --output results/
  odeum run case.toml --resume")]
pub(crate) struct RunArgs {
    /// Case file (TOML)
    pub(crate) case: PathBuf,
    #[command(flatten)]
    pub(crate) place: DeviceArgs,
    /// Where the result goes: a folder (made when missing), or a file name ending in .npz
    /// [default: the current folder, under the name of the case file]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Go on from the checkpoint of a run that was stopped, or of a field from its result
    #[arg(long)]
    pub(crate) resume: bool,
    /// With --resume: go on though pictures, states or rows that were written before are missing
    #[arg(long, requires = "resume")]
    pub(crate) allow_missing: bool,
    /// Replace an existing result or checkpoint
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// End with exit code 1 when a system failed
    #[arg(long)]
    pub(crate) strict: bool,
    /// No progress, no summary; only problems are shown
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Write the checkpoint at most this often
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds,
          allow_negative_numbers = true)]
    pub(crate) checkpoint_every: f64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  odeum check cases/lorenz_sweep.toml")]
pub(crate) struct CheckArgs {
    /// Case file (TOML)
    pub(crate) case: PathBuf,
    #[command(flatten)]
    pub(crate) place: DeviceArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DeviceArgs {
    /// cpu, cuda, cuda:N or cuda:N,M,… [default: as the case file says, else cpu]
    #[arg(long, value_parser = device::parse)]
    pub(crate) device: Option<Device>,
    /// Threads of the CPU [default: as the case file says, else one for each core]
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  odeum problems pleiades")]
pub(crate) struct ProblemsArgs {
    /// Name of one problem
    pub(crate) name: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The format, Cantera YAML or Chemkin, is found by the content of the file.

Examples:
  odeum mechanism mechanisms/hydrogen-burke-2012.yaml
  odeum mechanism chem.inp --thermo therm.dat")]
pub(crate) struct MechanismArgs {
    /// Mechanism file, Cantera YAML or Chemkin
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) beside: SelectionArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without options these are the conditions of table 2 of Curtis, Niemeyer & Sung (2017): nine runs,
and 1,000 (hydrogen) or 500 (methane) steps of 100 particles in each. The same seed gives the same
states; runs of other seeds are independent of them.

The result opens with numpy.load: t [M], T [M] in K, p [M] in Pa, Y [M, species], run [M],
species_names; in the order of runs, times, particles. It is a table of a case file as it is:
[ensemble] table = \"states.npz\", with a mechanism in [system].

Examples:
  odeum pasr mechanisms/hydrogen-burke-2012.yaml
  odeum pasr gri30.yaml --temperature 600 --pressure 1 --output states.npz
  odeum pasr ethanol.yaml --fuel c2h5oh --oxidizer \"o2:1, n2:3.76\" --phi 0.8")]
pub(crate) struct PasrArgs {
    /// Mechanism file, Cantera YAML or Chemkin
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) beside: SelectionArgs,
    #[command(flatten)]
    pub(crate) runs: PasrRuns,
    /// Where the states go
    #[arg(short, long, value_name = "FILE", default_value = "pasr.npz")]
    pub(crate) output: PathBuf,
    /// Replace an existing result
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// No progress, no summary; only problems are shown
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Options of `odeum pasr` that say what is computed.
#[derive(Debug, clap::Args)]
pub(crate) struct PasrRuns {
    /// Species of the fuel, and their amounts in moles where there are several
    /// [default: CH4, else H2]
    #[arg(long, value_name = "SPECIES:MOLES,…")]
    pub(crate) fuel: Option<String>,
    /// The same of what the fuel burns in [default: air, O2:1, N2:3.76]
    #[arg(long, value_name = "SPECIES:MOLES,…")]
    pub(crate) oxidizer: Option<String>,
    /// Temperatures of what flows in, in K, separated by commas
    #[arg(
        long,
        value_name = "T,…",
        value_delimiter = ',',
        default_value = "400,600,800",
        allow_negative_numbers = true
    )]
    pub(crate) temperature: Vec<f64>,
    /// Pressures in atm, separated by commas
    #[arg(
        long,
        value_name = "P,…",
        value_delimiter = ',',
        default_value = "1,10,25",
        allow_negative_numbers = true
    )]
    pub(crate) pressure: Vec<f64>,
    /// Equivalence ratio
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) phi: f64,
    /// Particles, an even number
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = particles, allow_negative_numbers = true)]
    pub(crate) particles: usize,
    /// Duration of a run in residence times
    #[arg(long, value_name = "N", default_value_t = 10.0, allow_negative_numbers = true)]
    pub(crate) residence_times: f64,
    /// Residence time in s [default: 0.01 for H2, else 0.005]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) tau_res: Option<f64>,
    /// Mixing time in s [default: 0.001]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) tau_mix: Option<f64>,
    /// Pairing time in s [default: 0.001]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) tau_pair: Option<f64>,
    /// Fuel and oxidizer enter apart
    #[arg(long)]
    pub(crate) non_premixed: bool,
    /// Seed of the random choices
    #[arg(long, default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  odeum bench pleiades --systems 1024,65536 --json pleiades.json
  odeum bench fields --sizes 64,128 --json fields.json --plot fields.svg
  odeum bench fields --small --json small.json
  odeum bench chemistry --mechanism gri30.yaml --json gri30.json --plot gri30.svg",
    // There is no case file.
    mut_arg("device", |arg| arg.help("cpu, cuda, cuda:N or cuda:N,M,… [default: cpu]")),
    mut_arg("threads", |arg| arg.help("Threads of the CPU [default: one for each core]")))]
pub(crate) struct BenchArgs {
    /// What to measure: pleiades, brusselator, lorenz, van_der_pol, stiff, chemistry, ethanol or fields
    pub(crate) name: String,
    /// Numbers of systems, separated by commas; of a mechanism's studies on a CPU one, on a GPU the
    /// largest but in the parts sizes and jacobians
    #[arg(long, value_name = "M,…", value_delimiter = ',', value_parser = systems, allow_negative_numbers = true)]
    pub(crate) systems: Vec<usize>,
    /// Edges of the cubes of the study `fields`, separated by commas [default: 64,128,256 on a
    /// processor, about a minute; 64,128,256,512,1024 on a GPU]; with --small of rods and layers
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = systems, allow_negative_numbers = true)]
    pub(crate) sizes: Vec<usize>,
    /// Of the study `fields`: grids of one and two dimensions on one thread, in turn with a plain loop in C
    /// that gcc compiles here (-O3 -march=native)
    #[arg(long)]
    pub(crate) small: bool,
    /// Only these variants of a built-in problem, separated by commas: scalar, lanes, cuda…
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) variants: Vec<String>,
    #[command(flatten)]
    pub(crate) place: DeviceArgs,
    /// Write the rows as one JSON document; without a file name to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
    /// Draw systems per second over the number of systems; of a mechanism's studies a panel for each part
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Replace existing files of --json and --plot
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Mechanism of the studies `chemistry` and `ethanol`, Cantera YAML or Chemkin
    #[arg(long, value_name = "FILE")]
    pub(crate) mechanism: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: SelectionArgs,
    /// States of the study `chemistry`, as `odeum pasr` saves them, without the first 1,000 of each run where any run
    /// has more [default: computed anew]
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) states: Option<PathBuf>,
    /// Parts of the studies `chemistry` and `ethanol`, separated by commas [default: all]: methods, reactive (states that
    /// react), tolerances, sizes, orders, jacobians, convergence, and on GPUs parts (of a
    /// step) and calls (the first of each method, and later ones)
    #[arg(long, value_name = "PART,…", value_delimiter = ',')]
    pub(crate) parts: Vec<String>,
    /// Only these methods in the studies `chemistry` and `ethanol`, separated by commas: rodas4, radau…
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Draw the rows of this study's JSON documents too: those of another device, say; of a mechanism's
    /// studies without --mechanism these alone
    #[arg(long, value_name = "FILE.json,…", value_delimiter = ',', requires = "plot")]
    pub(crate) add: Vec<PathBuf>,
}

/// What of a mechanism is said beside its file.
#[derive(Debug, clap::Args)]
pub(crate) struct SelectionArgs {
    /// Thermodynamic data, of a Chemkin mechanism that has none in it
    #[arg(long, value_name = "FILE")]
    pub(crate) thermo: Option<PathBuf>,
    /// A phase of a YAML mechanism [default: the first ideal gas]
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
    /// A folder in which files are looked for of which a YAML mechanism takes sections, after its
    /// own folder; may be given again
    #[arg(long, value_name = "FOLDER")]
    pub(crate) include: Vec<PathBuf>,
}

impl SelectionArgs {
    pub(crate) fn selection(&self) -> Selection<'_> {
        let (thermo, phase) = (self.thermo.as_deref(), self.phase.as_deref());
        Selection { thermo, phase, include: &self.include }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("give a number of seconds from 0 to 1e9".to_owned()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=MOST_THREADS) => Ok(n),
        _ => Err(format!("give a number of threads from 1 to {MOST_THREADS}")),
    }
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

fn particles(text: &str) -> Result<usize, String> {
    match text.replace('_', "").parse() {
        Ok(n @ 2..=1_000_000) if n % 2 == 0 => Ok(n),
        _ => {
            Err("give an even number of particles from 2 to 1000000: they mix in pairs".to_owned())
        }
    }
}

fn systems(text: &str) -> Result<usize, String> {
    match text.replace('_', "").parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("give a whole number from 1 to {}", usize::MAX)),
    }
}
