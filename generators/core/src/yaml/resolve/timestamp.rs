//! Dates and times, as far as go.yaml.in/yaml v2.4.3 recognises them with `time.Parse`.

/// Whether the text is a date, or a date with a time.
pub(super) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(year), Some(b'-')) = (bytes.get(..4), bytes.get(4)) else {
        return false;
    };
    let Some(year) = number(year) else {
        return false;
    };
    let mut rest = Rest(bytes.get(5..).unwrap_or_default());
    let month = rest.one_or_two_digits();
    let dash = rest.eat(b"-");
    let day = rest.one_or_two_digits();
    let (Some(month), true, Some(day)) = (month, dash, day) else {
        return false;
    };
    if day == 0 || day > days_in_month(year, month) {
        return false;
    }
    match rest.0 {
        [] => true,
        [b'T' | b't', time @ ..] => {
            let mut rest = Rest(time);
            rest.time_of_day() && rest.zone() && rest.0.is_empty()
        }
        [b' ', ..] => {
            while rest.eat(b" ") {}
            rest.time_of_day() && rest.0.is_empty()
        }
        _ => false,
    }
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn eat(&mut self, expected: &[u8]) -> bool {
        match self.0.strip_prefix(expected) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let value = number(digits)?;
        self.0 = rest;
        Some(value)
    }

    fn one_or_two_digits(&mut self) -> Option<u32> {
        self.digits(2).or_else(|| self.digits(1))
    }

    /// `15:4:5`, with any fraction of a second behind a point or comma.
    fn time_of_day(&mut self) -> bool {
        let hour = self.one_or_two_digits().is_some_and(|hour| hour < 24);
        let minute = hour && self.eat(b":") && self.below_60();
        if !(minute && self.eat(b":") && self.below_60()) {
            return false;
        }
        if let [b'.' | b',', b'0'..=b'9', ..] = self.0 {
            let fraction = self.0.get(1..).unwrap_or_default();
            let length = fraction
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            self.0 = fraction.get(length..).unwrap_or_default();
        }
        true
    }

    fn below_60(&mut self) -> bool {
        self.one_or_two_digits().is_some_and(|value| value < 60)
    }

    /// `Z` or `+07:00`; Go lets 24 hours and 60 minutes pass.
    fn zone(&mut self) -> bool {
        if self.eat(b"Z") {
            return true;
        }
        (self.eat(b"+") || self.eat(b"-"))
            && self.digits(2).is_some_and(|hour| hour <= 24)
            && self.eat(b":")
            && self.digits(2).is_some_and(|minute| minute <= 60)
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit()
            .then(|| value * 10 + u32::from(byte - b'0'))
    })
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 0,
    }
}
