//! Who runs functions of which only so many may run at once, and who waits to.
//!
//! Seats of a lane are numbered, and a number is taken once: that the limits hold is
//! an index's doing, and nobody waits for a lock while another makes up its mind.
//! Whoever takes a seat takes the first that is free, so that of two who do at the
//! same time one finds it gone and looks again.
//!
//! A seat is its holder's until that one's row is gone, as tasks are: leases that ran
//! out because the database was away free nothing that still runs.

use super::ledger::Ledger;
use super::query::Query;
use super::schema::now;
use super::text::kept;
use crate::store::{PATIENCE_MS, RunNumber, Seated, SeatsWanted, StoreError, WAITS_MS};

/// How often it is tried to take seats that others take at the same time.
const ATTEMPTS: usize = 200;

pub(super) struct Queries {
    take: Query,
    give_back: Query,
}

/// Whether two rows are about the same lane.
macro_rules! same_lane {
    ($one:literal, $other:literal) => {
        concat!(
            $one,
            ".server = ",
            $other,
            ".server AND ",
            $one,
            ".scope = ",
            $other,
            ".scope AND ",
            $one,
            ".kind = ",
            $other,
            ".kind AND ",
            $one,
            ".name = ",
            $other,
            ".name"
        )
    };
}

/// Takes what is missing of a run's seats, or notes that its holder waits.
///
/// Who goes before whom is what `WaitingHolder::goes_before` says.
/// The holder's row is locked while seats are put down, so that whoever removes it
/// finds them; to be refused writes nothing, most often.
const TAKE: &str = concat!(
    "WITH me AS MATERIALIZED (
        SELECT holder, server, scope FROM @holders WHERE holder = $1::int8
    ), wanted AS (
        SELECT me.holder, me.server, me.scope, l.kind, l.name, l.seats, l.place
        FROM me, unnest($3::int4[], $4::text[], $5::int8[])
            WITH ORDINALITY AS l(kind, name, seats, place)
    ), lanes AS MATERIALIZED (
        SELECT l.*, mine.asked, EXISTS (
            SELECT FROM @seats s WHERE s.holder = l.holder AND s.run = $2::int8 AND ",
    same_lane!("s", "l"),
    "    ) AS has_one,
        (SELECT count(*) FROM @seats s WHERE ",
    same_lane!("s", "l"),
    "    ) + (
            SELECT count(*) FROM @seats_wanted w WHERE ",
    same_lane!("w", "l"),
    "            AND w.holder <> l.holder AND w.asked + $6::int8 >= ",
    now!(),
    "            AND w.since + $7::int8 <= ",
    now!(),
    "            AND w.since < coalesce(mine.since, 9223372036854775807)
        ) < l.seats AS has_room
        FROM wanted l LEFT JOIN @seats_wanted mine ON ",
    same_lane!("mine", "l"),
    "        AND mine.holder = l.holder AND mine.asked + $6::int8 >= ",
    now!(),
    "), verdict AS MATERIALIZED (
        SELECT min(place) FILTER (WHERE NOT has_one AND NOT has_room) AS is_full FROM lanes
    ), alive AS MATERIALIZED (
        SELECT FROM @holders h, verdict
        WHERE h.holder = $1::int8 AND is_full IS NULL FOR KEY SHARE OF h
    ), sat AS (
        INSERT INTO @seats (server, scope, kind, name, seat, holder, run)
        SELECT l.server, l.scope, l.kind, l.name, (
            SELECT min(free.seat) FROM (
                SELECT 0 AS seat UNION ALL SELECT s.seat + 1 FROM @seats s WHERE ",
    same_lane!("s", "l"),
    "        ) free WHERE NOT EXISTS (
                SELECT FROM @seats s WHERE ",
    same_lane!("s", "l"),
    " AND s.seat = free.seat
            )
        ), l.holder, $2::int8
        FROM lanes l, alive WHERE NOT l.has_one ORDER BY l.kind, l.name
        ON CONFLICT DO NOTHING RETURNING 1
    ), undone AS (
        DELETE FROM @seats s USING verdict
        WHERE is_full IS NOT NULL AND s.holder = $1::int8 AND s.run = $2::int8
    ), served AS (
        DELETE FROM @seats_wanted w USING lanes l, verdict WHERE ",
    same_lane!("w", "l"),
    "        AND w.holder = l.holder AND (l.place < is_full OR (is_full IS NULL
            AND (SELECT count(*) FROM sat) = (SELECT count(*) FROM lanes WHERE NOT has_one)))
    ), given_up AS (
        DELETE FROM @seats_wanted w USING verdict
        WHERE is_full IS NOT NULL AND w.holder = $1::int8 AND w.asked + $6::int8 < ",
    now!(),
    "        AND NOT EXISTS (SELECT FROM lanes l WHERE l.kind = w.kind AND l.name = w.name)
    ), refused AS (
        INSERT INTO @seats_wanted AS w (server, scope, kind, name, holder, since, asked)
        SELECT l.server, l.scope, l.kind, l.name, l.holder, ",
    now!(),
    ", ",
    now!(),
    "    FROM lanes l, verdict
        WHERE l.place = is_full AND (l.asked IS NULL OR l.asked + $6::int8 / 2 <= ",
    now!(),
    "    )
        ON CONFLICT (server, scope, kind, name, holder) DO UPDATE SET asked = excluded.asked,
            since = CASE WHEN w.asked + $6::int8 < excluded.asked THEN excluded.since
                ELSE w.since END
    )
    SELECT is_full, (SELECT count(*) FROM lanes),
        (SELECT count(*) FROM lanes WHERE has_one) + (SELECT count(*) FROM sat)
    FROM verdict"
);

