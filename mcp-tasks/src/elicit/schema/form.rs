//! A whole schema as a form.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::field::{self, Question};
use super::order;
use crate::elicit::ANSWER;
use crate::elicit::names::is_secret;
use crate::flow::schema;
use crate::protocol::{FieldError, FieldKind, Form};

/// What of a schema can be asked for, and what is wrong with the rest.
pub(super) struct FormOfSchema {
    pub(super) form: Form,
    pub(super) faults: Vec<FieldError>,
}

/// What a struct's schema may have beside its properties: words, and rules that
/// forms keep by themselves.
const UNDERSTOOD: [&str; 4] = ["type", "properties", "required", "additionalProperties"];

impl FormOfSchema {
    pub(super) fn of<T: JsonSchema + DeserializeOwned>() -> Self {
        let schema = schema::inlined::<T>();
        let mut made = Self {
            form: Form::new(),
            faults: Vec::new(),
        };
        if has_fields(&schema) {
            made.add_struct(&schema, order::fields_of::<T>());
        } else {
            made.add(ANSWER, &Value::Object(schema), true);
        }
        made
    }

    fn add_struct(&mut self, schema: &Map<String, Value>, order: &[&str]) {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&none);
        let mut names: Vec<&String> = properties.keys().collect();
        // Stable: what serde does not tell of keeps the schema's order.
        names.sort_by_key(|name| order.iter().position(|field| field == name));
        let required = schema.get("required").and_then(Value::as_array);
        for name in names {
            let required = required.is_some_and(|required| required.iter().any(|r| r == name));
            self.add(name, &properties[name], required);
        }
        self.look_at_the_rest(schema);
    }

    fn look_at_the_rest(&mut self, schema: &Map<String, Value>) {
        if matches!(
            schema.get("additionalProperties"),
            Some(Value::Object(_) | Value::Bool(true))
        ) {
            let rule = "may have fields of any name, as of a map: a form has fixed ones";
            self.faults.push(FieldError::new("", rule));
        }
        if let Some(keyword) = field::not_understood(schema, &UNDERSTOOD) {
            let rule = format!("has the rule `{keyword}`, which a form cannot express");
            self.faults.push(FieldError::new("", rule));
        }
    }

    fn add(&mut self, name: &str, schema: &Value, required: bool) {
        let fault = match field::read(schema) {
            Ok(question) if is_about_a_secret(name, &question) => {
                "looks like a secret, and secrets must not be asked for in a form: take it on a \
                 page of your own; if only its name looks so, write \
                 `#[schemars(extend(\"x-not-secret\" = true))]`"
                    .to_owned()
            }
            Ok(Question {
                field, optional, ..
            }) => {
                let form = std::mem::take(&mut self.form);
                self.form = if required && !optional {
                    form.require(name, field)
                } else {
                    form.offer(name, field)
                };
                return;
            }
            Err(fault) => fault,
        };
        self.faults.push(FieldError::new(name, fault));
    }
}

/// Whether the type is asked for field by field, rather than as one answer.
pub(super) fn is_struct<T: JsonSchema>() -> bool {
    has_fields(&schema::inlined::<T>())
}

fn has_fields(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|ty| ty == "object")
}

fn is_about_a_secret(name: &str, question: &Question) -> bool {
    let may_hold_one = !matches!(
        question.field.kind,
        FieldKind::Boolean { .. } | FieldKind::MultiSelect { .. }
    );
    question.write_only || (may_hold_one && !question.not_secret && is_secret(name))
}
