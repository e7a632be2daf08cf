//! Arithmetic modulo four odd numbers at a time, one in each lane of a vector, by Montgomery's method.
//!
//! A number is an array of limbs of [`RADIX`] bits, the integers of which are held as floating-point numbers of 53 bits. Processors
//! multiply those in four lanes at once, and a fused multiplication rounds but once, so that both halves of a product can be had:
//!
//! - The limbs of a number are between −2^50 and 2^50, of which one may be doubled, and those of a modulus between 0 and 2^51. So
//!   no product is beyond ±2^102, and `high = fused(a, b, 3·2^102)` is between 2^103 and 2^104, where floating-point numbers are
//!   multiples of 2^51: it is 3·2^102 + h·2^51 with h the product over 2^51, rounded.
//! - `fused(a, b, (3·2^102 + 3·2^51) − high)` is 3·2^51 + l with l = a·b − h·2^51, an integer between ±2^50. The subtraction gives
//!   (3 − h)·2^51 with |h| ≤ 2^51 and the result is between 2^52 and 2^53, where every integer is a floating-point number:
//!   neither is rounded.
//! - Within such a range the bits of a floating-point number, taken for an integer, go up by one from number to number. So the bits
//!   of halves are added up as integers, and what the 3·2^102 and 3·2^51 of so many products amount to is taken off in advance.
//!
//! A column of the longest product has fewer than 250 halves, none beyond ±2^50, and so stays within ±2^58. [`LIFT`] keeps it
//! above zero, where a shift divides.
//!
//! All but one limb are reduced by a multiple of the modulus that is one less than a multiple of 2^51, so that a column's lowest
//! limb is itself the factor that makes it zero. That multiple may be as large as 2^51 times the modulus, and the last limb, which
//! the modulus itself reduces, makes good for it. As factors are between ±2^50, what is left is within the modulus and a little
//! more, of either sign, if the number squared is below 2^20 times the modulus: 2^51^N is 2^43 times the modulus or more.

#![allow(
    clippy::inline_always,
    reason = "only code that is inlined is compiled for the instructions that it is there for"
)]

use fearless_simd::{Simd, f64x4, prelude::*, u64x4};

/// Numbers that are worked on at once.
pub(super) const LANES: usize = 4;
/// Bits of a limb.
pub(super) const RADIX: u32 = 51;
/// The limbs of numbers are within this, of either sign.
pub(super) const HALF: u64 = 1 << (RADIX - 1);
/// Factors of [`Field::scale`] are below this.
pub(super) const MAX_FACTOR: u64 = 1 << 20;

const MASK: u64 = (1 << RADIX) - 1;
/// What is added to higher halves of products.
const HIGH: f64 = 3.0 * (1_u128 << (2 * RADIX)) as f64;
/// What is added to lower halves of products.
const LOW: f64 = 3.0 * (1_u64 << RADIX) as f64;
/// What keeps columns above zero.
const LIFT: u64 = 1 << 62;

/// The same limb of four numbers.
pub(super) type Limb = [f64; LANES];

/// Four odd moduli, as arrays of limbs.
#[derive(Debug)]
pub(super) struct Moduli<const N: usize> {
    /// The moduli, of non-negative limbs.
    pub(super) values: [Limb; N],
    /// One more than the multiple that is one less than a multiple of 2^51, over 2^51.
    pub(super) multiples: [Limb; N],
    /// What makes the lowest limb of the moduli minus one.
    pub(super) inverses: Limb,
}

impl<const N: usize> Moduli<N> {
    /// Squares the numbers of this field so many times for each of the factors and multiplies by it then.
    #[inline(always)]
    pub(super) fn advance<S: Simd>(
        &self,
        simd: S,
        numbers: &mut [Limb; N],
        factors: &[Limb],
        squarings: usize,
    ) {
        let field = Field {
            arithmetic: Arithmetic::new(simd),
            modulus: load(simd, &self.values),
            multiple: load(simd, &self.multiples),
            inverse: f64x4::simd_from(simd, self.inverses),
        };
        let mut vectors = load(simd, numbers);
        for factor in factors {
            for _ in 0..squarings {
                field.square(&mut vectors);
            }
            field.scale(&mut vectors, f64x4::simd_from(simd, *factor));
        }
        *numbers = vectors.map(Limb::from);
    }
}

#[inline(always)]
fn load<S: Simd, const N: usize>(simd: S, limbs: &[Limb; N]) -> [f64x4<S>; N] {
    std::array::from_fn(|index| f64x4::simd_from(simd, limbs[index]))
}

