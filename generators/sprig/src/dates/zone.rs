//! Time zones.

use jiff::{
    Timestamp,
    tz::{Dst, TimeZone, TimeZoneDatabase},
};
use std::{rc::Rc, sync::LazyLock};

/// The zones of the database that is compiled in, whatever the host has.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Zone {
    Utc,
    /// The host's zone, which is taken to be UTC.
    Local,
    /// An offset in seconds that has no rules, with its abbreviation or none.
    Fixed(Rc<str>, i64),
    Named(Rc<str>, TimeZone),
}

/// What a zone says about a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offset {
    /// Seconds east of Greenwich.
    pub(super) seconds: i64,
    pub(super) abbreviation: Rc<str>,
    pub(super) is_summer: bool,
}

impl Zone {
    /// `time.LoadLocation`.
    pub(super) fn load(name: &str) -> Option<Self> {
        match name {
            "" | "UTC" => return Some(Self::Utc),
            "Local" => return Some(Self::Local),
            _ => {}
        }
        let zone = ZONES.get(name).ok()?;
        // The database does not mind case, but a file system does.
        (zone.iana_name() == Some(name)).then(|| Self::Named(name.into(), zone))
    }

    /// The name that `Location.String` gives.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Utc => "UTC",
            Self::Local => "Local",
            Self::Fixed(name, _) | Self::Named(name, _) => name,
        }
    }

    /// The offset at a moment.
    pub(super) fn offset(&self, unix: i64) -> Offset {
        match self {
            Self::Utc | Self::Local => Offset {
                seconds: 0,
                abbreviation: "UTC".into(),
                is_summer: false,
            },
            Self::Fixed(name, seconds) => Offset {
                seconds: *seconds,
                abbreviation: name.clone(),
                is_summer: false,
            },
            Self::Named(_, zone) => {
                let (first, last) = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
                let moment = Timestamp::from_second(unix.clamp(first, last)).unwrap_or_default();
                let info = zone.to_offset_info(moment);
                Offset {
                    seconds: i64::from(info.offset().seconds()),
                    abbreviation: info.abbreviation().into(),
                    is_summer: info.dst() == Dst::Yes,
                }
            }
        }
    }
}
