//! Moments.

use super::{
    calendar::{Date, SECONDS_PER_DAY, weekday},
    zone::{Offset, Zone},
};

pub(super) const NANOSECONDS: i64 = 1_000_000_000;
/// The first of January of the year one, which is Go's zero time.
const ZERO: i64 = -62_135_596_800;

/// A moment, and the zone in which it is read.
#[derive(Debug, Clone)]
pub(super) struct Time {
    /// Seconds since the Unix epoch.
    pub(super) unix: i64,
    pub(super) nanoseconds: u32,
    pub(super) zone: Zone,
}

/// A moment as a calendar and a clock show it.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    pub(super) date: Date,
    pub(super) day_of_year: i64,
    /// From Sunday, which is zero.
    pub(super) weekday: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanoseconds: u32,
    pub(super) offset: Offset,
}

impl Time {
    /// Seconds since the Unix epoch, read in the local zone.
    pub(super) fn from_unix(unix: i64, nanoseconds: u32) -> Self {
        Self {
            unix,
            nanoseconds,
            zone: Zone::Local,
        }
    }

    /// Go's zero time.
    pub(super) fn zero() -> Self {
        Self {
            unix: ZERO,
            nanoseconds: 0,
            zone: Zone::Utc,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.unix == ZERO && self.nanoseconds == 0
    }

    /// The same moment in another zone.
    pub(super) fn within(&self, zone: Zone) -> Self {
        Self {
            zone,
            ..self.clone()
        }
    }

    /// What can be compared of it.
    pub(super) fn moment(&self) -> (i64, u32) {
        (self.unix, self.nanoseconds)
    }

    pub(super) fn reading(&self) -> Reading {
        let offset = self.zone.offset(self.unix);
        let local = self.unix.saturating_add(offset.seconds);
        let days = local.div_euclid(SECONDS_PER_DAY);
        let clock = local.rem_euclid(SECONDS_PER_DAY);
        let date = Date::from_epoch(days);
        Reading {
            date,
            day_of_year: date.day_of_year(),
            weekday: weekday(days),
            hour: clock / 3600,
            minute: clock / 60 % 60,
            second: clock % 60,
            nanoseconds: self.nanoseconds,
            offset,
        }
    }

    /// Later by nanoseconds.
    pub(super) fn add(&self, nanoseconds: i64) -> Self {
        let sum = i64::from(self.nanoseconds) + nanoseconds % NANOSECONDS;
        let carry = sum.div_euclid(NANOSECONDS);
        Self {
            unix: self
                .unix
                .wrapping_add(nanoseconds / NANOSECONDS)
                .wrapping_add(carry),
            nanoseconds: sum.rem_euclid(NANOSECONDS) as u32,
            zone: self.zone.clone(),
        }
    }

    /// Nanoseconds since another moment, within what a duration can hold.
    pub(super) fn since(&self, other: &Self) -> i64 {
        let seconds = i128::from(self.unix) - i128::from(other.unix);
        let rest = i128::from(self.nanoseconds) - i128::from(other.nanoseconds);
        let exact = seconds * i128::from(NANOSECONDS) + rest;
        i64::try_from(exact).unwrap_or(if exact < 0 { i64::MIN } else { i64::MAX })
    }

    /// The moment at which a zone's clock shows a reading; where it shows it twice, the first.
    pub(super) fn at(date: Date, clock: i64, nanoseconds: u32, zone: Zone) -> Self {
        let local = date
            .days()
            .saturating_mul(SECONDS_PER_DAY)
            .saturating_add(clock);
        let guess = zone.offset(local).seconds;
        let mut unix = local.saturating_sub(guess);
        let actual = zone.offset(unix).seconds;
        if actual != guess {
            let other = local.saturating_sub(actual);
            if zone.offset(other).seconds == actual {
                unix = other;
            }
        }
        Self {
            unix,
            nanoseconds,
            zone,
        }
    }

    /// `AddDate`.
    pub(super) fn add_date(&self, years: i64, months: i64, days: i64) -> Self {
        let reading = self.reading();
        let date = Date {
            year: reading
                .date
                .year
                .saturating_add(years)
                .clamp(-MAX_STEP, MAX_STEP),
            month: reading.date.month + months.clamp(-MAX_STEP, MAX_STEP),
            day: reading.date.day + days.clamp(-MAX_STEP, MAX_STEP),
        };
        let clock = reading.hour * 3600 + reading.minute * 60 + reading.second;
        Self::at(date, clock, self.nanoseconds, self.zone.clone())
    }

    /// Nanoseconds since the last multiple of a duration, counted from the zero time.
    pub(super) fn remainder(&self, duration: i64) -> i64 {
        let seconds = i128::from(self.unix) - i128::from(ZERO);
        let total = seconds * i128::from(NANOSECONDS) + i128::from(self.nanoseconds);
        total.rem_euclid(i128::from(duration)) as i64
    }
}

/// Years, months or days beyond which a date cannot be moved; every moment that a template can name is within.
const MAX_STEP: i64 = 1_000_000_000;
