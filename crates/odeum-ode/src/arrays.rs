//! Numbers of many systems where they lie: the caller's arrays, lent.

use odeum_core::{Error, Scalar, cores, joined};
use std::thread::{self, Builder};

/// How the numbers of M systems with n components each lie in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    systems: usize,
    components: usize,
    /// From a system, and from a component, to the next.
    strides: [usize; 2],
}

impl Layout {
    /// Component i of system s at i M + s.
    fn component_major(len: usize, components: usize) -> Result<Layout, Error> {
        let systems = Layout::systems(len, components)?;
        Ok(Layout { systems, components, strides: [1, systems] })
    }

    /// Component i of system s at s n + i.
    fn system_major(len: usize, components: usize) -> Result<Layout, Error> {
        let systems = Layout::systems(len, components)?;
        Ok(Layout { systems, components, strides: [components, 1] })
    }

    fn systems(len: usize, components: usize) -> Result<usize, Error> {
        if components == 0 || !len.is_multiple_of(components) {
            let found = format!("{len} values");
            let remedy = format!("must be a multiple of the {components} components of a system");
            return Err(Error::input("array", found, remedy));
        }
        Ok(len / components)
    }

    /// Refuses what does not lie within `len` values.
    fn strided(
        len: usize,
        [systems, components]: [usize; 2],
        strides: [usize; 2],
    ) -> Result<Layout, Error> {
        // With strides of zero few values are many numbers.
        if systems.checked_mul(components).is_none() {
            let found = format!("{systems} systems of {components} components");
            return Err(Error::input("shape", found, "there cannot be so many numbers"));
        }
        check_end(len, &[systems, components], &strides)?;
        Ok(Layout { systems, components, strides })
    }

    /// True when no two numbers share a place.
    fn is_apart(&self) -> bool {
        are_apart(&[self.systems, self.components], &self.strides)
    }

    /// Of a system or component that is not there it may be the place of another number.
    #[inline(always)]
    fn place(&self, system: usize, component: usize) -> usize {
        system * self.strides[0] + component * self.strides[1]
    }
}

/// # Panics
/// Where there is no such system or component.
#[inline(always)]
pub(crate) fn check_place(
    (system, systems): (usize, usize),
    (component, components): (usize, usize),
) {
    assert!(system < systems, "there is no system {system} of {systems}");
    assert!(component < components, "there is no component {component} of {components}");
}

/// Refuses numbers that end beyond `len` values.
fn check_end(len: usize, shape: &[usize], strides: &[usize]) -> Result<(), Error> {
    let ends = shape.iter().zip(strides).map(|(count, stride)| (count - 1).checked_mul(*stride));
    let last = || ends.into_iter().try_fold(0_usize, |sum, end| sum.checked_add(end?));
    if !shape.contains(&0) && last().is_none_or(|last| last >= len) {
        let found = strides.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let remedy = format!("an array of shape {shape:?} ends beyond {len} values");
        return Err(Error::input("strides", found, remedy));
    }
    Ok(())
}

/// True when no two numbers share a place: between neighbours of each stride lies all that smaller strides reach.
fn are_apart(shape: &[usize], strides: &[usize]) -> bool {
    let axes = shape.iter().zip(strides).filter(|(count, _)| **count > 1);
    let mut axes: Vec<(usize, usize)> = axes.map(|(count, stride)| (*stride, *count)).collect();
    axes.sort_unstable();
    let mut reach: usize = 0;
    axes.into_iter().all(|(stride, count)| {
        let is_apart = stride > reach;
        reach = reach.saturating_add((count - 1).saturating_mul(stride));
        is_apart
    })
}

/// Numbers of M systems with n components each, lent: a slice and how they lie in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayRef<'a, T> {
    values: &'a [T],
    layout: Layout,
}

impl<'a, T: Scalar> ArrayRef<'a, T> {
    /// Component i of system s at i M + s: neighbours in memory are the same component of neighbouring
    /// systems, the order that lanes like best.
    ///
    /// # Errors
    /// A length that is no multiple of the components.
    pub fn component_major(values: &'a [T], components: usize) -> Result<Self, Error> {
        Ok(ArrayRef { values, layout: Layout::component_major(values.len(), components)? })
    }

    /// Component i of system s at s n + i.
    ///
    /// # Errors
    /// A length that is no multiple of the components.
    pub fn system_major(values: &'a [T], components: usize) -> Result<Self, Error> {
        Ok(ArrayRef { values, layout: Layout::system_major(values.len(), components)? })
    }

