//! Limits that schemars writes for the types that people have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::ArgumentRules;
use crate::flow::schema;

/// What is wrong with arguments of this type.
fn broken<T: JsonSchema>(arguments: &Value) -> Vec<String> {
    let rules = ArgumentRules::of(&schema::of_arguments::<T>()).expect("the type has limits");
    let broken = rules.broken(arguments);
    broken.iter().map(ToString::to_string).collect()
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Plan {
    #[schemars(range(min = 1, max = 10))]
    share: Option<u8>,
    steps: Vec<Step>,
    by_name: BTreeMap<String, Step>,
    how: Option<How>,
    #[serde(flatten)]
    more: More,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Step {
    #[schemars(length(min = 2, max = 4), regex(pattern = "^[a-z]+$"))]
    name: String,
    next: Option<Box<Step>>,
}

#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is looked at")]
enum How {
    Slowly {
        #[schemars(range(min = 0.5))]
        pause: f64,
    },
    AtOnce {
        #[schemars(range(max = 3))]
        pause: u8,
    },
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct More {
    #[schemars(length(max = 1))]
    tags: Vec<String>,
}

#[test]
fn what_fits_passes() {
    let plan = json!({
        "share": null,
        "steps": [{ "name": "ab", "next": { "name": "abcd" } }],
        "by_name": { "x": { "name": "xyz" } },
        "how": { "kind": "slowly", "pause": 0.5 },
        "tags": ["\u{1f600}"],
    });
    assert_eq!(broken::<Plan>(&plan), [""; 0]);
}

#[test]
fn everything_is_named_with_its_path_wherever_it_stands() {
    let plan = json!({
        "share": 11,
        "steps": [{ "name": "ab" }, { "name": "a", "next": { "name": "ABC" } }],
        "by_name": { "x": { "name": "xyzxy" } },
        "how": { "kind": "at_once", "pause": 4 },
        "tags": ["a", "b"],
    });
    let mut broken = broken::<Plan>(&plan);
    broken.sort();
    assert_eq!(
        broken,
        [
            "`by_name.x.name` must have at most 4 characters, and has 5",
            "`how.pause` must be at most 3, and is 4",
            "`share` must be at most 10, and is 11",
            "`steps[1].name` must have at least 2 characters, and has 1",
            "`steps[1].next.name` must match the pattern `^[a-z]+$`",
            "`tags` must have at most 1 item, and has 2",
        ]
    );
}

#[test]
fn a_struct_as_a_list_does_not_go_round_its_limits() {
    let plan = json!({ "steps": [["a", null]], "by_name": {}, "tags": [] });
    assert_eq!(
        broken::<Plan>(&plan),
        ["`steps[0]` must be an object, not a list"]
    );
    let plan = json!({ "steps": [{ "name": "ab", "next": ["a"] }], "by_name": {}, "tags": [] });
    assert_eq!(
        broken::<Plan>(&plan),
        ["`steps[0].next` must be an object, not a list"]
    );
}

#[test]
fn numbers_are_compared_exactly_where_they_are_whole() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Numbers {
        #[schemars(range(max = 9_007_199_254_740_992_u64))]
        whole: u64,
        #[schemars(extend("multipleOf" = 0.1))]
        tenths: f64,
    }
    let fits = json!({ "whole": 9_007_199_254_740_992_u64, "tenths": 0.3 });
    assert_eq!(broken::<Numbers>(&fits), [""; 0]);
    let misfits = json!({ "whole": 9_007_199_254_740_993_u64, "tenths": 0.35 });
    assert_eq!(broken::<Numbers>(&misfits).len(), 2);
}

#[test]
fn a_schema_without_limits_costs_nothing() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Free {
        name: String,
        yes: bool,
    }
    assert!(ArgumentRules::of(&schema::of_arguments::<Free>()).is_none());
}

#[test]
fn a_long_list_of_what_does_not_fit_is_not_repeated_whole() {
    let steps = vec![json!({ "name": "a" }); 10_000];
    let plan = json!({ "steps": steps, "by_name": {}, "tags": [] });
    assert_eq!(broken::<Plan>(&plan).len(), 16);
}
