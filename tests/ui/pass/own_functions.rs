//! A user's own functions of our names are left as they are.
use mcp_tasks::prelude::*;

mod own {
    pub fn ask_user(question: &str) -> &str {
        question
    }

    pub fn step(numbers: &mut Vec<u32>) -> &mut u32 {
        numbers.push(1);
        &mut numbers[0]
    }

    pub fn sleep(seconds: u64) -> u64 {
        seconds
    }

    pub async fn step_value(number: u32) -> Result<u32, std::fmt::Error> {
        Ok(number)
    }
}

mod within {
    use mcp_tasks::__private::{Body, CallContext, TaskCall};
    use mcp_tasks::prelude::mcp_task;

    fn step(number: u32) -> u32 {
        number + 1
    }

    fn set_status(text: &str) -> usize {
        text.len()
    }

    fn step_value(number: u32) -> Result<u32, std::fmt::Error> {
        Ok(number)
    }

    #[mcp_task]
    async fn fallible(number: u32) -> Result<String, std::fmt::Error> {
        let mut sum = step_value(number)?;
        if let Ok(more) = step_value(1) {
            sum += more;
        }
        match self::step_value(sum) {
            Ok(sum) => Ok(format!("{sum} {}", self::step_value(2)?.min(1))),
            Err(error) => Err(error),
        }
    }

    #[mcp_task]
    pub(super) async fn count(number: u32) -> String {
        fn ask_user(number: u32) -> u32 {
            number
        }
        let next = step(number) + step(2);
        let length = set_status("text") + 1;
        let more: Vec<u32> = (0..3).map(|n| ask_user(n)).collect();
        format!("{next} {length} {more:?}")
    }

    pub fn uses(call: &CallContext<'_>) -> Option<Body> {
        Some(
            <CountCall as TaskCall<(u32,)>>::decode(call)
                .ok()?
                .into_body(),
        )
    }
}

#[mcp_task]
async fn deploy(service: String) -> Result<String, ToolError> {
    let question = own::ask_user(&service).len();
    let mut numbers = Vec::new();
    *own::step(&mut numbers) += 1;
    own::sleep(3);
    let other = own::sleep(4);
    let number = step(own::step_value(3)).await?;
    Ok(format!("{question} {numbers:?} {other} {number}"))
}

#[expect(dead_code, reason = "it is enough that it compiles")]
fn uses(call: &mcp_tasks::__private::CallContext<'_>) {
    let _ = within::uses(call);
}
