//! What the packs of all instruction sets have in common.

/// Defines a lane pack and its mask from the instructions they consist of.
///
/// Each line names an operation, its operands and its expression over registers; the macro makes
/// of them the operators, [`Real`](crate::Real) and [`Lanes`](super::Lanes). Every method is
/// `#[inline(always)]`: see [`LaneWork`](super::LaneWork).
///
/// The expressions call instructions that the CPU may lack. That is sound because no pack
/// type leaves this crate except through [`Isa::dispatch`](super::Isa::dispatch), which checks.
macro_rules! pack {
    (
        $(#[$doc:meta])*
        $pack:ident = [$scalar:ty; $width:literal] in $register:ty;
        $(#[$mask_doc:meta])*
        $mask:ident in $mask_register:ty;

        splat($sx:ident) = $splat:expr;
        load($lp:ident) = $load:expr;
        store($stp:ident, $stv:ident) = $store:expr;
        stream($smp:ident, $smv:ident) = $stream:expr;
        add($add_a:ident, $add_b:ident) = $add:expr;
        sub($sub_a:ident, $sub_b:ident) = $sub:expr;
        mul($mul_a:ident, $mul_b:ident) = $mul:expr;
        div($div_a:ident, $div_b:ident) = $div:expr;
        neg($neg_a:ident) = $neg:expr;
        abs($abs_a:ident) = $abs:expr;
        mul_add($fma_a:ident, $fma_b:ident, $fma_c:ident) = $fma:expr;
        sqrt($sqrt_a:ident) = $sqrt:expr;
        rsqrt($rsqrt_a:ident) = $rsqrt:expr;
        floor($floor_a:ident) = $floor:expr;
        min($min_a:ident, $min_b:ident) = $min:expr;
        max($max_a:ident, $max_b:ident) = $max:expr;
        lt($lt_a:ident, $lt_b:ident) = $lt:expr;
        le($le_a:ident, $le_b:ident) = $le:expr;
        eq($eq_a:ident, $eq_b:ident) = $eq:expr;
        ne($ne_a:ident, $ne_b:ident) = $ne:expr;
        select($sel_m:ident, $sel_a:ident, $sel_b:ident) = $select:expr;
        bits($bits_m:ident) = $bits:expr;
        from_bits($fb:ident) = $from_bits:expr;
        shifted_up($up_a:ident, $up_b:ident) = $up:expr;
        shifted_down($down_a:ident, $down_b:ident) = $down:expr;
        and($and_a:ident, $and_b:ident) = $and:expr;
        or($or_a:ident, $or_b:ident) = $or:expr;
        not($not_a:ident) = $not:expr;
        outline = $outline:ident;
        functions = $functions:ident;
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(in $crate::lanes) struct $pack(pub(in $crate::lanes) $register);

        $(#[$mask_doc])*
        #[derive(Clone, Copy, Debug)]
        pub(in $crate::lanes) struct $mask($mask_register);

        pack!(@binary Add add $pack ($add_a, $add_b) $add);
        pack!(@binary Sub sub $pack ($sub_a, $sub_b) $sub);
        pack!(@binary Mul mul $pack ($mul_a, $mul_b) $mul);
        pack!(@binary Div div $pack ($div_a, $div_b) $div);
        pack!(@binary BitAnd bitand $mask ($and_a, $and_b) $and);
        pack!(@binary BitOr bitor $mask ($or_a, $or_b) $or);

        impl std::ops::Neg for $pack {
            type Output = Self;
            pack!(@method neg $pack -> $pack ($neg_a) $neg);
        }

        impl std::ops::Not for $mask {
            type Output = Self;
            pack!(@method not $mask -> $mask ($not_a) $not);
        }

        impl $crate::Mask for $mask {}

        impl $crate::Real for $pack {
            type Mask = $mask;

            #[inline(always)]
            fn lit(x: f64) -> Self {
                <Self as $crate::Lanes>::splat(x as $scalar)
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                let ($fma_a, $fma_b, $fma_c) = (self.0, a.0, b.0);
                // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
                Self(unsafe { $fma })
            }
            pack!(@method abs $pack -> $pack ($abs_a) $abs);
            pack!(@method sqrt $pack -> $pack ($sqrt_a) $sqrt);
            pack!(@method rsqrt $pack -> $pack ($rsqrt_a) $rsqrt);
            pack!(@method floor $pack -> $pack ($floor_a) $floor);
            pack!(@method min $pack -> $pack ($min_a, $min_b) $min);
            pack!(@method max $pack -> $pack ($max_a, $max_b) $max);
            pack!(@method lt $pack -> $mask ($lt_a, $lt_b) $lt);
            pack!(@method le $pack -> $mask ($le_a, $le_b) $le);
            pack!(@method eq $pack -> $mask ($eq_a, $eq_b) $eq);
            pack!(@method ne $pack -> $mask ($ne_a, $ne_b) $ne);
            #[inline(always)]
            fn select(mask: $mask, a: Self, b: Self) -> Self {
                let ($sel_m, $sel_a, $sel_b) = (mask.0, a.0, b.0);
                // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
                Self(unsafe { $select })
            }
            #[inline(always)]
            fn outline<W: $crate::real::Outlined>(work: W) {
                // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
                unsafe { work.$outline() };
            }
            $functions!();
        }

        impl $crate::Lanes for $pack {
            type Scalar = $scalar;
            const WIDTH: usize = $width;

            #[inline(always)]
            fn splat($sx: $scalar) -> Self {
                // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
                Self(unsafe { $splat })
            }
            #[inline(always)]
            fn load(from: &[$scalar]) -> Self {
                let $lp = from[..$width].as_ptr();
                // SAFETY: the slice has as many numbers as are loaded; the CPU as above.
                Self(unsafe { $load })
            }
            #[inline(always)]
            fn store(self, to: &mut [$scalar]) {
                let ($stp, $stv) = (to[..$width].as_mut_ptr(), self.0);
                // SAFETY: the slice has room for all that is stored; the CPU as above.
                unsafe { $store }
            }
            #[inline(always)]
            unsafe fn stream(self, to: &mut [$scalar]) {
                let ($smp, $smv) = (to[..$width].as_mut_ptr(), self.0);
                debug_assert!($smp.addr() % size_of::<Self>() == 0);
                // SAFETY: the slice has room for all that is stored; the CPU as above, the
                // rest is promised.
                unsafe { $stream }
            }
            #[inline(always)]
            fn lane(self, i: usize) -> $scalar {
                let mut lanes = [0.0; $width];
                self.store(&mut lanes);
                lanes[i]
            }
            #[inline(always)]
            fn set_lane(&mut self, i: usize, x: $scalar) {
                assert!(i < $width, "lane {i} of {}", $width);
                *self = <Self as $crate::Real>::select(
                    Self::from_bits(1 << i),
                    Self::splat(x),
                    *self,
                );
            }
            pack!(@method shifted_up $pack -> $pack ($up_a, $up_b) $up);
            pack!(@method shifted_down $pack -> $pack ($down_a, $down_b) $down);
            #[inline(always)]
            fn bits(mask: $mask) -> u64 {
                let $bits_m = mask.0;
                // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
                unsafe { $bits }
            }
            #[inline(always)]
            fn from_bits($fb: u64) -> $mask {
                // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
                $mask(unsafe { $from_bits })
            }
        }
    };

    (@binary $trait:ident $name:ident $type:ident ($a:ident, $b:ident) $value:expr) => {
        impl std::ops::$trait for $type {
            type Output = Self;
            pack!(@method $name $type -> $type ($a, $b) $value);
        }
    };
    (@method $name:ident $type:ident -> $out:ident ($a:ident) $value:expr) => {
        #[inline(always)]
        fn $name(self) -> $out {
            let $a = self.0;
            // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
            $out(unsafe { $value })
        }
    };
    (@method $name:ident $type:ident -> $out:ident ($a:ident, $b:ident) $value:expr) => {
        #[inline(always)]
        fn $name(self, other: Self) -> $out {
            let ($a, $b) = (self.0, other.0);
            // SAFETY: packs exist only where `Isa::dispatch` has checked the CPU.
            $out(unsafe { $value })
        }
    };
}

pub(super) use pack;
