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

/// The same of methods, flows and choices.
mod bare_methods {
    #![no_implicit_prelude]

    pub struct Desk {
        pub region: ::std::string::String,
    }

    #[::tasks::mcp_task_impl(crate = ::tasks)]
    impl Desk {
        #[::tasks::mcp_task(ttl = "1h")]
        pub async fn sign(
            &self,
            paper: ::std::string::String,
            #[arg(default, min = 1)] copies: u8,
            #[serde(default)] draft: bool,
            #[arg(pattern = "^a", default = "a")] shelf: ::std::string::String,
            other: ::core::option::Option<u8>,
            state: ::tasks::State<u8>,
        ) -> ::core::result::Result<::tasks::Json<u8>, ::tasks::ToolError> {
            let sure = self.sure(&paper).await?;
            let _ = (copies, draft, shelf, other, sure);
            free("Sure?").await?;
            ::core::result::Result::Ok(::tasks::Json(state.0))
        }

        #[::tasks::mcp_task_flow(crate = ::tasks)]
        async fn sure(&self, paper: &str) -> ::core::result::Result<bool, ::tasks::AskError> {
            let _ = (paper, &self.region);
            let sure: bool = ::tasks::ask_user("Sure?").key("sure").await?;
            ::tasks::sleep(::core::time::Duration::from_secs(1)).await;
            ::core::result::Result::Ok(sure)
        }
    }

    #[::tasks::mcp_task_flow(crate = ::tasks)]
    async fn free(what: &str) -> ::core::result::Result<bool, ::tasks::AskError> {
        ::tasks::ask_user(what).await
    }

    #[derive(::tasks::Elicit)]
    #[elicit(crate = "::tasks")]
    pub enum Shelf {
        #[elicit(title = "Upper")]
        Upper,
        Lower,
    }

    #[derive(::tasks::Elicit)]
    #[elicit(crate = "::tasks")]
    pub struct Place {
        #[elicit(default = "x", min_len = 1)]
        pub name: ::std::string::String,
        #[elicit(default = Upper)]
        pub shelf: Shelf,
        #[elicit(default = [Upper])]
        pub shelves: ::std::vec::Vec<Shelf>,
        #[elicit(min = 1, default = 3)]
        pub row: ::core::option::Option<u8>,
        pub r#type: bool,
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
