//! What there is to choose from, in all the spellings of a schema.

use serde_json::{Value, json};

use super::field::{Schema, not_understood};

/// The keywords that list choices.
pub(super) const SPELLINGS: [&str; 4] = ["enum", "const", "oneOf", "anyOf"];

/// Whether the schema lists what is allowed.
pub(super) fn is_choice(schema: &Schema) -> bool {
    SPELLINGS
        .iter()
        .any(|keyword| schema.contains_key(*keyword))
}

/// The choices as a form spells them: under `titled` if one has a title.
///
/// # Errors
///
/// Why something that can be chosen is no text.
pub(super) fn respell(schema: &Schema, titled: &str) -> Result<Schema, String> {
    let mut choices = Vec::new();
    collect(schema, &mut choices)?;
    let all = choices.iter();
    let (keyword, list): (_, Vec<Value>) = if choices.iter().any(|choice| choice.title.is_some()) {
        let title = |choice: &Choice| choice.title.clone().unwrap_or_else(|| choice.value.clone());
        let list = all.map(|choice| json!({ "const": choice.value, "title": title(choice) }));
        (titled, list.collect())
    } else {
        (
            "enum",
            all.map(|choice| choice.value.clone().into()).collect(),
        )
    };
    Ok(Schema::from_iter([(keyword.to_owned(), list.into())]))
}

struct Choice {
    value: String,
    title: Option<String>,
}

fn collect(schema: &Schema, choices: &mut Vec<Choice>) -> Result<(), String> {
    let not_a_choice = || {
        "is an enum with data, or one of several types: a form has choices without data, and \
         fields of one type"
            .to_owned()
    };
    let understood = [&["type"], SPELLINGS.as_slice()].concat();
    if !is_choice(schema) || not_understood(schema, &understood).is_some() {
        return Err(not_a_choice());
    }
    for keyword in ["oneOf", "anyOf"] {
        for one in array(schema, keyword) {
            collect(one.as_object().ok_or_else(not_a_choice)?, choices)?;
        }
    }
    let values = array(schema, "enum").iter().chain(schema.get("const"));
    let values: Option<Vec<_>> = values.map(Value::as_str).collect();
    let values = values.ok_or("has choices that are not text, and those of a form are")?;
    let title = title(schema).filter(|_| values.len() == 1);
    choices.extend(values.into_iter().map(|value| Choice {
        value: value.to_owned(),
        title: title.clone(),
    }));
    Ok(())
}

fn array<'a>(schema: &'a Schema, keyword: &str) -> &'a [Value] {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The `title`, else the first paragraph of the doc comment, without the full
/// stop that ends it.
fn title(schema: &Schema) -> Option<String> {
    let words = |keyword| schema.get(keyword).and_then(Value::as_str);
    words("title").map(str::to_owned).or_else(|| {
        let first = words("description")?.split("\n\n").next()?;
        let bare = first.strip_suffix('.').unwrap_or(first);
        let title = if bare.ends_with('.') { first } else { bare };
        Some(title.replace('\n', " "))
    })
}
