//! Random numbers and primes.

use super::{
    miller_rabin::first_prime,
    sieve::{has_divisors, remainder_of},
};
use num_bigint::BigUint;
use whipstaff_gotemplate::{FunctionError, Runtime};

/// Steps from one random start before another is drawn.
const MAX_STEPS: usize = 1 << 14;

/// A number of so many bits or fewer. The bits must fill bytes.
pub(super) fn random(runtime: &mut dyn Runtime, bits: usize) -> Result<BigUint, FunctionError> {
    let mut buffer = vec![0; bits / 8];
    runtime.environment().random(&mut buffer)?;
    Ok(BigUint::from_bytes_be(&buffer))
}

/// The first prime among a start and the numbers that follow it by a step. The start must be odd and the step even.
pub(super) fn next_prime(start: &BigUint, step: &BigUint) -> Option<BigUint> {
    let has_divisor = has_divisors(start, step, MAX_STEPS);
    let candidates = has_divisor.iter().enumerate();
    let candidates = candidates.filter(|(_, has_divisor)| !**has_divisor);
    first_prime(candidates.map(|(index, _)| start + step * index))
}

/// The remainder of a division by a number that is not zero.
pub(super) fn remainder(number: &BigUint, divisor: u32) -> u32 {
    remainder_of(&number.to_u32_digits(), divisor)
}

/// The greatest common divisor.
pub(super) fn common_divisor(left: &BigUint, right: &BigUint) -> BigUint {
    let (mut left, mut right) = (left.clone(), right.clone());
    while right != BigUint::ZERO {
        let rest = &left % &right;
        left = std::mem::replace(&mut right, rest);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_prime_is_the_first_of_the_sequence() {
        let is_prime = |number: &u64| {
            let mut divisors = (3..).step_by(2).take_while(|d| d * d <= *number);
            !divisors.any(|divisor| number.is_multiple_of(divisor))
        };
        // start, step
        let cases = [
            (100_001_u64, 2_u64),
            (4_294_967_297, 2),
            (1_000_000_001, 6),
            (1_000_003, 2 * 65_537),
            (1_000_005, 2 * 65_537),
            (1_000_005, 2 * 3 * 5 * 7 * 11 + 2),
        ];
        for (start, step) in cases {
            let found = next_prime(&start.into(), &step.into());
            let first = (start..).step_by(step as usize).find(is_prime);
            assert_eq!(found, first.map(BigUint::from), "{start} + n * {step}");
        }
    }

    #[test]
    fn numbers_that_a_prime_always_divides_are_passed_over() {
        // All are multiples of three.
        assert_eq!(next_prime(&9_000_003_u32.into(), &6_u32.into()), None);
    }
}
