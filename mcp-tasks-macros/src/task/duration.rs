//! Durations as people write them in the attribute: `"24h"`, `"1h30m"`.

use super::messages;

const UNITS: [(&str, u64); 5] = [
    // `ms` before `m`: the longer unit is tried first.
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// Milliseconds, or what is wrong with the text.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    if text.trim_start().starts_with('-') {
        return Err(messages::negative_duration(text));
    }
    let mut rest = text;
    let mut total: u64 = 0;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.split_at(digits);
        let (unit, milliseconds) = UNITS
            .iter()
            .find(|(unit, _)| after.starts_with(unit))
            .ok_or_else(|| messages::bad_duration(text))?;
        // `30m1h` and `1h1h` are slips, not sums.
        if *milliseconds >= smallest {
            return Err(messages::bad_duration(text));
        }
        smallest = *milliseconds;
        total = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(*milliseconds))
            .and_then(|part| total.checked_add(part))
            .ok_or_else(|| {
                if digits == 0 {
                    messages::bad_duration(text)
                } else {
                    messages::long_duration(text)
                }
            })?;
        rest = &after[unit.len()..];
    }
    match total {
        0 if text.is_empty() => Err(messages::bad_duration(text)),
        0 => Err(messages::zero_duration(text)),
        total => Ok(total),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse("24h"), Ok(86_400_000));
        assert_eq!(parse("90s"), Ok(90_000));
        assert_eq!(parse("50ms"), Ok(50));
        assert_eq!(parse("1h30m"), Ok(5_400_000));
        assert_eq!(parse("7d"), Ok(604_800_000));
        assert_eq!(parse("1m5ms"), Ok(60_005));
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for text in [
            "",
            "24",
            "h",
            "24 h",
            "1.5h",
            "30m1h",
            "1h1h",
            "forever",
            "-1h",
            "0s",
            "0h0m",
            "99999999999999999999d",
            "9999999999999999d",
        ] {
            assert!(parse(text).is_err(), "{text:?} was read as a duration");
        }
    }
}
