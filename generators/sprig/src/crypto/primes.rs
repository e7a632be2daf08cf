//! Random numbers and primes.

use num_bigint::BigUint;
use std::sync::LazyLock;
use whipstaff_gotemplate::{FunctionError, Runtime};

/// Candidates are tried for division by the primes below this before they are tested in earnest.
const SIEVE_LIMIT: u32 = 1 << 15;
/// Rounds of the Miller-Rabin test. Candidates are random, so that far fewer would do.
const ROUNDS: usize = 20;
/// Steps from one random start before another is drawn.
const MAX_STEPS: u32 = 1 << 14;

static SMALL_PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut primes: Vec<u32> = Vec::new();
    for candidate in (3..SIEVE_LIMIT).step_by(2) {
        let mut divisors = primes
            .iter()
            .take_while(|prime| *prime * *prime <= candidate);
        if divisors.all(|prime| candidate % prime != 0) {
            primes.push(candidate);
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
    let remainders = |number: &BigUint| -> Vec<u32> {
        SMALL_PRIMES
            .iter()
            .map(|prime| remainder(number, *prime))
            .collect()
    };
    let steps = remainders(step);
    let mut current = remainders(start);
    let mut candidate = start.clone();
    for _ in 0..MAX_STEPS {
        if !current.contains(&0) && is_prime(&candidate) {
            return Some(candidate);
        }
        candidate += step;
        for ((remainder, step), prime) in current.iter_mut().zip(&steps).zip(SMALL_PRIMES.iter()) {
            *remainder = (*remainder + step) % prime;
        }
    }
    None
}

/// The remainder of a division by a number that is not zero.
pub(super) fn remainder(number: &BigUint, divisor: u32) -> u32 {
    let divisor = u64::from(divisor.max(1));
    let digits = number.to_u32_digits();
    digits.iter().rev().fold(0_u64, |rest, digit| {
        (rest << 32 | u64::from(*digit)) % divisor
    }) as u32
}

/// The Miller-Rabin test of an odd number.
fn is_prime(number: &BigUint) -> bool {
    let one = BigUint::from(1_u32);
    if *number <= one {
        return false;
    }
    let less_one = number - &one;
    let twos = less_one.trailing_zeros().unwrap_or(0);
    let odd = &less_one >> twos;
    let bases = std::iter::once(2)
        .chain(SMALL_PRIMES.iter().copied())
        .take(ROUNDS);
    bases
        .map(BigUint::from)
        .filter(|base| base < number)
        .all(|base| {
            let mut power = base.modpow(&odd, number);
            if power == one || power == less_one {
                return true;
            }
            (1..twos).any(|_| {
                power = &power * &power % number;
                power == less_one
            })
        })
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
