//! The states reactors start from.

use crate::exit::Exit;
use crate::pasr::{Database, Feeds};
use odeum_case::random;
use odeum_io::Finding;
use odeum_io::number::count;
use odeum_kinetics::constants::ONE_ATM;
use odeum_kinetics::pasr::PasrSettings;
use odeum_kinetics::{Kinetics, Reactor};
use odeum_ode::{Cpu, Device, Ensemble, Isa, Method, Monitor, Options, Solver, System, Tolerance};
use std::collections::BTreeMap;
use std::sync::Arc;

/// States of each run that the papers leave out, for they are near equilibrium.
const LEFT_OUT: usize = 1000;
/// Seed of the order of states.
const SEED: u64 = 2017;
/// Change of temperature \[K/s\] above which a state counts as reactive: most states of hydrogen are near equilibrium.
const REACTIVE: f64 = 1e5;
/// Temperature \[K\] from which ethanol ignites (Niemeyer & Sung 2014), and how long that is followed \[s\].
const IGNITION: (f64, f64) = (1600.0, 4e-5);

/// Temperatures \[K\], pressures \[Pa\] and mass fractions, in random order.
#[derive(Clone, Debug)]
pub(crate) struct States(pub(crate) Vec<(f64, f64, Vec<f64>)>);

impl States {
    /// Of the nine runs of Curtis, Niemeyer & Sung 2017's table 2 for this mechanism, evenly spread over all.
    pub(crate) fn of_pasr(
        kinetics: &Arc<Kinetics>,
        wanted: usize,
    ) -> Result<States, (Finding, Exit)> {
        let feeds = Feeds::new(kinetics, None, None).map_err(|finding| {
            let help =
                "name fuel and oxidizer in `odeum pasr`, and give what it writes with --states";
            (finding.help(help), Exit::BadInput)
        })?;
        let conditions = PasrSettings::published_conditions().into_iter().zip(0..);
        let settings: Vec<PasrSettings> = conditions
            .map(|((t, p), run)| PasrSettings {
                seed: random::seed_of(0, run),
                ..feeds.settings(t, p)
            })
            .collect();
        let database =
            Database::compute(kinetics, &settings, &Device::cpu(), &Monitor::new(), |_| {});
        let database = database.map_err(|finding| (finding, Exit::Broken))?;
        Ok(Self::of_database(&database, wanted, |_| {}))
    }

    /// Evenly spread over all runs, without the first states of each; `tell` hears where so few remain that this matters.
    pub(crate) fn of_database(
        database: &Database,
        wanted: usize,
        tell: impl FnOnce(Finding),
    ) -> States {
        let mut seen = BTreeMap::new();
        let mut kept: Vec<usize> = Vec::new();
        for (s, run) in database.runs.iter().enumerate() {
            let before = seen.entry(run).or_insert(0);
            if *before >= LEFT_OUT {
                kept.push(s);
            }
            *before += 1;
        }
        // A small set is wanted whole.
        if kept.is_empty() {
            kept = (0..database.len()).collect();
        }
        if kept.len() < wanted.min(database.len()) {
            let message = format!(
                "the first {} states of each run are left out: {} of {} remain",
                count(LEFT_OUT as u64),
                count(kept.len() as u64),
                count(database.len() as u64)
            );
            let help = "for more states give `odeum pasr` more --particles or --residence-times";
            tell(Finding::error(message).into_warning().help(help));
        }
        let n = database.mass_fractions.len() / database.len().max(1);
        let state = |s: usize| {
            let y = database.mass_fractions[s * n..(s + 1) * n].to_vec();
            (database.temperatures[s], database.pressures[s], y)
        };
        let picks = wanted.min(kept.len());
        let picked = (0..picks).map(|i| kept[i * kept.len() / picks]);
        States(shuffled(picked.map(state).collect()))
    }

    /// Along the ignition of stoichiometric ethanol and air at constant pressure, evenly in time.
    pub(crate) fn along_ignition(
        kinetics: &Arc<Kinetics>,
        wanted: usize,
    ) -> Result<States, (Finding, Exit)> {
        let y = ethanol_in_air(kinetics).map_err(|finding| (finding, Exit::BadInput))?;
        ignition(kinetics, &y, wanted)
            .map_err(|why| (Finding::error(format!("the ignition: {why}")), Exit::Broken))
    }

    /// The same states by temperature.
    pub(crate) fn sorted(&self) -> States {
        let mut states = self.0.clone();
        states.sort_by(|a, b| a.0.total_cmp(&b.0));
        States(states)
    }

    /// Which state system `s` of `count` starts from: of few systems states that are evenly spread, and beyond the last one
    /// the first ones again.
    pub(crate) fn index(&self, s: usize, count: usize) -> usize {
        let len = self.0.len();
        if count < len { s * len / count } else { s % len }
    }

