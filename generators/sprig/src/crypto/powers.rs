//! Miller-Rabin tests of four numbers at once.

use super::lanes::{HALF, LANES, Limb, MAX_FACTOR, Moduli, RADIX};
use fearless_simd::{Level, Simd};
use num_bigint::{BigInt, BigUint};

/// Numbers of fewer bits are not worth it, and may be less than bases.
const MIN_BITS: u64 = 64;
/// Bits of an exponent that are worked off at once.
const MAX_WINDOW: u32 = 4;

/// An odd number and the base to test it for.
pub(super) type Test<'a> = (&'a BigUint, u32);

/// Whether numbers pass the Miller-Rabin test. Nothing if this processor cannot do that for all at once, or they are too short or
/// too long.
pub(super) fn passes_in_lanes(tests: [Test<'_>; LANES]) -> Option<[bool; LANES]> {
    let bits = tests.map(|(number, _)| number.bits());
    if bits.into_iter().min()? < MIN_BITS {
        return None;
    }
    // Arrays are some limbs longer than moduli, as the arithmetic demands.
    match bits.into_iter().max()? {
        ..=512 => Powers::<11>::new(tests).pass(tests),
        513..=1024 => Powers::<21>::new(tests).pass(tests),
        1025..=1536 => Powers::<31>::new(tests).pass(tests),
        1537..=2048 => Powers::<41>::new(tests).pass(tests),
        _ => None,
    }
}

/// Four numbers, each modulo another one and times 2^51^N.
#[derive(Debug)]
struct Powers<const N: usize> {
    moduli: Moduli<N>,
    ones: [BigUint; LANES],
    numbers: [Limb; N],
}

impl<const N: usize> Powers<N> {
    /// Begins with ones.
    fn new(tests: [Test<'_>; LANES]) -> Self {
        let moduli = tests.map(|(number, _)| number);
        let radix = BigUint::from(1_u32) << (N * RADIX as usize);
        let inverses = moduli.map(inverse);
        let multiples: [BigUint; LANES] = std::array::from_fn(|lane| {
            (moduli[lane] * inverses[lane] + BigUint::from(1_u32)) >> RADIX
        });
        let ones = moduli.map(|modulus| &radix % modulus);
        Self {
            moduli: Moduli {
                values: limbs(moduli),
                multiples: limbs(multiples.each_ref()),
                inverses: inverses.map(|inverse| inverse as f64),
            },
            numbers: limbs(ones.each_ref()),
            ones,
        }
    }

    fn pass(mut self, tests: [Test<'_>; LANES]) -> Option<[bool; LANES]> {
        let less_one = tests.map(|(number, _)| number - BigUint::from(1_u32));
        let twos = less_one
            .each_ref()
            .map(|number| number.trailing_zeros().unwrap_or(0));
        let odd: [BigUint; LANES] = std::array::from_fn(|lane| &less_one[lane] >> twos[lane]);
        let (window, factors) = factors(tests.map(|(_, base)| base), &odd)?;
        // Brings the limbs within their bounds.
        self.advance(&[[1.0; LANES]], 0)?;
        self.advance(&factors, window)?;
        let mut passed: [bool; LANES] = std::array::from_fn(|lane| {
            let number = self.number(lane, tests[lane].0);
            number == self.ones[lane] || number == tests[lane].0 - &self.ones[lane]
        });
        for squarings in 1.. {
            let open = |lane: usize| !passed[lane] && squarings < twos[lane];
            if !(0..LANES).any(open) {
                break;
            }
            self.advance(&[[1.0; LANES]], 1)?;
            passed = std::array::from_fn(|lane| {
                let minus_one = || tests[lane].0 - &self.ones[lane];
                passed[lane]
                    || squarings < twos[lane] && self.number(lane, tests[lane].0) == minus_one()
            });
        }
        Some(passed)
    }

    /// Squares all numbers so many times for each of the factors and multiplies them by it then.
    fn advance(&mut self, factors: &[Limb], squarings: usize) -> Option<()> {
        let simd = Level::new().as_avx2()?;
        simd.vectorize(
            #[inline(always)]
            || {
                self.moduli
                    .advance(simd, &mut self.numbers, factors, squarings);
            },
        );
        Some(())
    }

    /// The number in a lane, from zero up to the modulus.
    fn number(&self, lane: usize, modulus: &BigUint) -> BigUint {
        let limbs = self.numbers.map(|limb| limb[lane] as i64);
        let above = joined(limbs.map(|limb| limb.max(0) as u64));
        let below = joined(limbs.map(|limb| limb.min(0).unsigned_abs()));
        let modulus = BigInt::from(modulus.clone());
        let rest = (BigInt::from(above) - BigInt::from(below)) % &modulus;
        let rest = (rest + &modulus) % &modulus;
        rest.into_parts().1
    }
}

/// What bases are multiplied up to for each window of bits of exponents, from the highest bits down, and how many bits a window has.
fn factors(bases: [u32; LANES], exponents: &[BigUint; LANES]) -> Option<(usize, Vec<Limb>)> {
    let largest = u64::from(bases.into_iter().max()?);
    let fits = |window: &u32| {
        let power = largest.checked_pow((1 << window) - 1);
        power.is_some_and(|power| power <= MAX_FACTOR)
    };
    let window = u64::from((1..=MAX_WINDOW).rev().find(fits)?);
    let bits = exponents.iter().map(BigUint::bits).max()?;
    let factor = |lane: usize, place: u64| {
        let digit = (0..window).rev().fold(0, |digit, bit| {
            2 * digit + u32::from(exponents[lane].bit(place * window + bit))
        });
        u64::from(bases[lane]).pow(digit) as f64
    };
    let places = (0..bits.div_ceil(window)).rev();
    let factors = places.map(|place| std::array::from_fn(|lane| factor(lane, place)));
    Some((window as usize, factors.collect()))
}

/// What makes the lowest limb of an odd number minus one.
fn inverse(number: &BigUint) -> u64 {
    let lowest = number.iter_u64_digits().next().unwrap_or(1);
    // Each step of Newton's method doubles how many bits are right, beginning with three.
    let inverse = (0..5).fold(lowest, |inverse, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(lowest.wrapping_mul(inverse)))
    });
    inverse.wrapping_neg() % (2 * HALF)
}

/// The limbs of four numbers.
fn limbs<const N: usize>(numbers: [&BigUint; LANES]) -> [Limb; N] {
    let mut limbs = [[0.0; LANES]; N];
    for (lane, number) in numbers.into_iter().enumerate() {
        let mut digits = number.iter_u64_digits();
        let (mut rest, mut bits) = (0_u128, 0);
        for limb in &mut limbs {
            if bits < RADIX {
                rest |= u128::from(digits.next().unwrap_or(0)) << bits;
                bits += u64::BITS;
            }
            limb[lane] = (rest as u64 % (2 * HALF)) as f64;
            rest >>= RADIX;
            bits -= RADIX;
        }
    }
    limbs
}

/// The number of these limbs, which are below 2^51.
fn joined(limbs: impl IntoIterator<Item = u64>) -> BigUint {
    let (mut rest, mut bits) = (0_u128, 0);
    let mut digits = Vec::new();
    for limb in limbs {
        rest |= u128::from(limb) << bits;
        bits += RADIX;
        while bits >= u32::BITS {
            digits.push(rest as u32);
            rest >>= u32::BITS;
            bits -= u32::BITS;
        }
    }
    digits.push(rest as u32);
    BigUint::new(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::montgomery::{passes_miller_rabin, tests::number};

    fn one() -> BigUint {
        BigUint::from(1_u32)
    }

    /// Four odd moduli of so many bits: all ones, just above a power of two, and two without any pattern.
    fn moduli(bits: usize) -> [BigUint; LANES] {
        let all_ones = (one() << bits) - 1_u32;
        let above = (one() << (bits - 1)) + 1_u32;
        let others = [3, 5].map(|seed| number(bits, seed) | one());
        let [third, fourth] = others;
        [all_ones, above, third, fourth]
    }

    fn check_squares<const N: usize>(bits: usize) {
        if Level::new().as_avx2().is_none() {
            return;
        }
        let moduli = moduli(bits);
        let radix = one() << (N * RADIX as usize);
        let starts = [
            [0_u32; LANES].map(BigUint::from),
            moduli.each_ref().map(|modulus| modulus - one()),
            moduli
                .each_ref()
                .map(|modulus| (one() << (bits - 1)) % modulus),
            std::array::from_fn(|lane| number(bits, 7 + lane as u64) % &moduli[lane]),
        ];
        for start in starts {
            let mut powers = Powers::<N>::new(moduli.each_ref().map(|modulus| (modulus, 2)));
            powers.numbers = limbs(start.each_ref());
            let mut expected = start;
            for (squarings, factor) in [(0, 1), (1, 1), (3, MAX_FACTOR), (2, MAX_FACTOR), (40, 1)] {
                powers.advance(&[[factor as f64; LANES]], squarings);
                for (lane, modulus) in moduli.iter().enumerate() {
                    let inverse = (&radix % modulus).modinv(modulus).unwrap();
                    for _ in 0..squarings {
                        expected[lane] = expected[lane].pow(2) * &inverse % modulus;
                    }
                    expected[lane] = &expected[lane] * factor % modulus;
                    let found = powers.number(lane, modulus);
                    assert_eq!(found, expected[lane], "{modulus}, {squarings}, {factor}");
                    let highest = powers.numbers.map(|limb| limb[lane].abs());
                    assert!(highest.into_iter().all(|limb| limb <= HALF as f64));
                }
            }
        }
    }

    #[test]
    fn squares_in_lanes_agree_with_those_of_the_big_numbers_library() {
        check_squares::<11>(512);
        check_squares::<21>(1024);
        check_squares::<31>(1536);
        check_squares::<41>(2048);
        check_squares::<21>(520);
        check_squares::<41>(64);
    }

    #[test]
    fn tests_in_lanes_agree_with_tests_of_one_number() {
        if Level::new().as_avx2().is_none() {
            return;
        }
        let mersenne = |exponent: u32| (one() << exponent) - 1_u32;
        let proth = |factor: u32, exponent: u32| (BigUint::from(factor) << exponent) + 1_u32;
        let numbers = [
            [mersenne(521), mersenne(523), mersenne(607), mersenne(89)],
            // Primes of which much fewer bits are left in the exponent.
            [proth(7, 120), proth(5, 127), proth(3, 189), proth(3, 201)],
            [mersenne(1279), mersenne(1277), mersenne(521), mersenne(127)],
            [
                mersenne(2048),
                mersenne(1279),
                mersenne(2039),
                mersenne(607),
            ],
            moduli(512),
            moduli(1024),
            moduli(1536),
            moduli(2048),
        ];
        for numbers in numbers {
            for bases in [[2; LANES], [2, 3, 5, 71], [101, 2, 3, 2]] {
                let tests = std::array::from_fn(|lane| (&numbers[lane], bases[lane]));
                let expected =
                    tests.map(|(number, base)| passes_miller_rabin(number, std::iter::once(base)));
                assert_eq!(
                    passes_in_lanes(tests),
                    Some(expected),
                    "{numbers:?} {bases:?}"
                );
            }
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_left_to_others() {
        let (short, long) = (BigUint::from(101_u32), (one() << 2049_u32) + 1_u32);
        assert_eq!(passes_in_lanes([(&short, 2); LANES]), None);
        assert_eq!(passes_in_lanes([(&long, 2); LANES]), None);
    }
}
