//! About `impl` blocks and their methods.

pub(crate) const NOT_AN_IMPL: &str = "`#[mcp_task_impl]` goes on an `impl` block whose methods are \
     marked `#[mcp_task]`; a free function needs `#[mcp_task]` alone";
pub(crate) const IMPL_ATTRIBUTE: &str = "`#[mcp_task_impl]` takes nothing but `crate = path`: \
     everything else belongs to each method's own `#[mcp_task(..)]`";
pub(crate) const IMPL_OF_TRAIT: &str = "`#[mcp_task_impl]` cannot stand on the implementation of a \
     trait: put the task methods into an `impl` block of the type itself";
pub(crate) const IMPL_GENERICS: &str = "`#[mcp_task_impl]` cannot stand on a generic `impl` block: \
     a tool has one schema and one journal. Name the types: `impl Deployer<Cloud>`";
pub(crate) const IMPL_WHERE: &str = "`#[mcp_task_impl]` cannot stand on an `impl` block with a \
     `where` clause, as it has no generics to bound: remove it";
pub(crate) const IMPL_TYPE: &str = "`#[mcp_task_impl]` goes on the `impl` block of a struct or an \
     enum, by its name";
pub(crate) const IMPL_BORROWS: &str = "a type with task methods cannot borrow: a task outlives the \
     call that starts it. Let the type own what it holds, or share it as an `Arc`";
pub(crate) const IMPL_EMPTY: &str = "no method of this `impl` block is a task: mark those that are \
     with `#[mcp_task]`, or remove `#[mcp_task_impl]`";
pub(crate) const CONDITIONAL_MARK: &str = "a method is a task or it is none: write `#[mcp_task]`, \
     and put a `#[cfg(..)]` on the method if it is not always there";
pub(crate) const METHOD_WITHOUT_SELF: &str = "a task method takes `&self`: add it, or make this a \
     free function with `#[mcp_task]`";
pub(crate) const METHOD_MUT_SELF: &str = "a task method cannot take `&mut self`, as many calls share \
     one value: take `&self`, and keep what changes in a `Mutex` or an atomic";
pub(crate) const METHOD_SELF: &str = "a task method cannot take `self`, as many calls share one \
     value: take `&self`";
pub(crate) const METHOD_LIFETIME: &str = "a task method needs no lifetime for its value: write \
     `&self`";