    /// `shape` = (systems, components), with these `strides` from a system and from a component to the next.
    /// A stride of zero is one number for all.
    ///
    /// # Errors
    /// An array that ends beyond the slice.
    pub fn strided(values: &'a [T], shape: [usize; 2], strides: [usize; 2]) -> Result<Self, Error> {
        Ok(ArrayRef { values, layout: Layout::strided(values.len(), shape, strides)? })
    }

    /// Component-major numbers of an ensemble.
    pub(crate) fn of_systems(values: &'a [T], systems: usize, components: usize) -> Self {
        ArrayRef { values, layout: Layout { systems, components, strides: [1, systems] } }
    }

    /// The numbers of one system for all.
    pub(crate) fn shared(values: &'a [T], systems: usize) -> Self {
        let components = values.len();
        ArrayRef { values, layout: Layout { systems, components, strides: [0, 1] } }
    }

    /// Number of systems M.
    pub fn systems(&self) -> usize {
        self.layout.systems
    }

    /// Number of components n of a system.
    pub fn components(&self) -> usize {
        self.layout.components
    }

    /// A component of a system.
    ///
    /// # Panics
    /// Where there is no such system or component.
    #[inline(always)]
    pub fn get(&self, system: usize, component: usize) -> T {
        check_place((system, self.systems()), (component, self.components()));
        self.at(system, component)
    }

    /// The same of a system and a component that are known to be there.
    #[inline(always)]
    pub(crate) fn at(&self, system: usize, component: usize) -> T {
        self.values[self.layout.place(system, component)]
    }

    /// As [`ArrayMut::raw`].
    pub(crate) fn raw(&self) -> (*const T, [usize; 2]) {
        (self.values.as_ptr(), self.layout.strides)
    }

    /// Copies as many numbers as there is room for, in component-major order, from one on.
    pub(crate) fn copy_from(&self, first: usize, to: &mut [T]) {
        let (mut place, mut to) = (first, to);
        while !to.is_empty() {
            let (component, system) = (place / self.systems(), place % self.systems());
            let (row, rest) = to.split_at_mut(to.len().min(self.systems() - system));
            self.copy_row(component, system, row);
            (place, to) = (place + row.len(), rest);
        }
    }

    /// Copies a component of as many systems as there is room for, from one on.
    pub(crate) fn copy_row(&self, component: usize, first: usize, to: &mut [T]) {
        let from = &self.values[self.layout.place(first, component)..];
        match self.layout.strides[0] {
            0 => to.fill(from[0]),
            1 => to.copy_from_slice(&from[..to.len()]),
            stride => {
                for (to, from) in to.iter_mut().zip(from.iter().step_by(stride)) {
                    *to = *from;
                }
            }
        }
    }

    /// System and component of a number that is NaN or infinite, if there is one.
    pub(crate) fn first_non_finite(&self) -> Option<(usize, usize)> {
        let (systems, components) = (self.systems(), self.components());
        let fills = self.values.len() == systems * components && self.layout.is_apart();
        if fills && are_finite(self.values) {
            return None;
        }
        // One number for all is looked at once.
        let [by_system, by_component] = self.layout.strides;
        let apart = |count: usize, stride: usize| if stride == 0 { count.min(1) } else { count };
        let (systems, components) = (apart(systems, by_system), apart(components, by_component));
        let mut offsets = (0..components).flat_map(|i| (0..systems).map(move |s| (s, i)));
        offsets.find(|&(s, i)| !self.get(s, i).is_finite())
    }
}

/// Judges numbers at the speed of memory, which one thread alone does not reach.
fn are_finite<T: Scalar>(values: &[T]) -> bool {
    const PART: usize = 1 << 18;
    const THREADS: usize = 8;
    let part = PART.max(values.len().div_ceil(cores().min(THREADS)));
    let mut parts = values.chunks(part);
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        // What the system gives no thread for is judged here.
        let judge =
            |part| Builder::new().spawn_scoped(scope, move || part_is_finite(part)).or(Err(part));
        let others: Vec<_> = parts.map(judge).collect();
        let own = part_is_finite(own);
        others.into_iter().all(|other| other.map_or_else(part_is_finite, joined)) && own
    })
}

