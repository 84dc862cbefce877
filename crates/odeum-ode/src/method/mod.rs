//! Integration methods: one family per folder; the head of its `mod.rs` gives equation, order,
//! stability, reference and options.

mod coefficients;
pub(crate) mod combination;
pub(crate) mod device;
pub mod erk;
pub mod exponential;
pub(crate) mod first_step;
pub(crate) mod linearised;
pub mod radau;
pub(crate) mod rhs;
pub mod rkc;
pub mod rosenbrock;
pub(crate) mod step_matrix;
pub(crate) mod stepper;

pub use erk::Erk;
pub use exponential::Exponential;
pub use linearised::JacobianSource;
pub use radau::Radau;
pub use rkc::Rkc;
pub use rosenbrock::Rosenbrock;

use crate::controller::Controller;
use coefficients::Coefficients;
use device::OnDevice;
use odeum_core::{Argument, Error};

/// Refuses coefficients of no exponential method: of too few or too many stages, or of no order.
fn check_functions(tableau: &exponential::Tableau, fixed_step: Option<f64>) -> Result<(), Error> {
    let exponential::Tableau { name, c, a, b, e, .. } = *tableau;
    let coefficients = Coefficients { name, stages: c.len() };
    coefficients.check_stages()?;
    // φₖ(0) = 1/k!.
    let factorial = |k: u32| (1..=k).map(f64::from).product::<f64>();
    let at_zero = |function: exponential::Function| -> f64 {
        function.iter().map(|term| term.weight / factorial(term.k)).sum()
    };
    let at_zeros = |functions: &[exponential::Function]| -> Vec<f64> {
        functions.iter().map(|function| at_zero(function)).collect()
    };
    coefficients.check_numbers("c", c)?;
    coefficients.check_rows("a", a.iter().map(|row| row.len()))?;
    coefficients.check_numbers("b", &at_zeros(b))?;
    coefficients.check_numbers("e", &at_zeros(e))?;
    let part = |name: &'static str| Argument::new("tableau").key(name);
    // Of f; the other functions are those of differences.
    for (i, row) in a.iter().enumerate() {
        coefficients.check_sum(part("a").at(i), row.iter().take(1).map(|f| at_zero(f)), c[i])?;
    }
    coefficients.check_sum(part("b"), b.iter().take(1).map(|f| at_zero(f)), 1.0)?;
    coefficients.check_sum(part("e"), e.iter().take(1).map(|f| at_zero(f)), 0.0)?;
    coefficients.check_estimate(e.iter().all(|function| function.is_empty()), fixed_step)
}

/// A method with its options.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Explicit Runge–Kutta: for systems that are not stiff.
    Erk(Erk),
    /// Runge–Kutta–Chebyshev: for moderately stiff systems with eigenvalues near the negative
    /// real axis.
    Rkc(Rkc),
    /// Rosenbrock: for stiff systems.
    Rosenbrock(Rosenbrock),
    /// Radau IIA of order 5: for stiff systems at tight tolerances.
    Radau(Radau),
    /// Exponential Rosenbrock: for stiff systems whose linear part rules.
    Exponential(Exponential),
}

impl Method {
    /// Cash–Karp 5(4), as in Niemeyer & Sung 2014.
    pub fn rkck() -> Self {
        Method::Erk(Erk::new(&erk::CASH_KARP))
    }

    /// Dormand–Prince 5(4).
    pub fn dopri5() -> Self {
        Method::Erk(Erk::new(&erk::DORMAND_PRINCE))
    }

    /// Tsitouras 5(4).
    pub fn tsit5() -> Self {
        Method::Erk(Erk::new(&erk::TSITOURAS))
    }

    /// Verner 7(6): for tight tolerances.
    pub fn vern7() -> Self {
        Method::Erk(Erk::new(&erk::VERNER7))
    }

    /// Runge–Kutta–Chebyshev of order 2.
    pub fn rkc() -> Self {
        Method::Rkc(Rkc::default())
    }

    /// Rodas3, order 3(2): stiff systems at loose tolerances.
    pub fn rodas3() -> Self {
        Method::Rosenbrock(Rosenbrock::new(&rosenbrock::RODAS3))
    }

    /// Rodas4, order 4(3): stiff systems.
    pub fn rodas4() -> Self {
        Method::Rosenbrock(Rosenbrock::new(&rosenbrock::RODAS4))
    }

    /// Rodas5P, order 5(4): stiff systems at tight tolerances.
    pub fn rodas5p() -> Self {
        Method::Rosenbrock(Rosenbrock::new(&rosenbrock::RODAS5P))
    }

    /// ROS34PW2, order 3(2): stiff systems whose Jacobian is not exact.
    pub fn ros34pw2() -> Self {
        Method::Rosenbrock(Rosenbrock::new(&rosenbrock::ROS34PW2))
    }

    /// Radau IIA of order 5: stiff systems at tight tolerances.
    pub fn radau() -> Self {
        Method::Radau(Radau::default())
    }

