//! What a client's model is asked, and what it answers
//! (`sampling/createMessage`).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ContentBlock, object};

/// What a model is asked: see [`ask_model`](crate::ask_model).
///
/// ```
/// use mcp_tasks::ModelRequest;
///
/// let request = ModelRequest::new(400)
///     .system("You write release notes.")
///     .user("Three lines on what has changed: ..")
///     .temperature(0.2)
///     .hint("sonnet")
///     .speed_priority(0.8);
/// ```
///
/// All but the messages and the limit is a wish, which the client may pass over.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "it is asked with `ask_model`"]
pub struct ModelRequest {
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Preferences::is_empty")]
    model_preferences: Preferences,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Message {
    role: Role,
    content: ContentBlock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Preferences {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<Hint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intelligence_priority: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Hint {
    name: String,
}

impl Preferences {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ModelRequest {
    /// A request for an answer of at most so many tokens. It needs a message.
    pub fn new(max_tokens: u32) -> Self {
        Self {
            messages: Vec::new(),
            model_preferences: Preferences::default(),
            system_prompt: None,
            temperature: None,
            max_tokens,
            stop_sequences: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// Adds a message to the model: text, or a block of text, an image or a
    /// sound.
    pub fn user(self, content: impl Into<ContentBlock>) -> Self {
        self.message(Role::User, content.into())
    }

    /// Adds a message as if the model had said it.
    pub fn assistant(self, content: impl Into<ContentBlock>) -> Self {
        self.message(Role::Assistant, content.into())
    }

    fn message(mut self, role: Role, content: ContentBlock) -> Self {
        self.messages.push(Message { role, content });
        self
    }

    /// What the model is told before the messages.
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// How freely the model draws its words, in the provider's own measure.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text at which the model stops.
    pub fn stop(mut self, sequence: impl Into<String>) -> Self {
        self.stop_sequences.push(sequence.into());
        self
    }

    /// Adds a part of a model's name; of several, those that come first are
    /// preferred.
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.model_preferences.hints.push(Hint { name });
        self
    }

    /// How much it matters that the model is cheap, from 0 to 1.
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.model_preferences.cost_priority = Some(priority);
        self
    }

    /// How much it matters that the model is fast, from 0 to 1.
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.model_preferences.speed_priority = Some(priority);
        self
    }

    /// How much it matters that the model is capable, from 0 to 1.
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.model_preferences.intelligence_priority = Some(priority);
        self
    }

    /// Adds something for the provider of the model.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// What cannot be asked, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.messages.is_empty() {
            return Err("it has no message: add one with `.user(..)`".to_owned());
        }
        for message in &self.messages {
            let kind = message.content.kind().unwrap_or_default();
            if !matches!(kind, "text" | "image" | "audio") {
                return Err(format!(
                    "a message to a model is text, an image or a sound, not a block `{kind}`"
                ));
            }
        }
        if self.temperature.is_some_and(|it| !it.is_finite()) {
            return Err("its temperature is not a number".to_owned());
        }
        let wishes = &self.model_preferences;
        for (name, priority) in [
            ("cost_priority", wishes.cost_priority),
            ("speed_priority", wishes.speed_priority),
            ("intelligence_priority", wishes.intelligence_priority),
        ] {
            if let Some(priority) = priority
                && !(0.0..=1.0).contains(&priority)
            {
                return Err(format!("its `{name}` is {priority}, and not from 0 to 1"));
            }
        }
        Ok(())
    }
}

/// What a model answered: see [`ask_model`](crate::ask_model).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelReply {
    /// What it said: blocks of text, images and sounds.
    #[serde(deserialize_with = "blocks")]
    pub content: Vec<ContentBlock>,
    /// The model's name.
    pub model: String,
    /// Why it stopped, if known: `endTurn`, `stopSequence`, `maxTokens`, or a
    /// reason of the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl ModelReply {
    /// A reply of one block of text.
    pub fn of_text(text: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            model: model.into(),
            stop_reason: None,
        }
    }

    /// The text of all blocks of text, joined.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect()
    }

    /// Reads a client's result.
    pub(crate) fn read(result: &RawValue) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Spoken {
            #[serde(rename = "role")]
            _role: Role,
        }
        let _: Spoken = object(result)?;
        object(result)
    }

    /// About how many bytes it takes as JSON.
    pub(crate) fn weight(&self) -> usize {
        let blocks = serde_json::to_string(&self.content).map_or(0, |json| json.len());
        blocks + self.model.len() + self.stop_reason.as_ref().map_or(0, String::len) + 48
    }
}

/// One block or a list of them.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(ContentBlock),
        Many(Vec<ContentBlock>),
    }
    let blocks = match Written::deserialize(deserializer) {
        Ok(Written::One(block)) => vec![block],
        Ok(Written::Many(blocks)) => blocks,
        Err(_) => {
            return Err(D::Error::custom(
                "`content` must be a block or a list of blocks",
            ));
        }
    };
    for block in &blocks {
        let member = |name| block.get(name).and_then(Value::as_str);
        let missing = match block.kind() {
            None => Some("type"),
            Some("text") => member("text").is_none().then_some("text"),
            Some("image" | "audio") => ["data", "mimeType"]
                .into_iter()
                .find(|name| member(name).is_none()),
            // Whatever else there is, somebody else knows.
            Some(_) => None,
        };
        if let Some(name) = missing {
            return Err(D::Error::custom(format!(
                "a block of `content` has no text in `{name}`"
            )));
        }
    }
    Ok(blocks)
}
