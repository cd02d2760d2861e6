//! JSON Schemas of arguments and results, from their types.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// The schema of `T` in JSON Schema 2020-12, without the members that say
/// nothing to a client.
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    of_generator::<T>(generator())
}

/// Makes schemas for clients.
pub(crate) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12();
    settings
        .with_transform(RecursiveTransform(without_rusts_formats))
        .into_generator()
}

/// Takes out what [`generator`] takes out of whole schemas by itself.
pub(crate) fn tidy(schema: &mut Schema) {
    RecursiveTransform(without_rusts_formats).transform(schema);
}

/// Formats of Rust's own number types, such as `uint8`, are not known outside:
/// a client's validator warns of each. The range says what there is to say.
fn without_rusts_formats(schema: &mut Schema) {
    let Some(Value::String(format)) = schema.get("format") else {
        return;
    };
    match format.as_str() {
        "uint32" => {
            let object = schema.ensure_object();
            object.entry("maximum").or_insert(u32::MAX.into());
        }
        "int8" | "int16" | "int128" | "int" | "uint8" | "uint16" | "uint64" | "uint128"
        | "uint" => {}
        _ => return,
    }
    schema.remove("format");
}

/// The same as [`of`], with the formats, and subschemas where they are used.
pub(crate) fn inlined<T: JsonSchema>() -> Map<String, Value> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    of_generator::<T>(settings.into_generator())
}

fn of_generator<T: JsonSchema>(generator: SchemaGenerator) -> Map<String, Value> {
    let schema = generator.into_root_schema_for::<T>();
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        // `true` allows anything, and so does the empty schema.
        _ => Map::new(),
    };
    schema.remove("$schema");
    schema.remove("title");
    schema
}

/// The schema of a tool's arguments, which must be an object's.
pub(crate) fn of_arguments<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = of::<T>();
    schema.insert("type".to_owned(), "object".into());
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    // The description of a generated struct is not the tool's.
    schema.remove("description");
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Sizes {
        small: u8,
        large: u32,
        huge: Vec<u64>,
        #[schemars(range(max = 7))]
        limited: Option<u32>,
        known: i32,
        inner: Inner,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Inner {
        ratio: f64,
        share: i16,
    }

    #[test]
    fn formats_that_only_rust_knows_are_not_for_clients() {
        let schema = Value::Object(of::<Sizes>());
        let property = |name: &str| schema["properties"][name].clone();
        let small = json!({ "type": "integer", "minimum": 0, "maximum": 255 });
        assert_eq!(property("small"), small);
        let large = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
        assert_eq!(property("large"), large);
        let huge = json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } });
        assert_eq!(property("huge"), huge);
        assert_eq!(property("limited")["maximum"], 7);
        assert_eq!(property("known")["format"], "int32");
        let inner = &schema["$defs"]["Inner"]["properties"];
        assert_eq!(inner["ratio"]["format"], "double");
        assert_eq!(inner["share"].get("format"), None, "{schema}");
    }
}
