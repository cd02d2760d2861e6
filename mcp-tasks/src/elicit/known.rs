//! Forms that have been asked before.
//!
//! A type has one form. It is made and written as JSON when its type is first
//! asked for; from then on all questions share it, and answers are judged
//! against it without reading it back.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use serde_json::value::RawValue;

use super::Elicit;
use crate::protocol::Form;

/// The form of a type.
#[derive(Clone)]
pub(crate) struct KnownForm {
    pub(crate) form: Arc<Form>,
    /// The form as it stands in a request.
    pub(crate) json: Arc<RawValue>,
}

/// As many as the program has types that it asks for.
static KNOWN: LazyLock<RwLock<HashMap<TypeId, KnownForm>>> = LazyLock::new(RwLock::default);

/// The form of a type, made once.
pub(crate) fn known_form<T: Elicit>() -> KnownForm {
    let of = TypeId::of::<T>();
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(&of) {
        return known.clone();
    }
    drop(known);
    let form = T::form();
    let json = RawValue::from_string(form.to_json_text()).expect("a form's text is JSON");
    let made = KnownForm {
        form: Arc::new(form),
        json: json.into(),
    };
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.entry(of).or_insert(made).clone()
}