fn part_is_finite<T: Scalar>(values: &[T]) -> bool {
    // Zero times what is finite is zero, else NaN; several sums, that do not wait for one another.
    let mut sums = [0.0; 8];
    let mut add = |values: &[T]| {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value.to_f64() * 0.0;
        }
    };
    let blocks = values.chunks_exact(8);
    let rest = blocks.remainder();
    blocks.for_each(&mut add);
    add(rest);
    sums == [0.0; 8]
}

/// Room for numbers of M systems with n components each, lent.
#[derive(Debug)]
pub struct ArrayMut<'a, T> {
    values: &'a mut [T],
    layout: Layout,
}

impl<'a, T: Scalar> ArrayMut<'a, T> {
    /// As [`ArrayRef::component_major`].
    ///
    /// # Errors
    /// A length that is no multiple of the components.
    pub fn component_major(values: &'a mut [T], components: usize) -> Result<Self, Error> {
        let layout = Layout::component_major(values.len(), components)?;
        Ok(ArrayMut { values, layout })
    }

    /// As [`ArrayRef::system_major`].
    ///
    /// # Errors
    /// A length that is no multiple of the components.
    pub fn system_major(values: &'a mut [T], components: usize) -> Result<Self, Error> {
        let layout = Layout::system_major(values.len(), components)?;
        Ok(ArrayMut { values, layout })
    }

    /// As [`ArrayRef::strided`].
    ///
    /// # Errors
    /// An array that ends beyond the slice, or in which two numbers share a place.
    pub fn strided(
        values: &'a mut [T],
        shape: [usize; 2],
        strides: [usize; 2],
    ) -> Result<Self, Error> {
        let layout = Layout::strided(values.len(), shape, strides)?;
        if !layout.is_apart() {
            let found = format!("{} and {}", strides[0], strides[1]);
            return Err(Error::input("strides", found, "every number needs a place of its own"));
        }
        Ok(ArrayMut { values, layout })
    }

    /// Number of systems M.
    pub fn systems(&self) -> usize {
        self.layout.systems
    }

    /// Number of components n of a system.
    pub fn components(&self) -> usize {
        self.layout.components
    }

    /// Component-major numbers of a solution.
    pub(crate) fn of_systems(values: &'a mut [T], systems: usize, components: usize) -> Self {
        ArrayMut { values, layout: Layout { systems, components, strides: [1, systems] } }
    }

    /// Writes a component of a system.
    ///
    /// # Panics
    /// Where there is no such system or component.
    pub fn set(&mut self, system: usize, component: usize, value: T) {
        check_place((system, self.systems()), (component, self.components()));
        self.values[self.layout.place(system, component)] = value;
    }

    /// The address of component 0 of system 0, and the strides from a system and a component to the next: all
    /// places below the counts lie in the array, each apart.
    pub(crate) fn raw(&mut self) -> (*mut T, [usize; 2]) {
        (self.values.as_mut_ptr(), self.layout.strides)
    }
}

/// Room for states of M systems with n components each at K times, lent.
#[derive(Debug)]
pub struct SavedMut<'a, T> {
    values: &'a mut [T],
    times: usize,
    /// From a time to the next.
    by_time: usize,
    layout: Layout,
}

impl<'a, T: Scalar> SavedMut<'a, T> {
    /// `shape` = (times, systems, components), with these `strides` from a time, from a system and from a component to the
    /// next: of K times, those of an array [K × n × M] are n M, 1 and M, those of an array [M × K × n] are n, K n and 1.
    ///
    /// # Errors
    /// An array that ends beyond the slice, or in which two numbers share a place.
    pub fn strided(
        values: &'a mut [T],
        shape: [usize; 3],
        strides: [usize; 3],
    ) -> Result<Self, Error> {
        check_end(values.len(), &shape, &strides)?;
        if !are_apart(&shape, &strides) {
            let found = strides.map(|stride| stride.to_string()).join(", ");
            return Err(Error::input("strides", found, "every number needs a place of its own"));
        }
        let ([times, systems, components], [by_time, by_system, by_component]) = (shape, strides);
        let layout = Layout { systems, components, strides: [by_system, by_component] };
        Ok(SavedMut { values, times, by_time, layout })
    }

    /// Saved states [K × n × M] of a solution.
    pub(crate) fn of_times(values: &'a mut [T], [times, systems, components]: [usize; 3]) -> Self {
        let layout = Layout { systems, components, strides: [1, systems] };
        SavedMut { values, times, by_time: components * systems, layout }
    }

