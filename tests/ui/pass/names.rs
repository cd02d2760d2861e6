//! Raw identifiers, modules, shadowed names and names that we use ourselves.

mod tools {
    use mcp_tasks::prelude::*;

    /// Keywords are names too.
    #[mcp_task]
    pub async fn r#match(r#type: String, r#in: u8) -> Result<String, ToolError> {
        let r#final: bool = ask_user("Sure?").await?;
        Ok(format!("{} {} {}", r#type, r#in, r#final))
    }

    /// The parameters have names of the expansion.
    #[mcp_task]
    pub async fn call(
        call: String,
        argument_0: String,
        __flow: String,
        __body: String,
        State(flow): State<u8>,
    ) -> Result<String, ToolError> {
        let __branch: bool =
            ask_user(format!("{call} {argument_0} {__flow} {__body} {flow}")).await?;
        let (a, b) = join!(ask_user::<bool>("A?"), ask_user::<u8>("B?"));
        Ok(format!("{__branch} {__flow} {a:?} {b:?}"))
    }
}

/// The prelude's types are other ones here.
mod shadowed {
    #![allow(dead_code, reason = "they only stand in the way")]

    use mcp_tasks::prelude::{
        AskError, Elicit, State, ToolError, ask_user, join, mcp_task, mcp_task_flow, mcp_task_impl,
    };

    struct Option;
    struct Result;
    struct Box;
    struct String;
    struct Vec;
    struct Arguments;
    struct Flow;
    struct Body;
    struct Bind;
    struct Ok;
    struct Err;
    struct Some;
    struct None;
    struct Default;
    struct Into;
    struct From;
    struct Clone;
    struct Send;
    struct Future;
    struct FnOnce;
    struct Iterator;
    struct Arc;
    struct Duration;
    struct Json;
    struct FlowCall;
    mod core {}
    mod std {}
    mod alloc {}
    mod serde {}
    mod schemars {}

    /// Asks.
    #[mcp_task]
    async fn ask(
        #[arg(min = 1, default = 2)] number: u8,
        #[arg(default = "x", max_len = 3)] text: ::std::string::String,
        #[arg(default = ["x"])] r#type: ::std::vec::Vec<::std::string::String>,
    ) -> ::core::result::Result<(), ToolError> {
        let sure: bool = ask_user("Sure?").await?;
        let _ = (sure, number, text, r#type);
        ::core::result::Result::Ok(())
    }

    /// Is asked for.
    #[derive(Elicit)]
    struct Form {
        sure: bool,
        #[elicit(default = Plain)]
        kind: Kind,
    }

    #[derive(Elicit)]
    enum Kind {
        Plain,
        Fancy,
    }

    struct Desk;

    #[mcp_task_impl]
    impl Desk {
        #[mcp_task]
        async fn sign(
            &self,
            #[arg(default)] copies: u8,
            State(state): State<u16>,
        ) -> ::core::result::Result<(), ToolError> {
            let form: Form = ask_user("Sure?").await?;
            let _ = (form.sure, form.kind, copies, state);
            let (left, right) = join!(self.check(), async { self.check().await });
            left?;
            right?;
            ::core::result::Result::Ok(())
        }

        #[mcp_task_flow]
        async fn check(&self) -> ::core::result::Result<(), AskError> {
            ask_user("Sure?").await
        }
    }
}
