//! The attribute's own arguments: `#[mcp_task(ttl = "24h", ..)]`.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Ident, LitBool, LitInt, LitStr, Path, Token, parse_quote};

use super::listing::Listing;
use super::report::Report;
use super::{duration, messages};

/// Every key, in the order in which an error lists them.
pub(crate) const KEYS: [&str; 17] = [
    "name",
    "title",
    "description",
    "annotations",
    "icons",
    "meta",
    "ttl",
    "poll_interval",
    "support",
    "inline",
    "replay",
    "cancel_grace",
    "concurrency",
    "state_ttl",
    "once",
    "version",
    "crate",
];

/// What a client that does not say otherwise gets, in milliseconds.
const DEFAULT_TTL: u64 = 86_400_000;

/// Keys that seal are kept for no longer: a week, in milliseconds.
const LONGEST_STATE_TTL: u64 = 7 * 86_400_000;

/// A value and where it stands.
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// Whether a call may, must or must not become a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Support {
    Optional,
    Required,
    Forbidden,
}

/// What was given; `None` where the runtime's default holds.
pub(crate) struct Attribute {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    /// Annotations, icons and `_meta`.
    pub(crate) listing: Listing,
    /// Milliseconds; the inner `None` is `ttl = "none"`.
    pub(crate) ttl: Option<Given<Option<u64>>>,
    pub(crate) poll_interval: Option<Given<u64>>,
    pub(crate) support: Option<Given<Support>>,
    pub(crate) inline: Option<Given<u64>>,
    pub(crate) replay: bool,
    pub(crate) cancel_grace: Option<Given<u64>>,
    pub(crate) concurrency: Option<u32>,
    pub(crate) state_ttl: Option<Given<u64>>,
    pub(crate) once: bool,
    pub(crate) version: Option<LitInt>,
    /// `::mcp_tasks`, unless the user has renamed the crate.
    pub(crate) krate: Path,
}

impl Default for Attribute {
    fn default() -> Self {
        Self {
            name: None,
            title: None,
            description: None,
            listing: Listing::default(),
            ttl: None,
            poll_interval: None,
            support: None,
            inline: None,
            replay: true,
            cancel_grace: None,
            concurrency: None,
            state_ttl: None,
            once: true,
            version: None,
            krate: parse_quote!(::mcp_tasks),
        }
    }
}

impl Attribute {
    /// Reads the arguments; what cannot be read is reported and left out.
    pub(crate) fn parse(tokens: TokenStream, report: &Report) -> Self {
        Self::parse_over(Self::default(), tokens, report)
    }

    /// The same, over what holds where nothing is said.
    pub(crate) fn parse_over(mut attribute: Self, tokens: TokenStream, report: &Report) -> Self {
        let entries = (|input: ParseStream<'_>| {
            let mut seen: Vec<String> = Vec::new();
            while !input.is_empty() {
                if let Err(error) = attribute.entry(input, &mut seen, report) {
                    report.syn(error);
                    // One bad entry does not hide what is wrong with the next.
                    while !input.is_empty() && !input.peek(Token![,]) {
                        input.parse::<proc_macro2::TokenTree>()?;
                    }
                }
                if input.is_empty() {
                    break;
                }
                if let Err(error) = input.parse::<Token![,]>() {
                    report.syn(error);
                    break;
                }
            }
            // Nothing may be left, or syn adds an error of its own.
            input.parse::<TokenStream>().map(drop)
        })
        .parse2(tokens);
        if let Err(error) = entries {
            report.syn(error);
        }
        attribute.check_together(report);
        attribute
    }

    fn entry(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Vec<String>,
        report: &Report,
    ) -> syn::Result<()> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error(messages::ATTRIBUTE_SYNTAX));
        }
        let key = input.call(Ident::parse_any)?;
        let name = key.to_string();
        if !KEYS.contains(&name.as_str()) {
            return Err(syn::Error::new(key.span(), messages::unknown_key(&name)));
        }
        if seen.contains(&name) {
            report.error(key.span(), messages::repeated_attribute_key(&name));
        }
        if name == "annotations" {
            seen.push(name);
            return self.listing.annotations(input, report);
        }
        if !input.peek(Token![=]) {
            return Err(syn::Error::new(
                key.span(),
                messages::key_without_value(&name),
            ));
        }
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            let message = messages::key_without_value(&name);
            return Err(syn::Error::new(key.span(), message));
        }
        match name.as_str() {
            "name" => self.name = Some(text(input, &name)?),
            "title" => self.title = Some(text(input, &name)?),
            "description" => self.description = Some(text(input, &name)?),
            "icons" => self.listing.icons(input, report)?,
            "meta" => self.listing.meta(input)?,
            "ttl" => self.ttl = Some(ttl(input)?),
            "poll_interval" => self.poll_interval = Some(milliseconds(input, &name)?),
            "support" => self.support = Some(support(input)?),
            "inline" => self.inline = Some(milliseconds(input, &name)?),
            "replay" => {
                self.replay = value::<LitBool>(input, messages::REPLAY_EXPECTED)?.value;
            }
            "cancel_grace" => self.cancel_grace = Some(milliseconds(input, &name)?),
            "concurrency" => self.concurrency = Some(concurrency(input)?),
            "state_ttl" => self.state_ttl = Some(milliseconds(input, &name)?),
            "once" => self.once = value::<LitBool>(input, messages::ONCE_EXPECTED)?.value,
            "version" => self.version = Some(version(input)?),
            _ => self.krate = value(input, messages::PATH_EXPECTED)?,
        }
        seen.push(name);
        Ok(())
    }

    /// Why the body may not have a `start_task()`.
    pub(crate) fn no_start(&self) -> Option<&'static str> {
        let support = self.support.as_ref().map(|support| support.value);
        if support == Some(Support::Forbidden) {
            Some(messages::START_FORBIDDEN)
        } else if !self.replay {
            Some(messages::START_WITHOUT_REPLAY)
        } else if self.inline.is_some() {
            Some(messages::START_WITH_INLINE)
        } else {
            None
        }
    }

    /// Mistakes that only two values together make.
    fn check_together(&self, report: &Report) {
        if let Some(poll) = &self.poll_interval {
            let ttl = match &self.ttl {
                Some(given) => given.value,
                None => Some(DEFAULT_TTL),
            };
            if ttl.is_some_and(|ttl| poll.value > ttl) {
                report.error(
                    poll.span,
                    messages::poll_longer_than_ttl(self.ttl.is_some()),
                );
            }
        }
        if let Some(state_ttl) = &self.state_ttl
            && state_ttl.value > LONGEST_STATE_TTL
        {
            report.error(state_ttl.span, messages::STATE_TTL_TOO_LONG);
        }
        if let (Some(inline), Some(support)) = (&self.inline, &self.support)
            && support.value == Support::Required
        {
            report.error(inline.span, messages::INLINE_WITH_REQUIRED);
        }
    }
}

