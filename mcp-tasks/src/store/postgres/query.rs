//! Statements, written once for any schema.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// The schema in which the tables are.
#[derive(Clone, Debug)]
pub(super) struct Name(String);

impl Name {
    /// A name as people write it, without quotes.
    pub(super) fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The channel on which replicas talk to each other.
    pub(super) fn channel(&self) -> String {
        // Names are cut at 63 bytes, on both sides alike.
        format!("mcp_tasks/{}", self.0)
    }

    /// Puts the name in the place of each `@`, in front of a table or alone.
    pub(super) fn fill(&self, sql: &str) -> String {
        let quoted = format!("\"{}\"", self.0.replace('"', "\"\""));
        let mut filled = String::with_capacity(sql.len() + 256);
        let mut parts = sql.split('@');
        filled.push_str(parts.next().unwrap_or_default());
        for part in parts {
            filled.push_str(&quoted);
            if part.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
                filled.push('.');
            }
            filled.push_str(part);
        }
        filled
    }
}

/// A statement and the types of its parameters.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) types: Vec<Type>,
}

impl Query {
    /// A statement in which each parameter is given a type once, as `$1::text`,
    /// so that it can be sent without being prepared.
    pub(super) fn new(name: &Name, sql: &str) -> Self {
        let text = name.fill(sql);
        let mut types = Vec::new();
        while let Some(of) = type_of(&text, types.len() + 1) {
            types.push(of);
        }
        Self { text, types }
    }

    /// Runs it on a connection of its own.
    pub(super) async fn run_on(
        &self,
        client: &Client,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        client
            .query_typed(&self.text, &self.with_types(values))
            .await
    }

    pub(super) fn with_types<'a>(
        &self,
        values: &[&'a (dyn ToSql + Sync)],
    ) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
        let types = self.types.iter().cloned();
        values.iter().copied().zip(types).collect()
    }
}

fn type_of(sql: &str, parameter: usize) -> Option<Type> {
    let marker = format!("${parameter}::");
    let (_, rest) = sql.split_once(&marker)?;
    let end =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '[' && letter != ']');
    Some(match &rest[..end.unwrap_or(rest.len())] {
        "bool" => Type::BOOL,
        "int2" => Type::INT2,
        "int4" => Type::INT4,
        "int8" => Type::INT8,
        "text" => Type::TEXT,
        "bytea" => Type::BYTEA,
        "bytea[]" => Type::BYTEA_ARRAY,
        "int4[]" => Type::INT4_ARRAY,
        "int8[]" => Type::INT8_ARRAY,
        "text[]" => Type::TEXT_ARRAY,
        other => unreachable!("a statement of this crate has a parameter of type `{other}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_with_their_schema() {
        let name = Name::new("my \"own\"");
        let filled = name.fill("SELECT FROM @tasks t JOIN @journal USING (task)");
        let wanted =
            "SELECT FROM \"my \"\"own\"\"\".tasks t JOIN \"my \"\"own\"\"\".journal USING (task)";
        assert_eq!(filled, wanted);
        assert_eq!(
            name.fill("CREATE SCHEMA @;"),
            "CREATE SCHEMA \"my \"\"own\"\"\";"
        );
    }

    #[test]
    fn parameters_have_the_types_that_they_are_cast_to() {
        let sql = "SELECT $2::int8[], $1::text, $1, $3::bool)";
        let query = Query::new(&Name::new("a"), sql);
        assert_eq!(query.types, [Type::TEXT, Type::INT8_ARRAY, Type::BOOL]);
    }
}
