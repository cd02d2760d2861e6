// Whether a name looks like a secret's.
//
// The runtime crate compiles this file too, by way of `secret_names!`, so that a
// form from a schema is held to what a derived form is. It stands alone, with
// nothing but comments before its items.

/// The words of a `snake_case` or `CamelCase` name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
