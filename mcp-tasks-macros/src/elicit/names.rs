//! Names: their words, the names on the wire that follow from them, whether
//! they look like a secret's, and which known word was probably meant.

/// The words of a `snake_case` or `CamelCase` name, in lower case.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let after_lower = at > 0 && !chars[at - 1].is_uppercase();
        let before_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && at > 0 && (after_lower || before_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `NextMonday` as `next_monday`.
pub(super) fn snake_case(name: &str) -> String {
    words(name).join("_")
}

/// `NextMonday` as `Next monday`.
pub(super) fn sentence_case(name: &str) -> String {
    let text = words(name).join(" ");
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => text,
    }
}

/// Words, and pairs of words, that name secrets wherever they stand in a name.
const SECRETS: &[&[&str]] = &[
    &["password"],
    &["passwords"],
    &["passwd"],
    &["pwd"],
    &["passphrase"],
    &["passcode"],
    &["secret"],
    &["secrets"],
    &["token"],
    &["apikey"],
    &["credential"],
    &["credentials"],
    &["pin"],
    &["cvv"],
    &["cvc"],
    &["ssn"],
    &["otp"],
    &["api", "key"],
    &["access", "key"],
    &["private", "key"],
    &["privatekey"],
    &["card", "number"],
    &["security", "code"],
    &["social", "security"],
];

/// Whether a field of this name probably asks for a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let words = words(name);
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .collect();
    let stands_in = |secret: &[&str]| words.windows(secret.len()).any(|part| part == secret);
    SECRETS.iter().any(|secret| stands_in(secret))
}

/// The known word that was probably meant.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |known: &&str| edits(word, known);
    let nearest = known.iter().copied().min_by_key(distance)?;
    let part_of = |a: &str, b: &str| a.len() >= 3 && b.contains(a);
    let alike = edits(word, nearest) <= word.len().max(nearest.len()) / 2;
    let within = || {
        known
            .iter()
            .copied()
            .find(|known| part_of(word, known) || part_of(known, word))
    };
    if alike { Some(nearest) } else { within() }
}

/// How many letters must be put in, left out or exchanged to get from one to
/// the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let exchanged = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = exchanged.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_sent_in_snake_case() {
        for (name, sent) in [
            ("Tonight", "tonight"),
            ("NextMonday", "next_monday"),
            ("HTTPServer", "http_server"),
            ("V2", "v2"),
            ("A", "a"),
            ("Eu_West", "eu_west"),
        ] {
            assert_eq!(snake_case(name), sent);
        }
        assert_eq!(sentence_case("NextMonday"), "Next monday");
    }

    #[test]
    fn secrets_are_seen_in_names_and_not_in_parts_of_words() {
        for name in [
            "password",
            "db_password",
            "password2",
            "apiKey",
            "api_key",
            "access_token",
            "pin",
            "user_pin",
            "ssn",
            "private_key",
            "credentials",
            "card_number",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "shipping",
            "pinned",
            "tokenizer",
            "max_tokens",
            "key",
            "secretary",
            "compass",
            "keynote_api",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a_slip_finds_the_word_that_was_meant() {
        let known = [
            "title",
            "description",
            "default",
            "min",
            "min_len",
            "rename",
        ];
        assert_eq!(nearest("titel", &known), Some("title"));
        assert_eq!(nearest("desc", &known), Some("description"));
        assert_eq!(nearest("minlen", &known), Some("min_len"));
        assert_eq!(nearest("minimum", &known), Some("min"));
        assert_eq!(nearest("colour", &known), None);
    }
}
