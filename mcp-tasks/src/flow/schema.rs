//! JSON Schemas of arguments and results, from their types.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// The schema of `T` in JSON Schema 2020-12, without the members that say
/// nothing to a client.
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    of_generator::<T>(SchemaSettings::draft2020_12().into_generator())
}

/// The same, with subschemas where they are used.
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
