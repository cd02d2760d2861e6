//! Questions in every order: one after the other, as many as it takes, only if
//! an earlier answer calls for them, and several at once.
//!
//! The tool `survey` plans a day out. It asks how everybody travels, then what
//! only that way of travelling needs, then for guests until there are no more,
//! and at last every guest at the same time. It is an ordinary function: the loop
//! is a `loop`, the branches are a `match`, and an answer is a variable.
//!
//! ```sh
//! cargo build # a server must be there within two minutes of its start
//! cargo run -p mcp-tasks --features cli -- \
//!     call survey occasion="Our summer party" -- cargo run --quiet --bin survey
//! ```
//!
//! A client that cannot show questions is no obstacle. With
//!
//! ```sh
//! cargo run --bin survey -- --http 127.0.0.1:8000 --inbox
//! ```
//!
//! they are on a web page, too, at `http://127.0.0.1:8000/inbox`; call the tool at
//! `--http http://127.0.0.1:8000/mcp` then. Whoever is first answers.
//!
//! The keys of the questions, by which a client answers them, are the names of
//! the variables: `trip`, `train` or `car`, `guest`, `guest#2` and so on, then
//! `food/meal` and `umbrellas/bool` for the branches of `join!`, and
//! `wishes/wish`, `wishes#2/wish` for each pass through the helper `wishes`.

use std::net::SocketAddr;

use clap::Parser;
use mcp_tasks::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// How many guests a person is asked for at the most: what repeats needs an end.
const MOST_GUESTS: usize = 8;

/// The first form. Doc comments are what a person reads beside each field.
#[derive(Elicit)]
struct Trip {
    /// How do you get there?
    by: Travel,
    /// On which day?
    #[elicit(format = "date")]
    day: String,
    /// What may it cost, in euros for each of you?
    #[elicit(min = 0, max = 500, default = 40)]
    budget: u16,
}

/// A choice: the doc comments are what is shown, the names what is sent.
#[derive(Clone, Copy, Serialize, JsonSchema, Elicit)]
#[serde(rename_all = "snake_case")]
enum Travel {
    /// By train
    Train,
    /// By car
    Car,
    /// On foot
    OnFoot,
}

#[derive(Elicit)]
struct Train {
    /// Does anybody have a rail pass?
    #[elicit(default = false)]
    rail_pass: bool,
}

#[derive(Elicit)]
struct Car {
    /// How many seats are there?
    #[elicit(min = 1, max = 9)]
    seats: u8,
}

#[derive(Elicit)]
struct Guest {
    /// The guest's name
    #[elicit(min_len = 1, max_len = 40)]
    name: String,
    /// Where the invitation goes
    #[elicit(format = "email")]
    address: Option<String>,
}

#[derive(Clone, Copy, Serialize, JsonSchema, Elicit)]
#[serde(rename_all = "snake_case")]
enum Meal {
    /// A picnic
    Picnic,
    /// A restaurant
    Restaurant,
}

/// What a guest may wish for: one or two of these.
#[derive(Elicit)]
struct Wish {
    #[elicit(min_items = 1, max_items = 2)]
    activities: Vec<Activity>,
}

#[derive(Clone, Copy, Serialize, JsonSchema, Elicit)]
#[serde(rename_all = "snake_case")]
enum Activity {
    Swimming,
    Museum,
    /// A boat on the lake
    Boat,
}

/// The result. Its schema becomes the tool's output schema.
#[derive(Serialize, JsonSchema)]
struct Plan {
    occasion: String,
    day: String,
    by: Travel,
    budget: u16,
    /// What has to be seen to before
    notes: Vec<String>,
    meal: Meal,
    guests: Vec<Invited>,
}

#[derive(Serialize, JsonSchema)]
struct Invited {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// What they wish for; nothing from guests who did not say
    wishes: Vec<Activity>,
}

/// Plans a day out with whoever comes along.
#[mcp_task(ttl = "7d", poll_interval = "200ms")]
async fn survey(
    /// What the day is called
    #[arg(min_len = 1, max_len = 80, default = "A day out")]
    occasion: String,
) -> Result<Json<Plan>, ToolError> {
    // Without this answer there is nothing to plan: declined, it ends the task, with
    // words that say so.
    let trip: Trip = ask_user(format!("{occasion}: how and when?")).await?;

    let mut notes = Vec::new();
    let seats = match trip.by {
        Travel::Train => {
            let train: Train = ask_user("About the train").await?;
            let fare = if train.rail_pass { "reduced" } else { "full" };
            notes.push(format!("buy tickets at the {fare} fare"));
            MOST_GUESTS
        }
        Travel::Car => {
            let car: Car = ask_user("About the car").await?;
            // One seat is the driver's.
            MOST_GUESTS.min(usize::from(car.seats) - 1)
        }
        Travel::OnFoot => MOST_GUESTS,
    };

    // `.optional()` gives `None` where a person declines: no more guests.
    let mut guests: Vec<Guest> = Vec::new();
    while guests.len() < seats {
        set_status(format!("{} of at most {seats} guests", guests.len()));
        let question = if guests.is_empty() {
            "Who comes along? Decline if nobody does."
        } else {
            "Who else? Decline if that is everybody."
        };
        let guest: Option<Guest> = ask_user(question).optional().await?;
        let Some(guest) = guest else { break };
        guests.push(guest);
    }

    // Both are asked at once, and answered in any order.
    let (meal, umbrellas) = try_join!(
        food: ask_user::<Meal>("What do you eat?"),
        umbrellas: ask_user::<bool>("Shall we bring umbrellas?"),
    )?;
    if umbrellas {
        notes.push("bring umbrellas".to_owned());
    }

    // So are all guests, however many there are.
    set_status("asking everybody what they wish for");
    let wishes = join_all(guests.iter().map(|guest| wishes(&guest.name))).await;
    let guests = guests.into_iter().zip(wishes).map(|(guest, wishes)| {
        Ok(Invited {
            name: guest.name,
            address: guest.address,
            wishes: wishes?,
        })
    });
    Ok(Json(Plan {
        occasion,
        day: trip.day,
        by: trip.by,
        budget: trip.budget,
        notes,
        meal,
        guests: guests.collect::<Result<_, AskError>>()?,
    }))
}

/// What one guest wishes for: a part of the task with a function of its own. A
/// guest who does not say, or not within a day, wishes for nothing.
#[mcp_task_flow]
async fn wishes(guest: &str) -> Result<Vec<Activity>, AskError> {
    let wish: Result<Option<Wish>, AskError> =
        ask_user(format!("{guest}, what would you like to do?"))
            .timeout(Duration::from_secs(24 * 3600))
            .optional()
            .await;
    match wish {
        Ok(wish) => Ok(wish.map(|wish| wish.activities).unwrap_or_default()),
        Err(AskError::TimedOut) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Serves the tool `survey` over stdin and stdout.
#[derive(Parser)]
struct Cli {
    /// Serve over HTTP instead, at the path /mcp
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Show the questions on a page at /inbox, too, to everybody who can reach it
    #[arg(long, requires = "http")]
    inbox: bool,
}

#[tokio::main]
async fn main() -> Result<(), mcp_tasks::Error> {
    let Cli { http, inbox } = Cli::parse();
    let mut server = TaskServer::new("survey", env!("CARGO_PKG_VERSION")).task(survey);
    if inbox {
        // Where several people come, `.inbox()`, behind what says who they are.
        server = server.inbox_for_anybody();
    }
    match http {
        None => server.serve_stdio().await,
        Some(address) => server.serve_http(address).await,
    }
}
