//! Keys, certificates, passwords and encryption.
//!
//! Mirrors `crypto.go` of Sprig 3.3 and the forms that Go 1.26 writes. All randomness is the environment's and all time is its
//! time: the same bytes give the same keys and certificates. Keys are those of templates, not of this program: nothing here is
//! meant to withstand someone who measures its time.

mod certificate;
mod ciphers;
mod curves;
mod der;
mod functions;
mod key;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod miller_rabin;
mod montgomery;
mod passwords;
mod pem;
#[cfg(target_arch = "x86_64")]
mod powers;
mod primes;
#[cfg(target_arch = "x86_64")]
mod remainders;
mod rsa;
mod sieve;
mod x509;

use whipstaff_gotemplate::Function;

/// The functions of this module.
pub(crate) fn functions() -> Vec<Function> {
    let mut functions = functions::functions();
    functions.extend(ciphers::functions());
    functions.extend(passwords::functions());
    functions
}

/// What each computation that is slow by design takes from the budget, in bytes, so that a loop of them comes to an end.
const SLOW_CHARGE: usize = 1 << 20;
