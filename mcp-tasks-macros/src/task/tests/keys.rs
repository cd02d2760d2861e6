//! The keys of suspension points, which saved journals depend on.

use super::{errors, expand, function};

/// The keys in an expansion, with the functions of steps.
fn keys(body: &str) -> Vec<String> {
    let function = function(body);
    assert_eq!(errors("cancel_grace = \"1s\"", &function), [""; 0]);
    // As one line: the formatting must not matter here.
    let text = expand("cancel_grace = \"1s\"", &function);
    let text: String = text.split_whitespace().collect();
    text.split("Site::new(\"")
        .skip(1)
        .map(|rest| {
            let (key, rest) = rest.split_once('"').expect("the literal ends");
            match rest.strip_prefix(").function(\"") {
                Some(rest) => {
                    let (function, _) = rest.split_once('"').expect("the literal ends");
                    format!("{key} by {function}")
                }
                None => key.to_owned(),
            }
        })
        .collect()
}

#[test]
fn an_ask_is_named_by_its_binding() {
    for body in [
        "let approval: Approval = ask_user(\"?\").await?;",
        "let mut approval = ask_user::<Approval>(\"?\").timeout(d).await?;",
        "let approval = (ask_user::<bool>(\"?\").await)?.then(f);",
        "let _approval: Approval = ask_user(\"?\").await?;",
        "let Ok(approval) = ask_user::<Approval>(\"?\").await else { return };",
        "if let Ok(Approval { approve: approval, .. }) = ask_user(\"?\").await {}",
        "while let Ok(approval) = ask_user::<Approval>(\"?\").await {}",
        "if ready && let Some(approval) = ask_user::<A>(\"?\").optional().await? {}",
        "let r#approval = mcp_tasks::ask_user::<A>(\"?\").await?;",
    ] {
        assert_eq!(keys(body), ["approval"], "{body}");
    }
}

#[test]
fn an_ask_without_one_binding_is_named_by_its_answer() {
    for (body, key) in [
        ("ask_user_url(\"?\", u).await?;", "url"),
        ("let _ = ask_user_url(\"?\", u).optional().await?;", "url"),
        ("use_it(ask_model(request).await?);", "model"),
        ("for root in list_roots().await? {}", "roots"),
        ("let folders = list_roots().await?;", "folders"),
        ("let Reply { text, .. } = ask_model(r).await?;", "text"),
        ("ask_user::<DeployWindow>(\"?\").await?;", "deploy_window"),
        ("ask_user::<Vec<Window>>(\"?\").await?;", "window"),
        ("ask_user::<FromSchema<Window>>(\"?\").await?;", "window"),
        (
            "let FromSchema(settings) = ask_user::<FromSchema<S>>(\"?\").await?;",
            "settings",
        ),
        (
            "ask_user::<forms::HTTPMethod>(\"?\").await?;",
            "http_method",
        ),
        (
            "let Pair { left, right } = ask_user::<Pair>(\"?\").await?;",
            "pair",
        ),
        (
            "let None = ask_user::<Option<Window>>(\"?\").await? else { return };",
            "window",
        ),
        ("let a = f(ask_user::<Window>(\"?\").await?);", "window"),
        ("let a = { ask_user::<Window>(\"?\").await? };", "window"),
        ("f(ask_user(\"?\").await?);", "answer"),
        ("ask_user::<()>(\"?\").await?;", "answer"),
        ("ask_user::<_>(\"?\").await?;", "answer"),
        ("ask_user::<Window>(\"?\").await?.key(\"x\");", "window"),
    ] {
        assert_eq!(keys(body), [key], "{body}");
    }
}

#[test]
fn a_timer_and_a_cancellation_have_names_of_their_own() {
    assert_eq!(
        keys("sleep(d).await; sleep_until(t).key(\"then\").await; cancelled().await;"),
        ["sleep", "then", "cancelled"]
    );
}

#[test]
fn a_step_is_named_by_its_binding_and_says_what_it_calls() {
    for (body, key) in [
        ("let p = step(fleet.plan(&service)).await?;", "p by plan"),
        ("step(fleet.plan(&service)).await?;", "plan by plan"),
        (
            "step(crate::fleet::plan::<u8>(&service)).await?;",
            "plan by plan",
        ),
        ("step(Box::pin(plan())).await?;", "plan by plan"),
        ("step((plan())).await?;", "plan by plan"),
        ("step(plan().map_err(Into::into)).await?;", "plan by plan"),
        ("step(client.get(url).send()).await?;", "send by send"),
        ("step(async { plan().await }).await?;", "plan by plan"),
        (
            "step(async move { Ok(plan().await?) }).await?;",
            "block by block",
        ),
        (
            "step(async { let p = at(); plan(p).await }).await?;",
            "block by block",
        ),
        ("step_value(prepared).await;", "prepared by prepared"),
        ("step(plan()).key(\"first\").await?;", "first by plan"),
        ("step(fleet.r#move()).await?;", "move by move"),
        ("step(plan()).typed().await?;", "plan by plan"),
    ] {
        assert_eq!(keys(body), [key], "{body}");
    }
}

