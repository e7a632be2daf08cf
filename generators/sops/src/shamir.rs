//! Puts a data key together from the parts of several key groups.
//!
//! **Source**: `shamir/shamir.go` of SOPS 3.13.3: every byte of the secret is the value at zero of a polynomial over the field of
//! 256 elements that AES uses, and the last byte of a part is the place that the part's other bytes are the values at.

use zeroize::Zeroizing;

/// The secret that parts were made of. None if they do not belong together; with fewer parts than were asked for when it was split,
/// it is another secret.
pub(crate) fn combine(parts: &[Zeroizing<Vec<u8>>]) -> Option<Zeroizing<Vec<u8>>> {
    let length = parts.first()?.len();
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let place = *part.last()?;
        if part.len() != length || place == 0 || places.contains(&place) {
            return None;
        }
        places.push(place);
    }
    if parts.len() < 2 || length < 2 {
        return None;
    }
    let secret = (0..length - 1).map(|at| {
        parts
            .iter()
            .zip(&places)
            .map(|(part, place)| {
                let value = part.get(at).copied().unwrap_or_default();
                multiply(value, weight(*place, &places))
            })
            .fold(0, |sum, term| sum ^ term)
    });
    Some(Zeroizing::new(secret.collect()))
}

/// What the value at a place counts in the value at zero.
fn weight(place: u8, places: &[u8]) -> u8 {
    places
        .iter()
        .filter(|other| **other != place)
        .fold(1, |product, other| {
            multiply(product, multiply(*other, inverse(place ^ other)))
        })
}

/// Multiplies without branches that depend on the factors.
fn multiply(a: u8, b: u8) -> u8 {
    (0..8).rev().fold(0_u8, |product, bit| {
        let carry = (product >> 7).wrapping_neg() & 0x1B;
        let term = ((b >> bit) & 1).wrapping_neg() & a;
        (product << 1) ^ carry ^ term
    })
}

/// The element whose product with `a` is one: the power of 254.
fn inverse(a: u8) -> u8 {
    let power_of_127 = (0..7).fold(1, |power, _| multiply(multiply(power, power), a));
    multiply(power_of_127, power_of_127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_itself_is_one() {
        for a in 1..=255 {
            assert_eq!(multiply(a, inverse(a)), 1, "{a}");
        }
    }

    /// Parts of `[42, 7]` for a threshold of two: `42 + 9x` and `7 + 200x`.
    fn part(place: u8) -> Zeroizing<Vec<u8>> {
        let values = [(42, 9), (7, 200)].map(|(secret, slope)| secret ^ multiply(slope, place));
        Zeroizing::new(vec![values[0], values[1], place])
    }

    #[test]
    fn any_two_parts_give_the_secret() {
        for (one, two) in [(1, 2), (1, 3), (3, 2), (200, 255)] {
            let secret = combine(&[part(one), part(two)]);
            assert_eq!(secret.as_deref(), Some(&vec![42, 7]));
        }
        assert!(combine(&[part(1), part(2), part(3)]).is_some_and(|secret| *secret == [42, 7]));
    }

    #[test]
    fn parts_that_do_not_belong_together_are_refused() {
        let short = Zeroizing::new(vec![1, 5]);
        let zero = Zeroizing::new(vec![1, 2, 0]);
        assert!(combine(&[]).is_none());
        assert!(combine(&[part(1)]).is_none());
        assert!(combine(&[part(1), part(1)]).is_none());
        assert!(combine(&[part(1), short]).is_none());
        assert!(combine(&[part(1), zero]).is_none());
        assert!(combine(&[Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new())]).is_none());
    }
}
