//! The crate under another name, without the prelude, beside other attributes.

/// Nothing of the prelude is in scope.
mod bare {
    #![no_implicit_prelude]

    #[derive(::tasks::Elicit)]
    #[elicit(crate = "::tasks")]
    pub struct Form {
        /// Sure?
        pub sure: bool,
        pub reason: ::core::option::Option<::std::string::String>,
    }

    /// Asks.
    #[::tasks::mcp_task(crate = ::tasks)]
    pub async fn ask(number: u8) -> ::core::result::Result<(), ::tasks::ToolError> {
        let form: Form = ::tasks::ask_user("Sure?").await?;
        let plan = ::tasks::step(async move {
            ::core::result::Result::<u8, ::std::io::Error>::Ok(number)
        })
        .await?;
        let (_, _) = ::tasks::join!(
            left: ::tasks::ask_user::<bool>("Left?"),
            right: async { ::tasks::ask_user::<u8>("Right?").await },
        );
        let _ = (form.sure, form.reason, plan);
        ::core::result::Result::Ok(())
    }
}

/// Traits of the prelude are other ones here.
mod shadowed {
    pub trait Send {}
    pub trait Fn {}
    pub trait Future {}
    pub trait Default {}
    pub trait Clone {}
    pub trait Into {}
    pub struct Ok;
    pub struct Err;
    pub struct Some;

    #[tasks::mcp_task(crate = tasks, name = "shadowed")]
    pub async fn ask() -> Result<(), tasks::ToolError> {
        let sure: bool = tasks::ask_user("Sure?").await?;
        let _ = sure;
        Result::Ok(())
    }
}

mod attributes {
    use tasks::prelude::*;

    /// Its span is entered where the call is built.
    #[mcp_task(crate = tasks)]
    #[tracing::instrument(skip_all)]
    pub async fn traced(note: Option<String>) -> Result<String, ToolError> {
        let sure: bool = ask_user("Sure?").await?;
        Ok(format!("{sure} {note:?}"))
    }

    #[cfg(debug_assertions)]
    #[doc(alias = "wait")]
    #[mcp_task(crate = tasks)]
    #[inline]
    #[must_use]
    pub async fn pause() {
        sleep(Duration::from_secs(1)).await;
    }
}

#[test]
fn all_of_them_are_tools() {
    let runtime = tasks::runtime::Runtime::builder("hygiene", "1")
        .task(bare::ask)
        .task(shadowed::ask)
        .task(attributes::traced)
        .build()
        .expect("the names differ");
    let names: Vec<&str> = runtime.tools().map(tasks::runtime::Tool::name).collect();
    assert_eq!(names, ["ask", "shadowed", "traced"]);
    let traced = runtime.tool("traced").expect("it is registered").listing();
    assert!(
        traced["inputSchema"]["required"].is_null(),
        "an `Option` may be left out: {traced}"
    );
}
