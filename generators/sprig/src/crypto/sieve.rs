//! Trial division of many candidates by small primes.

#[cfg(target_arch = "x86_64")]
use super::remainders::remainders_in_lanes;
use num_bigint::BigUint;
use std::sync::LazyLock;

/// Candidates are tried for division by the primes below this before they are tested in earnest.
const SIEVE_LIMIT: usize = 1 << 18;
/// As [`SIEVE_LIMIT`], where remainders are made one by one, and at the same time a bound of products of two.
const SLOW_SIEVE_LIMIT: u32 = 1 << 16;

/// The odd primes below [`SIEVE_LIMIT`].
static SMALL_PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    // Of the odd numbers alone, by halves.
    let mut is_composite = vec![false; SIEVE_LIMIT / 2];
    let mut primes = Vec::new();
    for half in 1..SIEVE_LIMIT / 2 {
        if is_composite[half] {
            continue;
        }
        let prime = 2 * half + 1;
        primes.push(prime as u32);
        for multiple in (prime * prime / 2..SIEVE_LIMIT / 2).step_by(prime) {
            is_composite[multiple] = true;
        }
    }
    primes
});

/// The odd primes below a limit that is higher than any base of a test, in order.
pub(super) fn small_primes() -> &'static [u32] {
    &SMALL_PRIMES
}

#[cfg(not(target_arch = "x86_64"))]
fn remainders_in_lanes(_: &[u32], _: &[u32]) -> Option<Vec<u32>> {
    None
}

/// Which of the numbers from a start on, by a step, can be divided by a small prime.
pub(super) fn has_divisors(start: &BigUint, step: &BigUint, count: usize) -> Vec<bool> {
    let mut has_divisor = vec![false; count];
    // A number of the sequence that is such a prime itself must stay.
    let root = u32::try_from(start.sqrt()).unwrap_or(u32::MAX);
    let (primes, starts) = remainders(start, root);
    if *step == BigUint::from(2_u32) {
        for (prime, start) in primes.iter().zip(starts) {
            let first = first_by_two(start, *prime) as usize;
            for has_divisor in has_divisor.iter_mut().skip(first).step_by(*prime as usize) {
                *has_divisor = true;
            }
        }
        return has_divisor;
    }
    let (_, steps) = remainders(step, root);
    for ((prime, start), step) in primes.iter().zip(starts).zip(steps) {
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

/// How many steps of two it is from a number with this remainder to the next multiple of an odd prime.
fn first_by_two(remainder: u32, prime: u32) -> u32 {
    // The multiple itself, or the one behind it: that at an even distance.
    match (remainder, prime - remainder) {
        (0, _) => 0,
        (_, distance) if distance % 2 == 0 => distance / 2,
        (_, distance) => u32::midpoint(distance, prime),
    }
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

/// The small primes up to a limit, and the remainders of a number's divisions by them.
fn remainders(number: &BigUint, limit: u32) -> (&'static [u32], Vec<u32>) {
    let digits = number.to_u32_digits();
    let up_to = |limit| {
        let count = SMALL_PRIMES.partition_point(|prime| *prime <= limit);
        SMALL_PRIMES.get(..count).unwrap_or_default()
    };
    let primes = up_to(limit);
    if let Some(remainders) = remainders_in_lanes(&digits, primes) {
        return (primes, remainders);
    }
    let primes = up_to(limit.min(SLOW_SIEVE_LIMIT));
    (primes, remainders_of_pairs(&digits, primes))
}

/// Remainders, which are made for two divisors below 2^16 at a time.
fn remainders_of_pairs(digits: &[u32], divisors: &[u32]) -> Vec<u32> {
    let mut remainders = Vec::with_capacity(divisors.len());
    for pair in divisors.chunks(2) {
        let product = pair.iter().product();
        let rest = remainder_of(digits, product);
        remainders.extend(pair.iter().map(|divisor| rest % divisor));
    }
    remainders
}

pub(super) fn remainder_of(digits: &[u32], divisor: u32) -> u32 {
    let divisor = u64::from(divisor.max(1));
    digits.iter().rev().fold(0_u64, |rest, digit| {
        (rest << 32 | u64::from(*digit)) % divisor
    }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::montgomery::tests::number;

    #[test]
    fn all_ways_to_divide_leave_the_same() {
        for bits in [8, 16, 32, 64, 1024, 2048, 4096] {
            for number in [number(bits, 3), (BigUint::from(1_u32) << bits) - 1_u32] {
                let (primes, remainders) = remainders(&number, u32::MAX);
                let expected: Vec<u32> = primes
                    .iter()
                    .map(|prime| u32::try_from(&number % prime).unwrap())
                    .collect();
                assert_eq!(remainders, expected, "{number}");
                let count = primes.partition_point(|prime| *prime < SLOW_SIEVE_LIMIT);
                let digits = number.to_u32_digits();
                let pairs = remainders_of_pairs(&digits, &primes[..count]);
                assert_eq!(pairs, expected[..count], "{number}");
            }
        }
    }

    #[test]
    fn steps_of_two_lead_to_the_next_multiple() {
        for prime in [3, 5, 7, 11, 101] {
            for remainder in 0..prime {
                let first = (0..prime).find(|steps| (remainder + 2 * steps) % prime == 0);
                assert_eq!(
                    Some(first_by_two(remainder, prime)),
                    first,
                    "{remainder}, {prime}"
                );
            }
        }
    }

    #[test]
    fn small_primes_are_not_taken_for_their_own_multiples() {
        let divided = has_divisors(&BigUint::from(65_521_u32), &BigUint::from(2_u32), 16);
        let has_divisor = |number: u32| (3..number).take(300).any(|d| number.is_multiple_of(d));
        let expected: Vec<bool> = (65_521..).step_by(2).take(16).map(has_divisor).collect();
        assert_eq!(divided, expected);
    }
}
