//! The proleptic Gregorian calendar.

pub(super) const SECONDS_PER_DAY: i64 = 86_400;
/// Days of 400 years.
const DAYS_PER_ERA: i64 = 146_097;
/// Days from the first of March of the year zero to the Unix epoch.
const EPOCH_SHIFT: i64 = 719_468;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    /// From one.
    pub(super) month: i64,
    /// From one.
    pub(super) day: i64,
}

impl Date {
    /// The day that is so many days after the epoch. Years are counted from March, so that the leap day comes last.
    pub(super) fn from_epoch(days: i64) -> Self {
        let shifted = days + EPOCH_SHIFT;
        let era = shifted.div_euclid(DAYS_PER_ERA);
        let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self { year, month, day }
    }

    /// Days since the epoch. Months and days beyond their ranges carry over, as `time.Date` has it.
    pub(super) fn days(self) -> i64 {
        let months = self.month - 1;
        let year = self.year + months.div_euclid(12);
        let month = months.rem_euclid(12) + 1;
        let shifted_year = year - i64::from(month <= 2);
        let era = shifted_year.div_euclid(400);
        let year_of_era = shifted_year.rem_euclid(400);
        let shifted_month = (month + 9) % 12;
        let day_of_year = (153 * shifted_month + 2) / 5;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * DAYS_PER_ERA + day_of_era - EPOCH_SHIFT + self.day - 1
    }

    /// The day of the year, from one.
    pub(super) fn day_of_year(self) -> i64 {
        self.days()
            - Self {
                month: 1,
                day: 1,
                ..self
            }
            .days()
            + 1
    }
}

/// The day of the week of a day since the epoch; Sunday is zero.
pub(super) fn weekday(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn days_of_month(month: i64, year: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