/// Sums of lower and of higher halves of products.
type Sums<S> = [u64x4<S>; 2];

/// The constants of all steps.
struct Arithmetic<S: Simd> {
    simd: S,
    high: f64x4<S>,
    both: f64x4<S>,
    low: f64x4<S>,
    middle: f64x4<S>,
    mask: u64x4<S>,
    zero: u64x4<S>,
}

impl<S: Simd> Arithmetic<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        Self {
            simd,
            high: f64x4::splat(simd, HIGH),
            both: f64x4::splat(simd, HIGH + LOW),
            low: f64x4::splat(simd, LOW),
            middle: f64x4::splat(simd, LOW + HALF as f64),
            mask: u64x4::splat(simd, MASK),
            zero: u64x4::splat(simd, 0),
        }
    }

    /// Adds a product to sums that its lower half and its higher half are part of.
    #[inline(always)]
    fn add_product(&self, sums: &mut Sums<S>, left: f64x4<S>, right: f64x4<S>) {
        let high = left.mul_add(right, self.high);
        let low = left.mul_add(right, self.both - high);
        sums[0] += low.bitcast::<u64x4<S>>();
        sums[1] += high.bitcast::<u64x4<S>>();
    }

    /// Adds two numbers, each times a factor and the second of them one column higher, beginning with the column of the second
    /// limb of the first. What is there so far comes as sums for that column and the next.
    #[inline(always)]
    fn add_products(
        &self,
        columns: &mut [u64x4<S>],
        factors: [f64x4<S>; 2],
        limbs: &[f64x4<S>],
        mut sums: Sums<S>,
    ) {
        let Some((first, rest)) = limbs.split_first() else {
            return;
        };
        let Some((columns, [last, beyond, ..])) = columns.split_at_mut_checked(rest.len()) else {
            return;
        };
        let mut previous = *first;
        for (column, limb) in columns.iter_mut().zip(rest) {
            self.add_product(&mut sums, factors[1], previous);
            self.add_product(&mut sums, factors[0], *limb);
            previous = *limb;
            *column += sums[0];
            sums = [sums[1], self.zero];
        }
        self.add_product(&mut sums, factors[1], previous);
        *last += sums[0];
        *beyond += sums[1];
    }

    /// The limb of a lifted column and what goes to the next.
    #[inline(always)]
    fn digit(&self, column: u64x4<S>) -> (f64x4<S>, u64x4<S>) {
        let bits = (column & self.mask) + self.low.bitcast::<u64x4<S>>();
        (bits.bitcast::<f64x4<S>>() - self.middle, column >> RADIX)
    }

    /// The limb of a column that is not lifted and has nothing above.
    #[inline(always)]
    fn last_digit(&self, column: u64x4<S>) -> f64x4<S> {
        let bits = column + self.low.bitcast::<u64x4<S>>();
        bits.bitcast::<f64x4<S>>() - self.low
    }

    #[inline(always)]
    fn constant(&self, value: u64) -> u64x4<S> {
        u64x4::splat(self.simd, value)
    }
}

struct Field<S: Simd, const N: usize> {
    arithmetic: Arithmetic<S>,
    modulus: [f64x4<S>; N],
    multiple: [f64x4<S>; N],
    inverse: f64x4<S>,
}

impl<S: Simd, const N: usize> Field<S, N> {
    const OFFSETS: &[[u64; N]; 2] = &offsets::<N>();

    /// Replaces a number by its square over 2^51^N.
    #[inline(always)]
    fn square(&self, number: &mut [f64x4<S>; N]) {
        let mut columns = [[self.arithmetic.zero; N]; 2];
        let columns = columns.as_flattened_mut();
        for (column, offset) in columns.iter_mut().zip(Self::OFFSETS.as_flattened()) {
            *column = self.arithmetic.constant(*offset);
        }
        self.add_square(columns, number);
        self.reduce(columns, number);
    }

    /// Adds the products of two limbs at a time with all that follow.
    #[inline(always)]
    fn add_square(&self, columns: &mut [u64x4<S>], number: &[f64x4<S>; N]) {
        let arithmetic = &self.arithmetic;
        for index in (0..N).step_by(2) {
            let at = &mut columns[2 * index..];
            let mut sums = [at[0], at[1]];
            let first = number[index];
            arithmetic.add_product(&mut sums, first, first);
            at[0] = sums[0];
            let [second, rest @ ..] = &number[index + 1..] else {
                at[1] = sums[1];
                return;
            };
            let [third, ..] = rest else { return };
            let doubled = [first + first, *second + *second];
            let mut sums = [sums[1], at[2]];
            arithmetic.add_product(&mut sums, doubled[0], *second);
            at[1] = sums[0];
            let mut sums = [sums[1], arithmetic.zero];
            arithmetic.add_product(&mut sums, *second, *second);
            arithmetic.add_product(&mut sums, doubled[0], *third);
            at[2] = sums[0];
            arithmetic.add_products(&mut at[3..], doubled, rest, [sums[1], arithmetic.zero]);
        }
    }