/// Gives back a run's seats, and says whether others wait for one.
const GIVE_BACK: &str = concat!(
    "WITH free AS (
        DELETE FROM @seats s WHERE s.holder = $1::int8 AND s.run = $2::int8
        RETURNING s.server, s.scope, s.kind, s.name
    )
    SELECT EXISTS (SELECT FROM free JOIN @seats_wanted w ON ",
    same_lane!("w", "free"),
    " WHERE w.holder <> $1::int8 AND w.asked + $3::int8 >= ",
    now!(),
    ")"
);

impl Queries {
    pub(super) fn new(query: impl Fn(&str) -> Query) -> Self {
        Self {
            take: query(TAKE),
            give_back: query(GIVE_BACK),
        }
    }
}

/// A duration as it is kept.
const fn millis(ms: u64) -> i64 {
    ms.cast_signed()
}

impl Ledger {
    /// Takes a seat in each lane that a run counts towards, or in none.
    pub(super) async fn take_seats(&self, wanted: &SeatsWanted<'_>) -> Result<Seated, StoreError> {
        let me = self.me()?;
        let run = wanted.run.0.cast_signed();
        let (mut kinds, mut names, mut seats) = (Vec::new(), Vec::new(), Vec::new());
        for (lane, count) in wanted.lanes {
            let (kind, name) = lane.kept();
            kinds.push(kind);
            names.push(kept(name));
            seats.push(i64::try_from(*count).unwrap_or(i64::MAX));
        }
        let (waits, patience) = (millis(WAITS_MS), millis(PATIENCE_MS));
        for _ in 0..ATTEMPTS {
            let rows = self
                .connections
                .write(
                    &self.queries.seats.take,
                    &[&me.id.0, &run, &kinds, &names, &seats, &waits, &patience],
                )
                .await?;
            let Some(row) = rows.first() else { break };
            let full: Option<i64> = row.get(0);
            let (lanes, seated): (i64, i64) = (row.get(1), row.get(2));
            if let Some(full) = full {
                return Ok(Seated::Full(usize::try_from(full - 1).unwrap_or_default()));
            }
            if lanes == 0 {
                // Its row is gone: it holds nothing any more.
                return Ok(Seated::Full(0));
            }
            if seated == lanes {
                return Ok(Seated::Yes);
            }
        }
        // Of two lanes it may have a seat in one.
        Err(StoreError::Unsure("too many took seats at once".to_owned()))
    }

    /// Gives back the seats of a run.
    pub(super) async fn give_back_seats(&self, run: RunNumber) -> Result<(), StoreError> {
        let Some(me) = self.holder() else {
            return Ok(());
        };
        let (run, waits) = (run.0.cast_signed(), millis(WAITS_MS));
        let rows = self
            .connections
            .write(&self.queries.seats.give_back, &[&me.id.0, &run, &waits])
            .await?;
        if rows.first().is_some_and(|row| row.get(0)) {
            self.news.tell_of_seats();
        }
        Ok(())
    }
}
