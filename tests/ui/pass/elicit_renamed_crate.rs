//! The crate is found under another name, and shadowed names do no harm.

pub struct String;
pub struct Option;
pub struct Vec;
pub struct Result;

mod form {
    #[derive(tasks::Elicit)]
    #[elicit(crate = "tasks")]
    pub struct Approval {
        pub approve: bool,
    }
}

#[derive(tasks::Elicit)]
#[elicit(crate = "::mcp_tasks")]
pub enum Window {
    Tonight,
    NextMonday,
}

#[test]
fn shadowed_names_do_no_harm() {
    let form = <form::Approval as tasks::Elicit>::form();
    assert!(form.is_required("approve"));
    let approval = form::Approval { approve: true };
    assert!(approval.approve);
    assert_eq!(<Window as tasks::Elicit>::form().fields().len(), 1);
}
