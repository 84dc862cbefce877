//! Tables that device code reads: numbers in one block of bytes.

/// Sections begin at multiples of this, in bytes: the widest load of a thread.
const ALIGNMENT: usize = 16;

/// A block of bytes that device code reads, and the names of what stands where.
///
/// The block travels to the device once for each kernel. The text of the kernel has for each section a
/// `#define` of its offset, and for each count one of its value: two systems of equal sizes have equal texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    bytes: Vec<u8>,
    /// Names of sections and their offsets.
    sections: Vec<(&'static str, usize)>,
    counts: Vec<(&'static str, usize)>,
}

/// Values with so many behind the last one, which device code that reads ahead of what it takes reads and never takes.
pub fn with_ahead<T: Copy + Default>(values: &[T], more: usize) -> Vec<T> {
    values.iter().copied().chain(std::iter::repeat_n(T::default(), more)).collect()
}

impl Tables {
    /// A section of bytes; `name` is defined as its offset in the block \[bytes\].
    pub fn push_bytes(&mut self, name: &'static str, values: &[u8]) {
        self.section(name);
        self.bytes.extend_from_slice(values);
    }

    /// A section of 16-bit numbers; `name` is defined as its offset \[bytes\].
    pub fn push_u16(&mut self, name: &'static str, values: &[u16]) {
        self.section(name);
        self.bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    }

    /// A section of 32-bit numbers; `name` is defined as its offset \[bytes\].
    pub fn push_u32(&mut self, name: &'static str, values: &[u32]) {
        self.section(name);
        self.bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    }

    /// A section of double-precision numbers; `name` is defined as its offset \[bytes\].
    pub fn push_f64(&mut self, name: &'static str, values: &[f64]) {
        self.section(name);
        self.bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
    }

    /// Defines `name` as a count.
    pub fn count(&mut self, name: &'static str, count: usize) {
        self.counts.push((name, count));
    }

    /// Appends the sections and counts of other tables.
    pub fn append(&mut self, other: Tables) {
        self.pad();
        let base = self.bytes.len();
        self.bytes.extend(other.bytes);
        self.sections.extend(other.sections.into_iter().map(|(name, at)| (name, base + at)));
        self.counts.extend(other.counts);
    }

    /// The block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines `#define NAME VALUEu` of all sections and counts.
    pub fn defines(&self) -> String {
        let all = self.sections.iter().chain(&self.counts);
        all.map(|(name, value)| format!("#define {name} {value}u\n")).collect()
    }

    fn section(&mut self, name: &'static str) {
        self.pad();
        self.sections.push((name, self.bytes.len()));
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_aligned_and_move_together() {
        let mut second = Tables::default();
        second.push_f64("OD_B", &[1.0]);
        second.count("OD_N_B", 1);
        let mut all = Tables::default();
        all.push_u16("OD_A", &[1, 2, 3]);
        all.append(second);
        assert_eq!(all.defines(), "#define OD_A 0u\n#define OD_B 16u\n#define OD_N_B 1u\n");
        assert_eq!(all.bytes()[..6], [1, 0, 2, 0, 3, 0]);
        assert_eq!(all.bytes()[16..], 1.0_f64.to_le_bytes());
    }
}
