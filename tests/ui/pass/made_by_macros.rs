//! What a macro of the user's makes is marked like anything else.
use mcp_tasks::prelude::*;

macro_rules! tool {
    ($name:ident, $argument:ident: $type:ty, $default:expr, $words:literal, $ttl:literal) => {
        #[mcp_task(ttl = $ttl)]
        async fn $name(
            $argument: $type,
            #[arg(default = $default)] other: u8,
        ) -> Result<String, ToolError> {
            let answer: $type = ask_user($words).await?;
            let taken = step(async { Ok::<_, std::io::Error>($default) }).await?;
            confirm(&$words).await?;
            Ok(format!("{} {} {answer} {taken}", $argument, other))
        }
    };
}

tool!(made, name: String, 3 + 1, "Name?", "1h");

macro_rules! tools {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[mcp_task]
        async fn $name($($argument: $type),*) -> Result<String, ToolError> $body
    )*};
}

tools! {
    first(number: u8, text: String) {
        let sure: bool = ask_user(format!("{number}?")).await?;
        Ok(format!("{text} {sure}"))
    }
    second() { Ok(String::new()) }
}

macro_rules! flow {
    ($name:ident, $type:ty) => {
        #[mcp_task_flow]
        async fn $name(what: $type) -> Result<bool, AskError> {
            let sure: bool = ask_user(what).await?;
            Ok(sure)
        }
    };
}

flow!(confirm, &str);

macro_rules! methods {
    ($owner:ident, $method:ident, $type:ty) => {
        struct $owner;

        #[mcp_task_impl]
        impl $owner {
            #[mcp_task]
            async fn $method(
                &self,
                argument: $type,
                State(state): State<$type>,
            ) -> Result<String, ToolError> {
                let sure = self.sure().await?;
                Ok(format!("{argument} {state} {sure}"))
            }

            #[mcp_task_flow]
            async fn sure(&self) -> Result<bool, AskError> {
                ask_user("Sure?").await
            }
        }
    };
}

methods!(Deployer, deploy, u8);

macro_rules! form {
    ($form:ident { $field:ident: $type:ty = $default:expr }, $choice:ident) => {
        #[derive(Elicit)]
        struct $form {
            #[elicit(default = $default, title = "A number")]
            $field: $type,
            choice: $choice,
        }

        #[derive(Elicit)]
        enum $choice {
            One,
            Two,
        }
    };
}

form!(Form { count: u8 = 3 }, Choice);