    /// exp4, order 4(3): the exponential method of Hochbruck, Lubich & Selhofer.
    pub fn exp4() -> Self {
        Method::Exponential(Exponential::new(&exponential::EXP4))
    }

    /// exprb43, order 4(3): the exponential method of Hochbruck, Ostermann & Schweitzer.
    pub fn exprb43() -> Self {
        Method::Exponential(Exponential::new(&exponential::EXPRB43))
    }

    /// Every method by its short name, with its default options.
    pub fn all() -> Vec<Method> {
        let explicit = erk::ALL.iter().map(|tableau| Method::Erk(Erk::new(tableau)));
        let implicit =
            rosenbrock::ALL.iter().map(|tableau| Method::Rosenbrock(Rosenbrock::new(tableau)));
        let exponential = exponential::ALL.iter().map(|t| Method::Exponential(Exponential::new(t)));
        let stiff = implicit.chain([Method::radau()]).chain(exponential);
        explicit.chain([Method::rkc()]).chain(stiff).collect()
    }

    /// The method of this short name; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Method> {
        Method::all().into_iter().find(|m| m.name() == name)
    }

    /// The short name, as `dopri5`; [`all`](Method::all) lists them.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Erk(erk) => erk.tableau.name,
            Method::Rkc(_) => "rkc",
            Method::Rosenbrock(rosenbrock) => rosenbrock.tableau.name,
            Method::Radau(_) => "radau",
            Method::Exponential(exponential) => exponential.tableau.name,
        }
    }

    /// Order of the solution.
    pub fn order(&self) -> u32 {
        match self {
            Method::Erk(erk) => erk.tableau.order,
            Method::Rkc(_) => 2,
            Method::Rosenbrock(rosenbrock) => rosenbrock.tableau.order,
            Method::Radau(_) => 5,
            Method::Exponential(exponential) => exponential.tableau.order,
        }
    }

    /// Order of the error estimate: it shrinks as h to the power of this plus one.
    pub fn error_order(&self) -> u32 {
        match self {
            Method::Erk(erk) => erk.tableau.embedded_order,
            Method::Rkc(_) => Rkc::ERROR_ORDER,
            Method::Rosenbrock(rosenbrock) => rosenbrock.tableau.embedded_order,
            Method::Radau(_) => Radau::ERROR_ORDER,
            Method::Exponential(exponential) => exponential.tableau.embedded_order,
        }
    }

    /// The step-size controller.
    pub fn controller(&self) -> &Controller {
        match self {
            Method::Erk(erk) => &erk.controller,
            Method::Rkc(rkc) => &rkc.controller,
            Method::Rosenbrock(rosenbrock) => &rosenbrock.controller,
            Method::Radau(radau) => &radau.controller,
            Method::Exponential(exponential) => &exponential.controller,
        }
    }

    /// The same method with another controller.
    pub fn with_controller(mut self, controller: Controller) -> Self {
        match &mut self {
            Method::Erk(erk) => erk.controller = controller,
            Method::Rkc(rkc) => rkc.controller = controller,
            Method::Rosenbrock(rosenbrock) => rosenbrock.controller = controller,
            Method::Radau(radau) => radau.controller = controller,
            Method::Exponential(exponential) => exponential.controller = controller,
        }
        self
    }

    /// Where the Jacobian comes from, of a method that needs one.
    pub fn jacobian_source(&self) -> Option<JacobianSource> {
        match self {
            Method::Erk(_) | Method::Rkc(_) => None,
            Method::Rosenbrock(rosenbrock) => Some(rosenbrock.jacobian),
            Method::Radau(radau) => Some(radau.jacobian),
            Method::Exponential(exponential) => Some(exponential.jacobian),
        }
    }

    /// Refuses options that have no meaning.
    ///
    /// # Errors
    /// As [`Controller::check`](crate::Controller::check), options of the method outside their ranges, and a tableau whose
    /// coefficients are those of no method.
    pub fn check(&self) -> Result<(), Error> {
        self.controller().check()?;
        let fixed_step = self.controller().fixed_step();
        match self {
            Method::Erk(erk) => erk.tableau.check(fixed_step),
            Method::Rkc(rkc) => rkc.check(),
            Method::Rosenbrock(rosenbrock) => rosenbrock.tableau.check(fixed_step),
            Method::Radau(radau) => radau.check(),
            Method::Exponential(exponential) => {
                check_functions(exponential.tableau, fixed_step)?;
                exponential.check()
            }
        }
    }

    /// What its family says to devices.
    pub(crate) fn on_device(&self) -> &dyn OnDevice {
        match self {
            Method::Erk(erk) => erk,
            Method::Rkc(rkc) => rkc,
            Method::Rosenbrock(rosenbrock) => rosenbrock,
            Method::Radau(radau) => radau,
            Method::Exponential(exponential) => exponential,
        }
    }
}
