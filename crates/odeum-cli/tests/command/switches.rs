//! Equations that jump at times of their own are warned of, unless steps cannot pass over what lies between.

use crate::common::Folder;

/// What `odeum check` warns of x' = `equation` over (0, 30), with these lines of `[method]` and `[time]`.
fn warned(equation: &str, method: &str, time: &str) -> String {
    let folder = Folder::new();
    let span = if time.contains("span") { "" } else { "span = [0.0, 30.0]" };
    let case = format!(
        "[system]\nstates = {{ x = 0.0 }}\nparameters = {{ d = 0.25 }}\n\
         definitions = {{ day = \"t - floor(t)\", none = \"0*day*d\" }}\n\
         equations = {{ x = \"{equation} - none\" }}\n\
         [time]\n{span}\n{time}\n[method]\n{method}\n\
         [tolerance]\nrtol = 1e-6\natol = 1e-8\n"
    );
    let case = match equation.contains("day") {
        true => case,
        false => case.replace("\"t - floor(t)\"", "\"1\""),
    };
    folder.write("a.toml", case).odeum(&["check", "a.toml"]).well().err
}

const PULSE: &str = "select(t >= 5 && t < 6, sin(pi*(t - 5))^2, 0)";
const NIGHT: &str = "select(day < d, 1, 0) - x";

#[test]
fn jumps_between_stops_are_warned_of_whatever_the_method() {
    let told = "the equations jump at times of their own";
    for method in ["dopri5", "rkc", "rodas3", "rodas4", "radau", "exp4"] {
        let method = format!("name = \"{method}\"");
        for (equation, time) in [
            (PULSE, ""),
            (PULSE, "save = [5.0, 5.9]"),
            (NIGHT, ""),
            // Every day.
            (NIGHT, "save = { count = 31 }"),
            ("select(sin(t) > 0.9, 1, 0)", "save = { count = 31 }"),
            ("select(abs(t - 10) < 1e-3, 1, 0)", ""),
            ("select(t < 40*d, 1, 0)", ""),
            // At 7.5, by a number that all systems have.
            ("select(t >= 30*d && t < 30*d + 0.01, 100, 0)", "save = [0.5]"),
            (PULSE, "span = [30.0, 0.0]"),
        ] {
            let err = warned(equation, &method, time);
            assert!(err.contains(told) && err.contains("--> a.toml:5:"), "{equation} {time} {err}");
            assert!(err.contains("`largest_step`") && err.contains("`save`"), "{err}");
            let bounded = format!("{method}\nlargest_step = 0.1");
            assert_eq!(warned(equation, &bounded, time), "", "{equation}");
        }
    }
    assert_eq!(warned(NIGHT, "name = \"dopri5\"\nfixed_step = 0.1", ""), "");
}

#[test]
fn jumps_at_stops_and_smooth_forcing_are_not() {
    for (equation, time) in [
        (PULSE, "save = [5.0, 6.0]"),
        (PULSE, "segments = 30"),
        // Every quarter of a day.
        ("select(day < 0.25, 1, 0) - x", "save = { count = 121 }"),
        (NIGHT, "save = { count = 121 }"),
        ("select(t < 40*d, 1, 0)", "save = [10.0]"),
        ("select(t < 30, 1, 0) + select(t >= 0, 1, 0) + floor(t/100)", ""),
        ("select(t >= 200*d, 1, 0)", ""),
        ("sin(100*t) - x", ""),
        ("max(sin(t), 0) - min(t, 1)*x - abs(t - 2)", ""),
        ("select(x < t, 1, 0) + floor(x)", ""),
    ] {
        let err = warned(equation, "name = \"dopri5\"", time);
        assert_eq!(err, "", "{equation} {time}");
    }
}

#[test]
fn methods_that_see_few_places_want_short_steps_in_a_pulse() {
    let name = |name: &str| format!("name = \"{name}\"");
    for (method, places) in [("rodas3", "ends"), ("exp4", "middle"), ("exprb43", "middle")] {
        let err = warned(PULSE, &name(method), "save = [5.0, 6.0]");
        assert!(err.contains("it may miss a pulse") && err.contains(places), "{err}");
        assert!(err.contains("well below the length of a pulse"), "{err}");
        let bounded = format!("{}\nlargest_step = 0.3", name(method));
        assert_eq!(warned(PULSE, &bounded, "save = [5.0, 6.0]"), "");
        // Between the jumps nothing moves.
        let steps = "select(t >= 5 && t < 6, 1, 0)";
        assert_eq!(warned(steps, &name(method), "save = [5.0, 6.0]"), "");
    }
}
