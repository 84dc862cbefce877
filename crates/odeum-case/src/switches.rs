//! Whether steps may pass over jumps in time: judged by the comparisons and floors of the time in equations as text, and by
//! the times at which every step ends.

use crate::case::Case;
use crate::members::Members;
use odeum_core::graph::Switches;
use odeum_io::Finding;
use odeum_ode::{Method, Options};

/// Places within a stretch between two stops at which switches are looked at, beside those near its ends.
const PLACES: usize = 30;
/// How near \[length of the stretch\].
const NEAR: f64 = 1e-6;
/// The length up to which a span is none: that of sessions, which are told later where to go.
const NO_SPAN: f64 = 1e-30;
/// Values that are computed for it, at most.
const MOST: usize = 20_000_000;

/// A warning where jumps lie at no stop, or a method may not see what lies between two stops, and no length of steps is given.
/// Where the numbers of systems come `later`, the case says nothing of them.
pub(crate) fn check(
    case: &Case,
    members: &Members<'_>,
    options: &Options,
    later: bool,
) -> Option<Finding> {
    let switches = case.model.switches.as_ref()?;
    let method = &case.method.method;
    if method.controller().fixed_step().is_some() || options.largest_step.is_some() {
        return None;
    }
    let span = members.span(0);
    if (span.1 - span.0).abs() <= NO_SPAN {
        return None;
    }
    let stops = stops(span, options);
    let n = case.model.dim();
    let vary = later || (n..n + case.model.param_names.len()).any(|k| members.varies(k));
    let params: Vec<f64> =
        (n..n + case.model.param_names.len()).map(|j| members.value(j, 0)).collect();
    let (message, help) = match (found(switches, (&params, vary), &stops)?, places(method)) {
        (Found::BetweenStops, _) => (
            "the equations jump at times of their own: steps may pass over all that is between two jumps".to_owned(),
            "give `largest_step`, well below the shortest time between two jumps, or `save` the time of each; for a single \
             jump rodas4, radau and the exponential methods suffice",
        ),
        (Found::AtStops, Some(places)) if switches.moves_between => (
            format!(
                "`{}` evaluates the equations at the {places} of a step alone: it may miss a pulse from one saved \
                 time to the next",
                method.name()
            ),
            "give `largest_step`, well below the length of a pulse and no multiple of its period, or take another method",
        ),
        (Found::AtStops, _) => return None,
    };
    let finding = match case.source_spans.find("switches") {
        Some(source_span) => source_span.error(message),
        None => Finding::error(message).in_file(case.source.name()).field("system.equations"),
    };
    Some(finding.into_warning().help(help))
}

/// Where a method evaluates the equations that does so at few places: a pulse may vanish at all of them.
fn places(method: &Method) -> Option<&'static str> {
    match method.name() {
        "rodas3" => Some("ends"),
        "exp4" | "exprb43" => Some("ends and the middle"),
        _ => None,
    }
}

/// Times at which a step ends, whatever the method: in order, the ends of the span among them.
fn stops((start, end): (f64, f64), options: &Options) -> Vec<f64> {
    let pieces = f64::from(options.segments);
    let cuts = (1..options.segments).map(|k| start + (end - start) * (f64::from(k) / pieces));
    let cuts = cuts.take(MOST / PLACES);
    let mut stops: Vec<f64> = options.save_times().iter().copied().chain(cuts).collect();
    stops.extend([start, end]);
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    stops
}

enum Found {
    /// A jump that is at no stop, as far as is seen.
    BetweenStops,
    /// All are at stops.
    AtStops,
}

/// Where jumps are, by the parameters of one system, which may `vary` between systems; `None` where there is none in the span.
fn found(switches: &Switches, (params, vary): (&[f64], bool), stops: &[f64]) -> Option<Found> {
    let Switches { values: graph, linear, of_params, .. } = switches;
    let count = graph.outputs().len();
    // Where parameters differ between systems, and one has a single jump, a stop is taken to be there.
    let is_own = |k: usize| vary && linear[k] && of_params[k];
    let (mut first, mut values) = (None, Vec::new());
    let (mut changes, mut changes_within) = (vec![false; count], vec![false; count]);
    let states = vec![f64::NAN; graph.n_states()];
    let stretches = MOST / (graph.nodes().len().max(1) * (PLACES + 2));
    for ends in stops.windows(2).take(stretches.max(1)) {
        let mut here = None;
        let golden = |k: usize| (k as f64 * 0.618_033_988_749_894_8).fract();
        for part in [NEAR, 1.0 - NEAR].into_iter().chain((1..=PLACES).map(golden)) {
            graph.eval_nodes(ends[0] + (ends[1] - ends[0]) * part, &states, params, &mut values);
            let now: Vec<u64> =
                graph.outputs().iter().map(|id| values[id.index()].to_bits()).collect();
            let (here, first) = (here.get_or_insert_with(|| now.clone()), &mut first);
            let first = first.get_or_insert_with(|| now.clone());
            for k in 0..count {
                changes[k] |= now[k] != first[k];
                changes_within[k] |= now[k] != here[k];
            }
        }
    }
    let is_between = |k: usize| match is_own(k) {
        true => stops.len() <= 2,
        false => changes_within[k] || !(changes[k] || linear[k]),
    };
    if (0..count).any(is_between) {
        return Some(Found::BetweenStops);
    }
    (0..count).any(|k| is_own(k) || changes[k]).then_some(Found::AtStops)
}
