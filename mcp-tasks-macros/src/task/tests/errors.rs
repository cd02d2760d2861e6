//! What is refused, and that it is refused once. The words and the places
//! are in the ui tests of the workspace.

use proc_macro2::TokenStream;

use super::{errors, expand, expand_flow, expand_impl, function};

#[test]
fn what_is_valid_has_no_errors() {
    for body in [
        "let a = ask_user::<bool>(\"?\");",
        "vec.iter().map(|x| set_status(x)).count();",
        "step(async { set_status(\"x\"); tokio::select! { _ = a.await => {} } Ok(1) }).await?;",
        "step(async { println!(\"{:?}\", Instant::now()); f().await }).await?;",
        "eprintln!(\"x\"); tracing::info!(name = %service, \"x\");",
        "own::step(3); let _ = own::ask_user(4); items.map(|x| own::step(x));",
        "fn step(x: u8) {} step(3);",
        "let x = object.step(3); object.ask_user(); object.sleep;",
        "let x = step(3)?; match step(4) { _ => {} }",
        "step({ for x in y { if z { break } } f() }).await?;",
        "unrecorded(async { f().await; Instant::now(); Uuid::new_v4() }).await;",
        "unrecorded(fetch(url?)).await;",
        "step_with(policy, || plan(url?)).await?; step_with(p, || { return f(); }).await?;",
        "step(charge(step_key())).await?; step_with(p, || async { f(step_key()).await }).await?;",
        "step(async { f(now(), uuid(), random::<u8>()).await }).await?;",
        "let t = now(); items.map(|x| (uuid(), random::<u8>())).count();",
        "tokio::signal::unix::signal(x); clock::now(); step(async { m!(x => now()) }).await?;",
        "step(plan()).typed().await?.at_most_once(x);",
    ] {
        assert_eq!(errors("", &function(body)), [""; 0], "{body}");
    }
}

#[test]
fn without_replay_a_body_may_wait_for_anything() {
    let body = function("f().await; Instant::now(); println!(\"x\"); tokio::join!(a, b);");
    assert_eq!(errors("replay = false", &body), [""; 0]);
    assert!(!expand("replay = false", &body).contains("durable"));
}

#[test]
fn a_body_that_is_not_rust_is_rustcs_to_report() {
    for body in [
        "let a: bool = ask_user(\"?\").await?; service.",
        "let a: bool = ask_user(\"?\").await.; step(plan()).await?;",
        "let a: bool = ask_user(\"?\")..await?; service",
        "let a: bool = ask_user(\"?\").await?; service +",
        "for x in y { let a: bool = ask_user(\"?\").await? sleep(d).await; }",
        "let a: bool = ask_user(\"?\") await; let a: bool = ask_user(\"?\").await?;",
    ] {
        let item = format!("async fn deploy(service: String) -> String {{ {body} }}");
        let item = super::tokens(&item);
        let expansion = crate::task::mcp_task(TokenStream::new(), &item).to_string();
        assert!(!expansion.contains("compile_error"), "{body}: {expansion}");
        assert!(expansion.contains(". bind (__flow"), "{body}: {expansion}");
        assert!(expansion.contains("not_understood"), "{body}: {expansion}");
    }
}

#[test]
fn each_mistake_is_one_error() {
    for body in [
        "ask_user::<bool>(\"?\");",
        "let _ = step(plan());",
        "let f = || ask_user::<bool>(\"?\");",
        "let f = async { ask_user::<bool>(\"?\").await };",
        "tokio::spawn(async move { sleep(d).await });",
        "set.spawn(sleep(d));",
        "cancelled().await;",
        "step(plan(x?)).await?;",
        "step(async { ask_user::<bool>(\"?\").await }).await?;",
        "tokio::select! { _ = sleep(d) => {} }",
        "futures::join!(a, b);",
        "m!(a.await);",
        "m!(x => ask_user::<bool>(\"?\"));",
        "join!(a, b).await;",
        "let t = chrono::Utc::now();",
        "let t = rand::rng();",
        "std::println!();",
        "ask_user::<bool>(\"?\").key(\"a#1\").await?;",
        "let a: bool = ask_user(\"?\")?;",
        "match ask_user::<bool>(\"?\") { _ => {} }",
        "if let Ok(a) = ask_user::<bool>(\"?\") {}",
        "let __tracing_attr_span = x; async move { ask_user::<bool>(\"?\").await };",
        "signal::<u8>(\"x\");",
        "let f = || signal::<u8>(\"x\");",
        "step(async { signal::<u8>(\"x\").await }).await?;",
        "unrecorded(async { signal::<u8>(\"x\").await }).await;",
        "unrecorded(f().await).await;",
        "unrecorded(g(f().await)).await;",
        "step(f().await).await?;",
        "unrecorded(f());",
        "unrecorded(async { unrecorded(f()).await }).await;",
        "step_with(policy?, || f()).await?;",
        "step_with(policy, || sleep(d)).await?;",
        "let key = step_key();",
        "unrecorded(f(step_key())).await;",
        "step(async { if patched(\"x\") {} f().await }).await?;",
        "m!(x => now());",
    ] {
        assert_eq!(errors("", &function(body)).len(), 1, "{body}");
    }
}

