//! Trial division of many candidates by small primes.

use num_bigint::BigUint;
use std::sync::LazyLock;

/// Candidates are tried for division by the primes below this before they are tested in earnest.
const SIEVE_LIMIT: usize = 1 << 16;

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

/// The odd primes below a limit, in order.
pub(super) fn small_primes() -> &'static [u32] {
    &SMALL_PRIMES
}

/// Which of the numbers from a start on, by a step, can be divided by a small prime.
pub(super) fn has_divisors(start: &BigUint, step: &BigUint, count: usize) -> Vec<bool> {
    let mut has_divisor = vec![false; count];
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

pub(super) fn remainder_of(digits: &[u32], divisor: u32) -> u32 {
    let divisor = u64::from(divisor.max(1));
    digits.iter().rev().fold(0_u64, |rest, digit| {
        (rest << 32 | u64::from(*digit)) % divisor
    }) as u32
}