#[test]
fn a_step_with_retries_is_named_by_what_its_closure_calls() {
    for (body, key) in [
        (
            "step_with(policy, || fleet.plan(&s)).await?;",
            "plan by plan",
        ),
        ("let p = step_with(policy, || plan()).await?;", "p by plan"),
        (
            "step_with(policy, move || { plan() }).await?;",
            "block by block",
        ),
        (
            "step_with(policy, || async { plan(&fleet).await }).await?;",
            "plan by plan",
        ),
        ("step_with(policy, plan).await?;", "plan by plan"),
        (
            "step_with(policy, plan).key(\"first\").await?;",
            "first by plan",
        ),
    ] {
        assert_eq!(keys(body), [key], "{body}");
    }
}

#[test]
fn an_unrecorded_future_is_named_like_a_step() {
    for (body, key) in [
        ("let page = unrecorded(fetch(&url)).await;", "page"),
        ("unrecorded(fetch(&url)).await;", "fetch"),
        ("unrecorded(async { fetch(&url).await }).await;", "fetch"),
        ("unrecorded(fetch(&url)).key(\"page\").await;", "page"),
    ] {
        assert_eq!(keys(body), [key], "{body}");
    }
}

#[test]
fn what_is_drawn_is_named_by_its_binding_and_may_share_a_name() {
    assert_eq!(
        keys("let id = uuid().to_string(); random::<u8>() + random::<u8>(); f(uuid());"),
        ["id", "random", "random", "uuid"]
    );
}

#[test]
fn branches_have_scopes() {
    assert_eq!(
        keys(
            "let (a, b) = join!(left: ask_user::<bool>(\"?\"), async {
                let sure: bool = ask_user(\"?\").await?;
            });
            let done = join_all(hosts.iter().map(|h| step(restart(h)))).await;
            join_all(hosts.iter().map(|h| async move { step(stop(h)).await })).await;"
        ),
        [
            "bool",
            "sure",
            "done by restart",
            "done",
            "stop by stop",
            "each"
        ]
    );
    // One key in two scopes is two keys.
    keys("join!(left: ask_user::<bool>(\"?\"), right: ask_user::<bool>(\"?\"));");
}

#[test]
fn keys_survive_edits_elsewhere() {
    let kept = "let approval: Approval = ask_user(\"?\").await?; step(fleet.plan()).await?;";
    let before = keys(kept);
    let edited = keys(&format!(
        "let other: u8 = ask_user(\"new\").await?; set_status(\"x\"); if x {{ {kept} }} sleep(d).await;"
    ));
    for key in before {
        assert!(edited.contains(&key), "{key} is not in {edited:?}");
    }
}

#[test]
fn what_may_be_a_flow_is_named_by_its_binding_or_its_function() {
    for (body, key) in [
        ("let sure = confirm(&x).await?;", "sure"),
        ("confirm(&x).await?;", "confirm"),
        ("desk.confirm(&x).await?;", "confirm"),
        ("(crate::a::confirm::<T>(&x)).await?;", "confirm"),
        ("Box::pin(confirm(&x)).await?;", "confirm"),
        ("confirm(&x).key(\"first\").await?;", "first"),
        ("let a = confirm(&x).key(\"first\").await?;", "first"),
        ("let call = first; call.await?;", "call"),
        ("join!(left: confirm(&x));", "confirm"),
        ("join!(async { confirm(&x).await });", "confirm"),
        (
            "for x in y { if let Ok(sure) = confirm(x).await {} }",
            "sure",
        ),
        ("assert!(confirm(&x).await);", "confirm"),
    ] {
        assert_eq!(keys(body), [key], "{body}");
    }
    assert_eq!(
        keys("let votes = join_all(ns.filter(|n| ok(n)).map(|n| confirm(n))).await;"),
        ["votes", "votes"]
    );
}

#[test]
fn one_key_twice_is_an_error_at_both_places() {
    let messages = errors("", &function("step(plan()).await?; step(plan()).await?;"));
    assert_eq!(messages.len(), 2);
    assert!(messages[0].contains("`plan`") && messages[0].contains(".key(\"..\")"));
    assert_eq!(messages[1], "the key `plan` is first taken here");
}

#[test]
fn a_key_of_run_time_is_left_to_run_time() {
    keys(
        "for n in ns { ask_user::<bool>(\"?\").key(n).await?; ask_user::<bool>(\"?\").key(f(n)).await?; }",
    );
}
