//! Powers modulo an odd number, by Montgomery's method.
//!
//! Making a key means testing dozens of numbers for being prime, and each test is one such power. Numbers are arrays of a fixed
//! length, so that nothing is allocated in between and loops have known bounds.

use num_bigint::BigUint;

/// Bits of an exponent that are worked off at once.
const WINDOW: u64 = 4;

/// Raises a number to a power modulo another number that is not zero.
pub(super) fn power(base: &BigUint, exponent: &BigUint, modulus: &BigUint) -> BigUint {
    match limbs_of(modulus) {
        Some(8) => power_in::<8>(base, exponent, modulus),
        Some(16) => power_in::<16>(base, exponent, modulus),
        Some(32) => power_in::<32>(base, exponent, modulus),
        Some(64) => power_in::<64>(base, exponent, modulus),
        _ => base.modpow(exponent, modulus),
    }
}

/// Whether an odd number above one passes the Miller-Rabin test for all of these bases.
pub(super) fn passes_miller_rabin(number: &BigUint, bases: impl Iterator<Item = u32>) -> bool {
    match limbs_of(number) {
        Some(8) => Field::<8>::new(number).passes_miller_rabin(number, bases),
        Some(16) => Field::<16>::new(number).passes_miller_rabin(number, bases),
        Some(32) => Field::<32>::new(number).passes_miller_rabin(number, bases),
        Some(64) => Field::<64>::new(number).passes_miller_rabin(number, bases),
        _ => false,
    }
}

/// How long arrays for an odd modulus have to be; nothing for one that is even or too long.
fn limbs_of(modulus: &BigUint) -> Option<usize> {
    let limbs = [8, 16, 32, 64].into_iter();
    let mut fitting = limbs.filter(|limbs| modulus.bits() <= *limbs as u64 * 64);
    fitting.next().filter(|_| modulus.bit(0))
}

fn power_in<const N: usize>(base: &BigUint, exponent: &BigUint, modulus: &BigUint) -> BigUint {
    let field = Field::<N>::new(modulus);
    let base = field.enter(&(base % modulus));
    field.leave(&field.power(&base, exponent))
}

/// The numbers below an odd modulus, each multiplied by 2^64^N.
struct Field<const N: usize> {
    modulus: [u64; N],
    /// What makes the lowest limb of the modulus minus one.
    inverse: u64,
    one: [u64; N],
    /// The square of 2^64^N.
    square: [u64; N],
}