    /// Adds what makes the lower half of the columns zero, and takes the limbs of the upper half.
    #[inline(always)]
    fn reduce(&self, columns: &mut [u64x4<S>], number: &mut [f64x4<S>; N]) {
        let arithmetic = &self.arithmetic;
        for index in (0..N - 1).step_by(2) {
            let (first, carry) = arithmetic.digit(columns[index]);
            let mut sums = [columns[index + 1] + carry, arithmetic.zero];
            arithmetic.add_product(&mut sums, first, self.multiple[0]);
            let (second, carry) = arithmetic.digit(sums[0]);
            let sums = [sums[1] + carry, arithmetic.zero];
            let columns = &mut columns[index + 2..];
            arithmetic.add_products(columns, [first, second], &self.multiple, sums);
        }
        let columns = &mut columns[N - 1..];
        let (limb, _) = arithmetic.digit(columns[0]);
        let high = limb.mul_add(self.inverse, arithmetic.high);
        let factor = limb.mul_add(self.inverse, arithmetic.both - high) - arithmetic.low;
        let mut carry = arithmetic.zero;
        for (column, limb) in columns.iter_mut().zip(&self.modulus) {
            let mut sums = [*column + carry, arithmetic.zero];
            arithmetic.add_product(&mut sums, factor, *limb);
            [*column, carry] = sums;
        }
        columns[N] += carry;
        let mut carry = columns[0] >> RADIX;
        for (limb, column) in number[..N - 1].iter_mut().zip(&columns[1..]) {
            (*limb, carry) = arithmetic.digit(*column + carry);
        }
        number[N - 1] = arithmetic.last_digit(columns[N] + carry);
    }

    /// Multiplies a number by an integer from one to [`MAX_FACTOR`], and brings limbs that are not negative within their bounds.
    /// The modulus must be so much shorter than the array that nothing of the product's highest limb goes above.
    #[inline(always)]
    fn scale(&self, number: &mut [f64x4<S>; N], factor: f64x4<S>) {
        let arithmetic = &self.arithmetic;
        let lift = LIFT + HALF;
        let first = lift.wrapping_sub(LOW.to_bits());
        let next = first
            .wrapping_sub(HIGH.to_bits())
            .wrapping_sub(LIFT >> RADIX);
        let (mut column, next) = (arithmetic.constant(first), arithmetic.constant(next));
        let [limbs @ .., last] = &mut number[..] else {
            return;
        };
        for limb in limbs {
            let mut sums = [column, next];
            arithmetic.add_product(&mut sums, *limb, factor);
            let carry;
            (*limb, carry) = arithmetic.digit(sums[0]);
            column = sums[1] + carry;
        }
        let mut sums = [column - arithmetic.constant(lift), arithmetic.zero];
        arithmetic.add_product(&mut sums, *last, factor);
        *last = arithmetic.last_digit(sums[0]);
    }
}

/// What the columns of a square and its reduction begin with, so that they are the sums of halves, and lifted.
const fn offsets<const N: usize>() -> [[u64; N]; 2] {
    let mut offsets = [[0_u64; N]; 2];
    let columns = offsets.as_flattened_mut();
    let mut index = 0;
    while index < N {
        let mut other = 0;
        // All but the last factor are of multiples less their lowest limb.
        let skipped = if index + 1 < N { 1 } else { 0 };
        while other < N {
            let column = index + other;
            if other >= index {
                columns[column] = columns[column].wrapping_sub(LOW.to_bits());
                columns[column + 1] = columns[column + 1].wrapping_sub(HIGH.to_bits());
            }
            let column = column + skipped;
            columns[column] = columns[column].wrapping_sub(LOW.to_bits());
            columns[column + 1] = columns[column + 1].wrapping_sub(HIGH.to_bits());
            other += 1;
        }
        index += 1;
    }
    let mut column = 0;
    while column + 1 < columns.len() {
        columns[column] = columns[column].wrapping_add(LIFT + HALF);
        columns[column + 1] = columns[column + 1].wrapping_sub(LIFT >> RADIX);
        column += 1;
    }
    offsets
}
