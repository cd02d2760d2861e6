//! What servers did to the world: a folder with a file for each task, to which
//! every effect of a step appends a line.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// All effects so far.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    tasks: HashMap<String, Vec<Effect>>,
}

/// A line of a task's file.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The key of the step.
    pub key: String,
    /// How often the step had begun when it did, as far as its process saw.
    pub attempt: usize,
    /// Who did it.
    pub process: u32,
    /// When it went on to do it, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

impl Effects {
    /// Reads the folder; none is an empty one.
    ///
    /// # Errors
    ///
    /// A line that no server writes.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let mut effects = Self::default();
        for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(file.path())
                .map_err(|error| format!("{}: {error}", file.path().display()))?;
            let lines = text
                .lines()
                .map(|line| parse(line).ok_or_else(|| format!("not a line of effects: {line:?}")));
            let task = file.file_name().to_string_lossy().into_owned();
            effects.tasks.insert(task, lines.collect::<Result<_, _>>()?);
        }
        Ok(effects)
    }

    /// Where only one server lives at a time, each sees what those before it did.
    ///
    /// # Errors
    ///
    /// A step that two servers did at once.
    pub fn one_at_a_time(&self) -> Result<(), String> {
        for (task, effects) in &self.tasks {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for effect in effects {
                let count = counts.entry(&effect.key).or_default();
                *count += 1;
                if *count != effect.attempt {
                    return Err(format!(
                        "two servers did {task}/{} at once: {effect:?}",
                        effect.key
                    ));
                }
            }
        }
        Ok(())
    }

    /// What was done for a task, in order.
    pub fn of(&self, task: &str) -> &[Effect] {
        self.tasks.get(task).map_or(&[], Vec::as_slice)
    }

    /// How often a step of a task had its effect.
    pub fn count(&self, task: &str, key: &str) -> usize {
        let of_step = |effect: &&Effect| effect.key == key;
        self.of(task).iter().filter(of_step).count()
    }

    /// Whether this process did a step of a task.
    pub fn did(&self, task: &str, key: &str, process: &str) -> bool {
        let mut effects = self.of(task).iter();
        effects.any(|effect| effect.key == key && effect.process.to_string() == process)
    }

    /// The keys of a task's steps, in the order of their first effects.
    pub fn keys(&self, task: &str) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for Effect { key, .. } in self.of(task) {
            if key != "peek" && !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        keys
    }

    /// What was done for a task, for a person to read.
    pub fn dump(&self, task: &str) -> String {
        let lines = self.of(task).iter().map(|effect| {
            let Effect {
                key,
                attempt,
                process,
                at_ms,
            } = effect;
            format!("  {at_ms} {key}, attempt {attempt}, by process {process}\n")
        });
        lines.collect()
    }
}

fn parse(line: &str) -> Option<Effect> {
    let mut parts = line.split('\t');
    Some(Effect {
        key: parts.next()?.to_owned(),
        attempt: parts.next()?.parse().ok()?,
        process: parts.next()?.parse().ok()?,
        at_ms: parts.next()?.parse().ok()?,
    })
}