impl<const N: usize> Field<N> {
    fn new(modulus: &BigUint) -> Self {
        let limbs = limbs::<N>(modulus);
        let radix = BigUint::from(1_u32) << (64 * N);
        // Each step of Newton's method doubles how many bits are right, beginning with three.
        let inverse = (0..5).fold(limbs[0], |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(limbs[0].wrapping_mul(inverse)))
        });
        let one = &radix % modulus;
        Self {
            modulus: limbs,
            inverse: inverse.wrapping_neg(),
            square: self::limbs(&(&one * &one % modulus)),
            one: self::limbs(&one),
        }
    }

    fn enter(&self, number: &BigUint) -> [u64; N] {
        self.multiply(&limbs(number), &self.square)
    }

    fn leave(&self, number: &[u64; N]) -> BigUint {
        let mut one = [0; N];
        one[0] = 1;
        number_of(&self.multiply(number, &one))
    }

    fn power(&self, base: &[u64; N], exponent: &BigUint) -> [u64; N] {
        let mut powers = [self.one; 1 << WINDOW];
        for index in 1..powers.len() {
            powers[index] = self.multiply(&powers[index - 1], base);
        }
        let mut result = self.one;
        for index in (0..exponent.bits().div_ceil(WINDOW)).rev() {
            for _ in 0..WINDOW {
                result = self.squared(&result);
            }
            let window = window(exponent, index);
            if window > 0 {
                result = self.multiply(&result, &powers[window]);
            }
        }
        result
    }

    /// Two to a power: nothing has to be multiplied but the squares.
    fn power_of_two(&self, exponent: &BigUint) -> [u64; N] {
        let mut result = self.one;
        for bit in (0..exponent.bits()).rev() {
            result = self.squared(&result);
            if exponent.bit(bit) {
                result = self.doubled(&result);
            }
        }
        result
    }

    fn passes_miller_rabin(&self, number: &BigUint, bases: impl Iterator<Item = u32>) -> bool {
        let less_one = number - BigUint::from(1_u32);
        let twos = less_one.trailing_zeros().unwrap_or(0);
        let odd = &less_one >> twos;
        let minus_one = subtract(&self.modulus, &self.one).0;
        let mut bases = bases.filter(|base| BigUint::from(*base) < *number);
        bases.all(|base| {
            let mut power = if base == 2 {
                self.power_of_two(&odd)
            } else {
                self.power(&self.enter(&BigUint::from(base)), &odd)
            };
            if power == self.one || power == minus_one {
                return true;
            }
            (1..twos).any(|_| {
                power = self.squared(&power);
                power == minus_one
            })
        })
    }

    fn multiply(&self, left: &[u64; N], right: &[u64; N]) -> [u64; N] {
        let mut product = [[0; N]; 2];
        let limbs = product.as_flattened_mut();
        for (index, limb) in left.iter().enumerate() {
            let carry = limbs[index..]
                .first_chunk_mut()
                .map_or(0, |row| add_multiple(row, right, *limb));
            limbs[index + N] = carry;
        }
        self.divided(product)
    }

    /// As multiplication by itself, with each product of two different limbs made only once.
    fn squared(&self, number: &[u64; N]) -> [u64; N] {
        let mut product = [[0; N]; 2];
        let limbs = product.as_flattened_mut();
        for (index, limb) in number.iter().enumerate() {
            let (row, rest) = limbs[2 * index + 1..].split_at_mut(N - 1 - index);
            rest[0] = add_multiple_of(row, &number[index + 1..], *limb);
        }
        let (mut carry, mut shifted) = (false, 0);
        for (pair, limb) in limbs.chunks_exact_mut(2).zip(number) {
            let square = u128::from(*limb) * u128::from(*limb);
            let doubled = [pair[0] << 1 | shifted, pair[1] << 1 | pair[0] >> 63];
            shifted = pair[1] >> 63;
            (pair[0], carry) = add(doubled[0], square as u64, carry);
            (pair[1], carry) = add(doubled[1], (square >> 64) as u64, carry);
        }
        self.divided(product)
    }

    fn doubled(&self, number: &[u64; N]) -> [u64; N] {
        let mut doubled = *number;
        let mut shifted = 0;
        for limb in &mut doubled {
            (*limb, shifted) = (*limb << 1 | shifted, *limb >> 63);
        }
        self.reduced(doubled, shifted > 0)
    }

    /// Divides a product by 2^64^N: multiples of the modulus make its lower half zero.
    fn divided(&self, mut product: [[u64; N]; 2]) -> [u64; N] {
        let limbs = product.as_flattened_mut();
        let mut carry = false;
        for index in 0..N {
            let factor = limbs[index].wrapping_mul(self.inverse);
            let above = limbs[index..]
                .first_chunk_mut()
                .map_or(0, |row| add_multiple(row, &self.modulus, factor));
            (limbs[index + N], carry) = add(limbs[index + N], above, carry);
        }
        self.reduced(product[1], carry)
    }

    /// A number below twice the modulus, with the carry that is its highest bit, brought below the modulus.
    fn reduced(&self, number: [u64; N], carry: bool) -> [u64; N] {
        let (less, borrow) = subtract(&number, &self.modulus);
        if borrow && !carry { number } else { less }
    }
}

/// So many bits of an exponent, counted in windows from the lowest up.
fn window(exponent: &BigUint, index: u64) -> usize {
    let bits = (0..WINDOW).rev().map(|bit| index * WINDOW + bit);
    bits.fold(0, |window, bit| 2 * window + usize::from(exponent.bit(bit)))
}

