//! The block lacks its attribute.
struct Deployer;

impl Deployer {
    fn plan(&self) -> u8 {
        1
    }
}

fn main() {
    mcp_tasks::runtime::Runtime::builder("test", "1").tasks_of(Deployer);
}
