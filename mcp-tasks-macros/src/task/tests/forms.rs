//! Which schemas are looked at before a server starts.

use super::{expand, function};

/// The types whose forms a definition checks.
fn asked(body: &str) -> Vec<String> {
    let expanded = expand("", &function(body)).replace([' ', '\n'], "");
    let calls = expanded.split(".asks(__tasks::Of::<");
    let types = calls.skip(1).map(|call| call.split(">::check_form").next());
    let types = types.flatten().map(|ty| ty.trim_end_matches(','));
    types.map(str::to_owned).collect()
}

#[test]
fn schemas_that_are_written_out_are_seen_once() {
    let body = "
        let a: FromSchema<Settings> = ask_user(\"?\").await?;
        let b = ask_user::<elicit::FromSchema<Settings>>(\"?\").key(\"b\").await?;
        if service.is_empty() { ask_user::<FromSchema<Settings>>(\"?\").key(\"c\").await?; }
        let d = f(async { ask_user::<FromSchema<Left>>(\"?\").await });
    ";
    assert_eq!(
        asked(body),
        [
            "FromSchema<Settings>",
            "elicit::FromSchema<Settings>",
            "FromSchema<Left>"
        ]
    );
}

#[test]
fn what_may_mean_something_else_outside_is_left_alone() {
    for body in [
        "struct Settings; ask_user::<FromSchema<Settings>>(\"?\").await?;",
        "use inner::Settings; ask_user::<FromSchema<Settings>>(\"?\").await?;",
        "#[cfg(test)] let a: FromSchema<Settings> = ask_user(\"?\").await?;",
        "let a: FromSchema<_> = ask_user(\"?\").await?; use_it::<Settings>(a);",
        "let a: Approval = ask_user(\"?\").await?;",
    ] {
        assert!(asked(body).is_empty(), "{body}");
    }
}
