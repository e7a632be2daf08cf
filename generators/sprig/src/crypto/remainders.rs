//! Remainders of divisions of a long number by many short ones, four of each in the lanes of a vector.

#![allow(
    clippy::inline_always,
    reason = "only code that is inlined is compiled for the instructions that it is there for"
)]

use super::lanes::LANES;
use fearless_simd::{Level, Simd, f64x4, prelude::*};

/// Divisors have to be below this.
const MAX_DIVISOR: u32 = 1 << 20;
/// Vectors that are worked on at once, so that none waits for what it is made from.
const VECTORS: usize = 4;
/// Added to numbers below 2^51 and taken off again, this leaves the nearest integer.
const ROUND: f64 = 3.0 * (1_u64 << 51) as f64;
const DIGIT: f64 = (1_u64 << 32) as f64;

/// The remainders of a number, given as digits from the lowest up. Nothing if this processor cannot do that for several at once or
/// a divisor is too large.
///
/// No step is rounded but for the quotient: what is left of a step is at most a little more than half of a divisor, with the next
/// digit below 2^52, and less a multiple of the divisor, in one fused step, an integer in the same bounds again.
pub(super) fn remainders_in_lanes(digits: &[u32], divisors: &[u32]) -> Option<Vec<u32>> {
    if divisors.iter().any(|divisor| *divisor >= MAX_DIVISOR) {
        return None;
    }
    let simd = Level::new().as_avx2()?;
    let mut remainders = Vec::with_capacity(divisors.len());
    simd.vectorize(
        #[inline(always)]
        || {
            for divisors in divisors.chunks(VECTORS * LANES) {
                let mut padded = [[1.0; LANES]; VECTORS];
                for (padded, divisor) in padded.as_flattened_mut().iter_mut().zip(divisors) {
                    *padded = f64::from(*divisor);
                }
                let rests = rests(simd, digits, &padded);
                let pairs = rests.as_flattened().iter().zip(divisors);
                remainders.extend(pairs.map(|(rest, divisor)| {
                    let above = if *rest < 0.0 { *divisor } else { 0 };
                    (*rest as i32 + above as i32) as u32
                }));
            }
        },
    );
    Some(remainders)
}

/// What is left of divisions, at most half of a divisor and of either sign.
#[inline(always)]
fn rests<S: Simd>(
    simd: S,
    digits: &[u32],
    divisors: &[[f64; LANES]; VECTORS],
) -> [[f64; LANES]; VECTORS] {
    let (round, shift) = (f64x4::splat(simd, ROUND), f64x4::splat(simd, DIGIT));
    let zero = f64x4::splat(simd, 0.0);
    let mut negatives = [zero; VECTORS];
    let mut inverses = [zero; VECTORS];
    for (index, divisors) in divisors.iter().enumerate() {
        negatives[index] = zero - f64x4::simd_from(simd, *divisors);
        inverses[index] = f64x4::splat(simd, 1.0) / f64x4::simd_from(simd, *divisors);
    }
    let mut rests = [zero; VECTORS];
    for digit in digits.iter().rev() {
        let digit = f64x4::splat(simd, f64::from(*digit));
        for index in 0..VECTORS {
            let number = rests[index].mul_add(shift, digit);
            let quotient = number.mul_add(inverses[index], round) - round;
            rests[index] = quotient.mul_add(negatives[index], number);
        }
    }
    let mut found = [[0.0; LANES]; VECTORS];
    for (found, rest) in found.iter_mut().zip(rests) {
        *found = rest.into();
    }
    found
}
