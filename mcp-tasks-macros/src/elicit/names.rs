//! Names: the names on the wire that follow from them, and which known word was
//! probably meant.

use super::secrets::words;

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