/// A value of one kind, with our words if it is of another.
fn value<T: Parse>(input: ParseStream<'_>, expected: &str) -> syn::Result<T> {
    let ahead = input.fork();
    match ahead.parse::<T>() {
        Ok(_) => input.parse(),
        Err(_) => Err(input.error(expected)),
    }
}

fn text(input: ParseStream<'_>, key: &str) -> syn::Result<LitStr> {
    let ahead = input.fork();
    let given = ahead.call(Ident::parse_any).ok();
    let is_all = ahead.is_empty() || ahead.peek(Token![,]);
    let given = given.filter(|_| is_all).map(|given| given.to_string());
    value(input, &messages::text_expected(key, given.as_deref()))
}

fn milliseconds(input: ParseStream<'_>, key: &str) -> syn::Result<Given<u64>> {
    // `-1` is told that it is negative rather than that it is not text.
    if input.peek(Token![-]) {
        return Err(input.error(messages::negative_duration("-..")));
    }
    let text: LitStr = value(input, messages::DURATION_EXPECTED)?;
    if text.value() == "none" {
        return Err(syn::Error::new(text.span(), messages::no_duration(key)));
    }
    match duration::parse(&text.value()) {
        Ok(value) => Ok(Given {
            value,
            span: text.span(),
        }),
        Err(message) => Err(syn::Error::new(text.span(), message)),
    }
}

fn ttl(input: ParseStream<'_>) -> syn::Result<Given<Option<u64>>> {
    let ahead = input.fork();
    if let Ok(text) = ahead.parse::<LitStr>()
        && text.value() == "none"
    {
        let span = input.parse::<LitStr>()?.span();
        return Ok(Given { value: None, span });
    }
    milliseconds(input, "ttl").map(|given| Given {
        value: Some(given.value),
        span: given.span,
    })
}

fn support(input: ParseStream<'_>) -> syn::Result<Given<Support>> {
    let text: LitStr = value(input, messages::SUPPORT_EXPECTED)?;
    let value = match text.value().as_str() {
        "optional" => Support::Optional,
        "required" => Support::Required,
        "forbidden" => Support::Forbidden,
        _ => return Err(syn::Error::new(text.span(), messages::SUPPORT_EXPECTED)),
    };
    Ok(Given {
        value,
        span: text.span(),
    })
}

fn concurrency(input: ParseStream<'_>) -> syn::Result<u32> {
    let number: LitInt = value(input, messages::CONCURRENCY_EXPECTED)?;
    let message = match number.base10_parse() {
        Ok(0) => messages::NO_CONCURRENCY,
        Ok(seats) => return Ok(seats),
        Err(_) => messages::CONCURRENCY_EXPECTED,
    };
    Err(syn::Error::new(number.span(), message))
}

fn version(input: ParseStream<'_>) -> syn::Result<LitInt> {
    let number: LitInt = value(input, messages::VERSION_EXPECTED)?;
    match number.base10_parse::<u32>() {
        Ok(1..) => Ok(number),
        _ => Err(syn::Error::new(number.span(), messages::VERSION_EXPECTED)),
    }
}
