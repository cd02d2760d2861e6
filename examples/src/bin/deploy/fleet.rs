//! The services that are deployed, as far as an example needs them: in memory,
//! with a moment's delay in place of real work.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_tasks::Elicit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

/// Where services run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Environment {
    /// For trying out
    Staging,
    /// For everybody
    Production,
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Staging => "staging",
            Self::Production => "production",
        })
    }
}

/// When a deployment may go on to all traffic. A person chooses it, and the
/// result repeats it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema, Elicit)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Window {
    /// Tonight, 22:00 to 24:00
    Tonight,
    /// Next Monday morning
    NextMonday,
}

/// What a deployment will do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    service: String,
    env: Environment,
    from: u32,
    to: u32,
    instances: u32,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, .. } = self;
        writeln!(f, "Release {from} is replaced by release {to}")?;
        write!(f, "on {} instances in {}.", self.instances, self.env)
    }
}

/// What a deployment has done.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Deployed {
    /// The service that was deployed
    service: String,
    /// Where it runs
    env: Environment,
    /// The release that runs now
    release: u32,
    /// The share of traffic that it gets, in percent
    percent: u8,
    /// When it gets the rest
    rest: Window,
    /// Who is told then
    #[serde(skip_serializing_if = "Option::is_none")]
    notify: Option<String>,
}

/// Why something cannot be deployed.
#[derive(Debug, thiserror::Error)]
#[error("there is no service `{0}`; there are billing, search and web")]
pub(crate) struct UnknownService(String);

/// All services; a cheap handle.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    services: Arc<Mutex<BTreeMap<String, Service>>>,
}

#[derive(Debug)]
struct Service {
    release: u32,
    percent: u8,
    instances: u32,
}

impl Fleet {
    /// The fleet as every run of the example finds it.
    pub(crate) fn connect() -> Self {
        let service = |(name, release, instances): (&str, u32, u32)| {
            let service = Service {
                release,
                percent: 100,
                instances,
            };
            (name.to_owned(), service)
        };
        let services = [("billing", 41, 12), ("search", 7, 30), ("web", 118, 8)];
        Self {
            services: Arc::new(Mutex::new(services.map(service).into())),
        }
    }

    /// Works out what deploying a service means.
    pub(crate) async fn plan(
        &self,
        service: &str,
        env: Environment,
    ) -> Result<Plan, UnknownService> {
        sleep(Duration::from_millis(40)).await;
        let services = self.services();
        let current = services
            .get(service)
            .ok_or_else(|| UnknownService(service.to_owned()))?;
        Ok(Plan {
            service: service.to_owned(),
            env,
            from: current.release,
            to: current.release + 1,
            instances: current.instances,
        })
    }

    /// Gives the new release its share of traffic.
    pub(crate) async fn roll_out(&self, plan: &Plan, percent: u8) -> Result<(), UnknownService> {
        for _ in 0..plan.instances {
            sleep(Duration::from_millis(40)).await;
        }
        let mut services = self.services();
        let current = services
            .get_mut(&plan.service)
            .ok_or_else(|| UnknownService(plan.service.clone()))?;
        current.release = plan.to;
        current.percent = percent;
        Ok(())
    }

    /// What has become of a plan.
    pub(crate) fn report(&self, plan: &Plan, rest: Window, notify: Option<String>) -> Deployed {
        let services = self.services();
        let current = services.get(&plan.service);
        Deployed {
            service: plan.service.clone(),
            env: plan.env,
            release: current.map_or(plan.from, |service| service.release),
            percent: current.map_or(100, |service| service.percent),
            rest,
            notify,
        }
    }

    fn services(&self) -> MutexGuard<'_, BTreeMap<String, Service>> {
        // Nothing panics while it is locked.
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