/// Adds a multiple of a number, and gives what does not fit.
#[inline]
fn add_multiple<const N: usize>(sum: &mut [u64; N], number: &[u64; N], factor: u64) -> u64 {
    add_multiple_of(sum, number, factor)
}

#[inline]
fn add_multiple_of(sum: &mut [u64], number: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (limb, other) in sum.iter_mut().zip(number) {
        let product = u128::from(*other) * u128::from(factor);
        let total = product + u128::from(*limb) + u128::from(carry);
        *limb = total as u64;
        carry = (total >> 64) as u64;
    }
    carry
}

fn add(left: u64, right: u64, carry: bool) -> (u64, bool) {
    let (sum, over) = left.overflowing_add(right);
    let (sum, again) = sum.overflowing_add(carry.into());
    (sum, over | again)
}

fn subtract<const N: usize>(from: &[u64; N], number: &[u64; N]) -> ([u64; N], bool) {
    let mut rest = *from;
    let mut borrow = false;
    for (limb, other) in rest.iter_mut().zip(number) {
        let (difference, under) = limb.overflowing_sub(*other);
        let (difference, again) = difference.overflowing_sub(borrow.into());
        (*limb, borrow) = (difference, under | again);
    }
    (rest, borrow)
}

fn limbs<const N: usize>(number: &BigUint) -> [u64; N] {
    let mut limbs = [0; N];
    for (limb, digit) in limbs.iter_mut().zip(number.iter_u64_digits()) {
        *limb = digit;
    }
    limbs
}

fn number_of(limbs: &[u64]) -> BigUint {
    let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Numbers of so many bits without any pattern, from a linear congruence.
    pub(in crate::crypto) fn number(bits: usize, seed: u64) -> BigUint {
        let mut state = seed;
        let mut bytes = vec![0; bits / 8];
        for byte in &mut bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        BigUint::from_bytes_le(&bytes)
    }

    #[test]
    fn powers_agree_with_those_of_the_big_numbers_library() {
        let all_ones = (BigUint::from(1_u32) << 1024_usize) - 1_u32;
        let mut cases = vec![(all_ones.clone(), number(1024, 3), &all_ones - 1_u32)];
        for bits in [64, 256, 512, 1000, 1024, 1536, 2048, 4096] {
            let mut modulus = number(bits, bits as u64);
            modulus.set_bit(0, true);
            cases.push((modulus, number(200, 5), number(bits, 7)));
        }
        let mut even = number(512, 9);
        even.set_bit(0, false);
        cases.push((even, number(64, 10), number(512, 11)));
        cases.push((
            number(512, 9) | BigUint::from(1_u32),
            BigUint::ZERO,
            number(512, 1),
        ));
        for (modulus, exponent, base) in cases {
            let expected = base.modpow(&exponent, &modulus);
            assert_eq!(power(&base, &exponent, &modulus), expected, "{modulus}");
        }
    }

    #[test]
    fn primes_and_composites_are_told_apart() {
        let mersenne = |exponent: u32| (BigUint::from(1_u32) << exponent) - 1_u32;
        let bases = || [2, 3, 5, 7].into_iter();
        for exponent in [31, 61, 127, 521, 607, 1279, 2203] {
            assert!(
                passes_miller_rabin(&mersenne(exponent), bases()),
                "{exponent}"
            );
        }
        for exponent in [11, 23, 29, 523, 1277, 2207] {
            assert!(
                !passes_miller_rabin(&mersenne(exponent), bases()),
                "{exponent}"
            );
        }
        // The smallest strong pseudoprime to the bases 2, 3, 5 and 7.
        let pseudoprime = BigUint::from(3_215_031_751_u64);
        assert!(passes_miller_rabin(&pseudoprime, bases()));
        assert!(!passes_miller_rabin(&pseudoprime, std::iter::once(11)));
    }
}
