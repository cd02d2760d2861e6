//! Forms that have been asked before.
//!
//! A type has one form. It is made, checked and written as JSON when its type
//! is first asked for; from then on all questions share it, and answers are
//! judged against it without reading it back.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use serde_json::value::RawValue;

use super::{ANSWER, Elicit};
use crate::protocol::{Choice, Field, FieldError, FieldKind, Form};

/// The form of a type.
#[derive(Clone, Debug)]
pub(crate) struct KnownForm {
    pub(crate) form: Arc<Form>,
    /// The form as it stands in a request.
    pub(crate) json: Arc<RawValue>,
}

/// Why a type cannot be asked for: what its form would need and a form cannot
/// have, or contradicts itself in.
///
/// Its `Display` names the type, every field at fault, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    ty: String,
    faults: Vec<FieldError>,
}

impl FormError {
    /// What is wrong, field by field.
    pub fn faults(&self) -> &[FieldError] {
        &self.faults
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be asked for in a form: ", self.ty)?;
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FormError {}

type Known = Result<KnownForm, Arc<FormError>>;

/// As many as the program has types that it asks for.
static KNOWN: LazyLock<RwLock<HashMap<TypeId, Known>>> = LazyLock::new(RwLock::default);

/// The form of a type, made once.
///
/// # Errors
///
/// Why the type has none.
pub(crate) fn known_form<T: Elicit>() -> Known {
    let of = TypeId::of::<T>();
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(&of) {
        return known.clone();
    }
    drop(known);
    let made = make::<T>();
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.entry(of).or_insert(made).clone()
}

fn make<T: Elicit>() -> Known {
    let faults = T::faults();
    if !faults.is_empty() {
        // The module that the adapter stands in tells the reader nothing.
        let ty = type_name::<T>().replace("mcp_tasks::elicit::schema::", "");
        return Err(Arc::new(FormError { ty, faults }));
    }
    Ok(written(T::form()))
}

/// The form that asks for one of these, which is made for one question.
///
/// # Errors
///
/// That there are none, or that one is there twice.
pub(crate) fn choice_form(choices: Vec<Choice>) -> Known {
    let form = Form::new().require(ANSWER, Field::new(FieldKind::select(choices)));
    let faults = form.faults();
    if !faults.is_empty() {
        let ty = "String".to_owned();
        return Err(Arc::new(FormError { ty, faults }));
    }
    Ok(written(form))
}

fn written(form: Form) -> KnownForm {
    let json = RawValue::from_string(form.to_json_text()).expect("a form's text is JSON");
    KnownForm {
        form: Arc::new(form),
        json: json.into(),
    }
}

/// Whether a type can be asked for: for a unit test, where it is found before
/// anybody is asked.
///
/// What the types say is checked when they are compiled, so this is for
/// defaults that are computed, and for [`FromSchema`](super::FromSchema). A
/// server checks what it knows of when it is built; a question with a form that
/// cannot be is not asked, and fails its task in these words.
///
/// ```
/// use mcp_tasks::{Elicit, elicit};
///
/// #[derive(Elicit)]
/// struct Rollout {
///     #[elicit(max = 100, default = HALF)]
///     percent: u8,
/// }
/// const HALF: u8 = 50;
///
/// elicit::check::<Rollout>().unwrap();
/// ```
///
/// # Errors
///
/// Everything that is wrong with its form.
pub fn check<T: Elicit>() -> Result<(), FormError> {
    known_form::<T>().map(drop).map_err(Arc::unwrap_or_clone)
}
