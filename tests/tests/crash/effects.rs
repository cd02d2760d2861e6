//! The file of effects: all that servers did to the world.

use std::collections::HashMap;
use std::path::Path;

/// All effects so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    lines: Vec<Effect>,
    /// By task and key, as they stand in the file.
    counts: HashMap<String, usize>,
}

/// A line of the file.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    /// `TASK/KEY`.
    step: String,
    attempt: usize,
    process: u32,
}

impl Effects {
    /// Reads the file; none is an empty one.
    ///
    /// # Errors
    ///
    /// A line that no server writes.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut effects = Self::default();
        for line in text.lines() {
            let effect = parse(line).ok_or_else(|| format!("not a line of effects: {line:?}"))?;
            let count = effects.counts.entry(effect.step.clone()).or_default();
            *count += 1;
            if *count != effect.attempt {
                return Err(format!("two servers did {} at once: {line:?}", effect.step));
            }
            effects.lines.push(effect);
        }
        Ok(effects)
    }

    /// How often a step of a task had its effect.
    pub(crate) fn count(&self, task: &str, key: &str) -> usize {
        let count = self.counts.get(&format!("{task}/{key}"));
        count.copied().unwrap_or_default()
    }

    /// The keys of a task's steps, in the order of their first effects.
    pub(crate) fn keys(&self, task: &str) -> Vec<String> {
        let firsts = self.of(task).filter(|effect| effect.attempt == 1);
        firsts
            .filter_map(|effect| effect.step.split_once('/'))
            .map(|(_, key)| key.to_owned())
            .filter(|key| key != "peek")
            .collect()
    }

    /// What was done for a task, for a person to read.
    pub(crate) fn dump(&self, task: &str) -> String {
        let lines = self.of(task).map(|effect| {
            let Effect {
                step,
                attempt,
                process,
            } = effect;
            format!("  {step}, attempt {attempt}, by process {process}\n")
        });
        lines.collect()
    }

    fn of(&self, task: &str) -> impl Iterator<Item = &Effect> {
        self.lines.iter().filter(move |effect| {
            let of = effect.step.split_once('/');
            of.is_some_and(|(of, _)| of == task)
        })
    }
}

fn parse(line: &str) -> Option<Effect> {
    let mut parts = line.split('\t');
    Some(Effect {
        step: parts.next()?.to_owned(),
        attempt: parts.next()?.parse().ok()?,
        process: parts.next()?.parse().ok()?,
    })
}
