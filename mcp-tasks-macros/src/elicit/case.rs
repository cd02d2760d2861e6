//! The spellings of `rename_all`, each as serde has it: a type that is read by
//! both has one set of names.

/// A way to write names of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    pub(super) const NAMES: [&str; 8] = [
        CASES[0].0, CASES[1].0, CASES[2].0, CASES[3].0, CASES[4].0, CASES[5].0, CASES[6].0,
        CASES[7].0,
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        let (_, case) = CASES.iter().find(|(known, _)| *known == name)?;
        Some(*case)
    }

    /// The name of a field, which Rust writes in `snake_case`.
    pub(super) fn field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => name.split('_').map(capitalised).collect(),
            Self::Camel => uncapitalised(&Self::Pascal.field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.field(name).replace('_', "-"),
        }
    }

    /// The name of a variant, which Rust writes in `PascalCase`.
    pub(super) fn variant(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => uncapitalised(name),
            Self::Snake => {
                let mut snake = String::new();
                for (at, c) in name.char_indices() {
                    if at > 0 && c.is_uppercase() {
                        snake.push('_');
                    }
                    snake.push(c.to_ascii_lowercase());
                }
                snake
            }
            Self::ScreamingSnake => Self::Snake.variant(name).to_ascii_uppercase(),
            Self::Kebab => Self::Snake.variant(name).replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.variant(name).replace('_', "-"),
        }
    }
}

fn capitalised(word: &str) -> String {
    first_letter(word, char::to_ascii_uppercase)
}

fn uncapitalised(word: &str) -> String {
    first_letter(word, char::to_ascii_lowercase)
}

fn first_letter(word: &str, change: fn(&char) -> char) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| change(&first));
    first.into_iter().chain(chars).collect()
}
