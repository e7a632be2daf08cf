//! The Miller-Rabin test.
//!
//! Four tests are made at once where the processor can: of four candidates for the same base until one passes, and of that one for
//! four bases. The results are those of one test after the other.

#[cfg(target_arch = "x86_64")]
use super::powers::passes_in_lanes;
use super::{montgomery::passes_miller_rabin, sieve::small_primes};
use num_bigint::BigUint;

/// Rounds for short candidates. They are random, so that far fewer would do.
const ROUNDS: usize = 20;
/// Rounds for candidates of [`LONG_BITS`] bits and more: as many as FIPS 186-5 asks for.
const LONG_ROUNDS: usize = 5;
const LONG_BITS: u64 = 1024;
/// Tests that are made at once.
pub(super) const LANES: usize = 4;

#[cfg(not(target_arch = "x86_64"))]
fn passes_in_lanes(_: [(&BigUint, u32); LANES]) -> Option<[bool; LANES]> {
    None
}

/// The first of some odd numbers that is a prime.
pub(super) fn first_prime(mut candidates: impl Iterator<Item = BigUint>) -> Option<BigUint> {
    loop {
        let batch: Vec<BigUint> = candidates.by_ref().take(LANES).collect();
        let last = batch.last()?;
        let tests = std::array::from_fn(|index| (batch.get(index).unwrap_or(last), 2));
        let found = match passes_in_lanes(tests) {
            Some(passed) => batch
                .iter()
                .zip(passed)
                .find(|(number, passed)| *passed && passes_for_bases(number, 1)),
            None => batch
                .iter()
                .zip([true; LANES])
                .find(|(number, _)| passes_for_bases(number, 0)),
        };
        if let Some((number, _)) = found {
            return Some(number.clone());
        }
    }
}

/// Whether a number passes the test for as many primes as it takes, beginning with one of them.
fn passes_for_bases(number: &BigUint, from: usize) -> bool {
    let rounds = if number.bits() < LONG_BITS {
        ROUNDS
    } else {
        LONG_ROUNDS
    };
    let bases: Vec<u32> = std::iter::once(2)
        .chain(small_primes().iter().copied())
        .take(rounds)
        .skip(from)
        .collect();
    *number > BigUint::from(1_u32) && bases.chunks(LANES).all(|bases| passes(number, bases))
}

/// Whether a number passes the test for up to four bases.
fn passes(number: &BigUint, bases: &[u32]) -> bool {
    let Some(last) = bases.last() else {
        return true;
    };
    let test = |index| (number, *bases.get(index).unwrap_or(last));
    match passes_in_lanes(std::array::from_fn(test)) {
        Some(passed) => passed.into_iter().all(|passed| passed),
        None => passes_miller_rabin(number, bases.iter().copied()),
    }
}
