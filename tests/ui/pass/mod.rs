//! What must compile. Lints are at their strictest in `lints`; elsewhere only
//! what a case leaves undocumented and unused is let pass.

pub mod lints;

macro_rules! cases {
    ($($case:ident)*) => {$(
        #[allow(
            dead_code,
            missing_docs,
            unreachable_pub,
            clippy::cast_precision_loss,
            clippy::redundant_closure,
            clippy::uninlined_format_args,
            clippy::unnecessary_wraps,
            clippy::unused_async,
            clippy::useless_vec,
            reason = "it is enough that it compiles"
        )]
        mod $case;
    )*};
}

cases! {
    awaits
    elicit_confirmation
    elicit_fields
    elicit_renamed_crate
    expressions
    hygiene
    imports
    joins
    made_by_macros
    names
    own_functions
    places
    start
    steps
}