    /// Those whose temperature changes by more than [`REACTIVE`].
    pub(crate) fn reactive(&self, reactor: &Reactor) -> Result<States, Finding> {
        let mut slope = vec![0.0; reactor.dim()];
        let mut states = self.0.clone();
        states.retain(|(t, p, y)| {
            let Ok((state, parameter)) = reactor.state(*t, *p, y) else { return false };
            reactor.rhs(0.0, &state, &parameter, &mut slope);
            slope[0].abs() > REACTIVE
        });
        if states.is_empty() {
            let message = format!("no temperature of these states changes by {REACTIVE:e} K/s");
            return Err(Finding::error(message).help("leave out the part `reactive`"));
        }
        Ok(States(states))
    }

    /// An ensemble of `count` states over `dt`: those of [`index`](States::index).
    pub(crate) fn ensemble(
        &self,
        reactor: &Reactor,
        count: usize,
        dt: f64,
    ) -> Result<Ensemble<f64>, Finding> {
        let broken = |why: String| Finding::error(format!("a state to start from: {why}"));
        let (dim, distinct) = (reactor.dim(), count.min(self.0.len()));
        let mut all = vec![0.0; dim * count];
        let mut params = vec![0.0; count];
        for s in 0..distinct {
            let (t, p, y) = &self.0[self.index(s, count)];
            let (state, [parameter]) =
                reactor.state(*t, *p, y).map_err(|error| broken(error.to_string()))?;
            for (i, x) in state.into_iter().enumerate() {
                all[i * count + s] = x;
            }
            params[s] = parameter;
        }
        for row in all.chunks_exact_mut(count).chain([&mut params[..]]) {
            let (first, again) = row.split_at_mut(distinct);
            for copy in again.chunks_mut(distinct) {
                copy.copy_from_slice(&first[..copy.len()]);
            }
        }
        Ensemble::new(dim, all, (0.0, dt))
            .and_then(|ensemble| ensemble.with_params(params))
            .map_err(|error| broken(error.to_string()))
    }
}

/// Mass fractions of the stoichiometric mixture.
fn ethanol_in_air(kinetics: &Kinetics) -> Result<Vec<f64>, Finding> {
    let help = "this study wants a mechanism of ethanol, as Marinov's (1999)";
    let names = kinetics.species_names();
    let amounts = |list: &[(&str, f64)]| -> Result<Vec<f64>, Finding> {
        let mut all = vec![0.0; names.len()];
        for (name, amount) in list {
            let found = names.iter().position(|n| n.eq_ignore_ascii_case(name));
            let missing = || Finding::error(format!("the mechanism has no {name}")).help(help);
            all[found.ok_or_else(missing)?] = *amount;
        }
        Ok(all)
    };
    let (fuel, air) = (amounts(&[("c2h5oh", 1.0)])?, amounts(&[("o2", 1.0), ("n2", 3.76)])?);
    let mixture = kinetics.at_equivalence_ratio(1.0, &fuel, &air);
    mixture.map_err(|error| Finding::error(format!("ethanol in air: {error}")).help(help))
}

/// States of the ignition of a gas at constant pressure, evenly in time.
fn ignition(kinetics: &Arc<Kinetics>, y: &[f64], wanted: usize) -> Result<States, String> {
    let reactor = Arc::new(Reactor::constant_pressure(Arc::clone(kinetics)));
    let (start, parameter) =
        reactor.state(IGNITION.0, ONE_ATM, y).map_err(|error| error.to_string())?;
    let dim = start.len();
    let times = (0..wanted).map(|k| IGNITION.1 * (k + 1) as f64 / wanted as f64).collect();
    let options = Options::new(Tolerance::new(1e-8, 1e-14)).save_at(times);
    let solution = Ensemble::new(dim, start, (0.0, IGNITION.1))
        .and_then(|e| e.with_shared_params(parameter.to_vec()))
        .and_then(|ensemble| {
            let device = Device::Cpu(Cpu { threads: Some(1), isa: Isa::best() });
            Solver::new(reactor, &Method::radau(), &device, &options)?.solve(&ensemble)
        })
        .map_err(|error| error.to_string())?;
    if !solution.all_succeeded() {
        return Err(solution.status[0].name().to_owned());
    }
    let clip = |y: f64| if y > 0.0 { y } else { 0.0 };
    let states = (0..wanted).map(|k| {
        let row = &solution.saved[k * dim..(k + 1) * dim];
        let sum: f64 = row[1..dim - 1].iter().map(|y| clip(*y)).sum();
        (row[0], ONE_ATM, row[1..dim - 1].iter().map(|y| clip(*y) / sum).collect())
    });
    Ok(States(states.collect()))
}

/// In an order that says nothing (Fisher & Yates).
fn shuffled<T>(mut items: Vec<T>) -> Vec<T> {
    for i in (1..items.len()).rev() {
        let fraction = 0.5 + 0.5 * random::uniform(SEED, i as u64, 0);
        items.swap(i, ((i + 1) as f64 * fraction) as usize % (i + 1));
    }
    items
}