    /// Number of times K.
    pub fn times(&self) -> usize {
        self.times
    }

    /// Number of systems M.
    pub fn systems(&self) -> usize {
        self.layout.systems
    }

    /// Number of components n of a system.
    pub fn components(&self) -> usize {
        self.layout.components
    }

    /// Sets a component of a system at a time.
    #[inline(always)]
    pub(crate) fn set(&mut self, time: usize, system: usize, component: usize, value: T) {
        self.values[time * self.by_time + self.layout.place(system, component)] = value;
    }

    /// Sets all numbers.
    pub(crate) fn fill(&mut self, value: T) {
        for k in 0..self.times {
            for i in 0..self.components() {
                for s in 0..self.systems() {
                    self.set(k, s, i, value);
                }
            }
        }
    }

    /// Where the numbers begin, and the strides from a time, a system and a component to the next.
    pub(crate) fn raw(&mut self) -> (*mut T, [usize; 3]) {
        let [by_system, by_component] = self.layout.strides;
        (self.values.as_mut_ptr(), [self.by_time, by_system, by_component])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_strides_say_where_numbers_lie() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let by_component = ArrayRef::component_major(&values, 2).unwrap();
        let by_system = ArrayRef::system_major(&values, 2).unwrap();
        assert_eq!((by_component.systems(), by_component.get(2, 1)), (3, 5.0));
        assert_eq!((by_system.get(2, 0), by_system.get(0, 1)), (4.0, 1.0));
        let mut all = [0.0; 6];
        by_system.copy_from(0, &mut all);
        assert_eq!(all, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
        by_component.copy_from(1, &mut all[..4]);
        assert_eq!(all[..4], [1.0, 2.0, 3.0, 4.0]);
        let shared = ArrayRef::strided(&values, [100, 2], [0, 3]).unwrap();
        assert_eq!((shared.get(99, 0), shared.get(7, 1)), (0.0, 3.0));
        assert!(ArrayRef::strided(&values, [3, 2], [2, 2]).is_err());
        assert!(ArrayRef::strided(&values, [usize::MAX, 2], [usize::MAX, 2]).is_err());
        assert!(ArrayRef::component_major(&values, 4).is_err());
        assert!(ArrayRef::component_major(&values, 0).is_err());
    }

    #[test]
    #[should_panic(expected = "there is no system 3 of 3")]
    fn a_system_that_is_not_there_is_no_other() {
        ArrayRef::component_major(&[0.0; 6], 2).unwrap().get(3, 0);
    }

    #[test]
    #[should_panic(expected = "there is no component 2 of 2")]
    fn a_component_that_is_not_there_is_none_of_the_next_system() {
        ArrayMut::system_major(&mut [0.0; 6], 2).unwrap().set(0, 2, 1.0);
    }

    #[test]
    fn numbers_that_are_written_lie_apart() {
        let mut values = [0.0; 12];
        for (shape, strides, apart) in [
            ([3, 2], [2, 1], true),
            ([3, 2], [1, 3], true),
            ([3, 2], [4, 2], true),
            ([3, 2], [1, 2], false),
            ([3, 2], [0, 1], false),
            ([3, 2], [2, 2], false),
            ([1, 4], [0, 2], true),
            ([4, 1], [3, 0], true),
            ([2, 3], [2, 0], false),
        ] {
            let array = ArrayMut::strided(&mut values, shape, strides);
            assert_eq!(array.is_ok(), apart, "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_found() {
        let mut values = vec![1.0; 10_000];
        assert_eq!(ArrayRef::component_major(&values, 2).unwrap().first_non_finite(), None);
        values[7_003] = f64::NAN;
        let found = ArrayRef::component_major(&values, 2).unwrap().first_non_finite();
        assert_eq!(found, Some((2_003, 1)));
        let found = ArrayRef::system_major(&values, 2).unwrap().first_non_finite();
        assert_eq!(found, Some((3_501, 1)));
        // Several threads look at these.
        let mut values = vec![1.0; 3 << 18];
        assert_eq!(ArrayRef::component_major(&values, 3).unwrap().first_non_finite(), None);
        values[(3 << 18) - 1] = f64::INFINITY;
        let found = ArrayRef::component_major(&values, 3).unwrap().first_non_finite();
        assert_eq!(found, Some(((1 << 18) - 1, 2)));
    }
}