#[test]
fn what_is_refused_of_flows_and_methods_is_still_emitted() {
    for item in [
        "fn confirm(what: &str) { let kept = 1; }",
        "async unsafe extern \"C\" fn confirm(what: &str) -> impl Clone { let kept = 1; }",
        "const fn confirm(what: impl Clone) { let kept = 1; }",
        "struct Confirm { kept: u8 }",
    ] {
        let expanded = expand_flow(item);
        assert!(expanded.contains("compile_error"), "{item}");
        assert!(expanded.contains("kept"), "{item}");
    }
    for item in [
        "impl<T> Deployer<T> { #[mcp_task] async fn deploy(&self) { let kept = 1; } }",
        "impl Deploys for Deployer { #[mcp_task] async fn deploy(&self) { let kept = 1; } }",
        "impl Deployer { #[mcp_task] fn deploy(&mut self, a: &str) { let kept = 1; } }",
        "impl Deployer { #[mcp_task] async fn deploy() { let kept = 1; } }",
        "impl Deployer { #[mcp_task(ttl = 1)] async fn deploy(&self) { let kept = 1; } }",
        "impl Deployer { async fn deploy(&self) { let kept = 1; } }",
        "async fn deploy() { let kept = 1; }",
    ] {
        let expanded = expand_impl(item);
        assert!(expanded.contains("compile_error"), "{item}");
        assert!(expanded.contains("let kept = 1;"), "{item}");
    }
}

#[test]
fn there_is_room_for_twelve_parameters() {
    let function = |count: usize| {
        let params: Vec<String> = (0..count).map(|index| format!("a{index}: u8")).collect();
        format!("async fn deploy({}) {{}}", params.join(", "))
    };
    assert_eq!(errors("", &function(12)), [""; 0]);
    assert_eq!(errors("", &function(13)).len(), 1);
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let messages = errors(
        "ttl = \"0s\", nmae = \"x\", support = \"maybe\"",
        "fn deploy(a: &str, (b, c): (u8, u8)) { ask_user::<bool>(\"?\"); m!(a.await); }",
    );
    assert_eq!(messages.len(), 8, "{messages:#?}");
}

#[test]
fn the_function_is_emitted_whatever_is_wrong_with_it() {
    for item in [
        "fn deploy(service: &str) { let kept = 1; }",
        "async fn deploy<T: Clone>(service: T) where T: Send { let kept = 1; }",
        "async fn deploy(service: impl Clone) -> impl Clone { let kept = 1; }",
        "async fn deploy(&self, service: String) { let kept = 1; }",
        "async unsafe extern \"C\" fn deploy(service: String, _: ...) { let kept = 1; }",
        "async fn deploy((a, b): (u8, u8), _: u8, [c, ..]: [u8; 3]) { let kept = 1; }",
        "impl Deployer { fn deploy(&self) { let kept = 1; } }",
    ] {
        assert!(!errors("bad!", item).is_empty(), "{item}");
        assert!(expand("bad!", item).contains("let kept = 1;"), "{item}");
    }
}

#[test]
fn attributes_that_make_no_sense_are_survived() {
    let item = function("");
    for attribute in [
        "=",
        ",",
        ",,",
        "ttl",
        "ttl =",
        "ttl = ,",
        "= \"24h\"",
        "(ttl = \"1h\")",
        "ttl == \"1h\"",
        "ttl: \"1h\"",
        "crate = 3",
        "crate",
        "version = -1",
        "version = 99999999999",
        "r#ttl = \"1h\"",
        "name = \"\\n\"",
        "ttl = \"\\u{1F600}\"",
        "ttl = \"1é\"",
        "#",
        "mcp_task",
        "..",
    ] {
        assert!(!errors(attribute, &item).is_empty(), "{attribute}");
    }
    for attribute in [
        "",
        "ttl = \"1h\",",
        "crate = other::path",
        "name = \"a/b-c.d_9\"",
    ] {
        assert_eq!(errors(attribute, &item), [""; 0], "{attribute}");
    }
}
