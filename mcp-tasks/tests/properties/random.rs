//! Numbers that come again with the same seed.

use super::program::Name;

/// A generator of numbers, `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A seed for a generator of its own.
    pub(crate) fn seed(&mut self) -> u64 {
        self.next()
    }

    /// One of `0..n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).expect("a length fits into 64 bits");
        usize::try_from(self.next() % n).expect("it is less than a length")
    }

    /// One of `from..=to`.
    pub(crate) fn between(&mut self, from: u32, to: u32) -> u32 {
        from + u32::try_from(self.next() % u64::from(to - from + 1)).expect("it is less than `to`")
    }

    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of a slice, which is not empty.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn name(&mut self, from: &[Name]) -> Name {
        from[self.below(from.len())]
    }
}
