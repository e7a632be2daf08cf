//! Random numbers and primes.

use super::montgomery::passes_miller_rabin;
use num_bigint::BigUint;
use std::sync::LazyLock;
use whipstaff_gotemplate::{FunctionError, Runtime};

/// Candidates are tried for division by the primes below this before they are tested in earnest.
const SIEVE_LIMIT: usize = 1 << 16;
/// Rounds of the Miller-Rabin test for short candidates. They are random, so that far fewer would do.
const ROUNDS: usize = 20;
/// Rounds for candidates of [`LONG_BITS`] bits and more: as many as FIPS 186-5 asks for.
const LONG_ROUNDS: usize = 5;
const LONG_BITS: u64 = 1024;
/// Steps from one random start before another is drawn.
const MAX_STEPS: usize = 1 << 14;

/// The odd primes below [`SIEVE_LIMIT`].
static SMALL_PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut is_composite = vec![false; SIEVE_LIMIT];
    let mut primes = Vec::new();
    for candidate in (3..SIEVE_LIMIT).step_by(2) {
        if is_composite[candidate] {
            continue;
        }
        primes.push(candidate as u32);
        for multiple in (candidate * candidate..SIEVE_LIMIT).step_by(2 * candidate) {
            is_composite[multiple] = true;
        }
    }
    primes
});

/// A number of so many bits or fewer. The bits must fill bytes.
pub(super) fn random(runtime: &mut dyn Runtime, bits: usize) -> Result<BigUint, FunctionError> {
    let mut buffer = vec![0; bits / 8];
    runtime.environment().random(&mut buffer)?;
    Ok(BigUint::from_bytes_be(&buffer))
}

/// The first prime among a start and the numbers that follow it by a step. The start must be odd and the step even.
pub(super) fn next_prime(start: &BigUint, step: &BigUint) -> Option<BigUint> {
    let has_divisor = sieve(start, step);
    let candidates = has_divisor.iter().enumerate();
    candidates
        .filter(|(_, has_divisor)| !**has_divisor)
        .map(|(index, _)| start + step * index)
        .find(is_prime)
}

/// Which of the numbers from a start on, by a step, can be divided by a small prime.
fn sieve(start: &BigUint, step: &BigUint) -> Vec<bool> {
    let mut has_divisor = vec![false; MAX_STEPS];
    let starts = remainders(start).into_iter();
    for ((prime, start), step) in SMALL_PRIMES.iter().zip(starts).zip(remainders(step)) {
        let (first, distance) = match inverse(step, *prime) {
            Some(inverse) => {
                let first = u64::from(prime - start) * u64::from(inverse) % u64::from(*prime);
                (first as usize, *prime as usize)
            }
            // The prime divides the step: all numbers have the same remainder.
            None if start == 0 => (0, 1),
            None => continue,
        };
        for has_divisor in has_divisor.iter_mut().skip(first).step_by(distance) {
            *has_divisor = true;
        }
    }
    has_divisor
}

/// What a number has to be multiplied by to leave one of a prime; nothing for zero.
fn inverse(number: u32, prime: u32) -> Option<u32> {
    let (prime, number) = (i64::from(prime), i64::from(number));
    let (mut left, mut right) = ((prime, 0), (number, 1));
    while right.0 > 1 {
        let quotient = left.0 / right.0;
        let rest = (left.0 - quotient * right.0, left.1 - quotient * right.1);
        left = std::mem::replace(&mut right, rest);
    }
    (right.0 == 1).then(|| right.1.rem_euclid(prime) as u32)
}

/// The remainders of a number's divisions by all small primes, which are made for two primes at a time.
fn remainders(number: &BigUint) -> Vec<u32> {
    let digits = number.to_u32_digits();
    let mut remainders = Vec::with_capacity(SMALL_PRIMES.len());
    for pair in SMALL_PRIMES.chunks(2) {
        let product = pair.iter().product();
        let rest = remainder_of(&digits, product);
        remainders.extend(pair.iter().map(|prime| rest % prime));
    }
    remainders
}

/// The remainder of a division by a number that is not zero.
pub(super) fn remainder(number: &BigUint, divisor: u32) -> u32 {
    remainder_of(&number.to_u32_digits(), divisor)
}

fn remainder_of(digits: &[u32], divisor: u32) -> u32 {
    let divisor = u64::from(divisor.max(1));
    digits.iter().rev().fold(0_u64, |rest, digit| {
        (rest << 32 | u64::from(*digit)) % divisor
    }) as u32
}

/// The Miller-Rabin test of an odd number.
fn is_prime(number: &BigUint) -> bool {
    let rounds = if number.bits() < LONG_BITS {
        ROUNDS
    } else {
        LONG_ROUNDS
    };
    let bases = std::iter::once(2).chain(SMALL_PRIMES.iter().copied());
    *number > BigUint::from(1_u32) && passes_miller_rabin(number, bases.take(rounds))
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
            !divisors.any(|divisor| number.is_multiple_of(*divisor))
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
