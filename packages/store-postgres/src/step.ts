// Stores a step by one statement that does nothing for whoever lost the session.
import { TOUCHED } from "./blobs/put-bodies.ts";
import type { OpenRange } from "./branch.ts";
import type { Database, Statement } from "./database.ts";
import type { Lease } from "./lease.ts";

/** What is stored together, ready to be written. */
export interface StepRows {
  entries: readonly (EntryRow & Placed)[];
  deliveries: readonly { engineId: string; change: string }[];
  report: {
    turn: string;
    body: string;
    /** What may not be stored yet of what it names. */
    parts: readonly ({ hash: string; body: string } & Placed)[];
    /** Hashes of all that it names. */
    names: readonly string[];
  } | null;
  /** Another branch than what goes on from the one before; null = it goes on. */
  branch: readonly OpenRange[] | null;
  /** What the next entry follows; "" = nothing; null = the same as before. */
  leaf: string | null;
  /** The entry with which a turn began, unless one runs; "" = none runs now; null = as before. */
  turn: string | null;
  /** The first line of the session's file, unless it is known; null = nobody says. */
  header: string | null;
  /** Names of messages that wait, and are said by this step. */
  said: readonly string[];
}

/** Where the body of a row is. */
interface Placed {
  /** SHA-256 of it where it is kept elsewhere. Absent, or "": it is here. */
  blob?: string;
  /** How many bytes it has more than what stands for it here. Absent: none. */
  beyond?: number;
}

/** An entry as its row has it. */
export interface EntryRow {
  /** Of the entry. */
  id: string;
  /** 0 none, 1 user, 2 assistant, 3 toolResult, 4 another. */
  role: number;
  /** ms since the epoch. */
  ts: number;
  /** The line of a session file. */
  body: string;
}

/**
 * `fenced` = the session is another's, `moved` = somebody wrote with our lease, `gone` = a message
 * that it says does not wait any more, or what it names was taken away since it was put elsewhere.
 */
export type StepOutcome = "stored" | "fenced" | "moved" | "gone";

/** What a step has besides when it says messages that wait: all of them, or it does nothing. */
interface Besides {
  name: string;
  /** Before the session's row: whoever takes one back meanwhile waits, or is waited for. */
  first: string;
  condition: string;
  /** Bytes that its entries have elsewhere. */
  bytes: string;
  /** Hashes of what rows have elsewhere. */
  entryBlob: string;
  partBlob: string;
  last: string;
}

const NOTHING_BESIDES: Besides = {
  ...{ name: "session-step", first: "", condition: "", bytes: "" },
  ...{ entryBlob: "null", partBlob: "null", last: "" },
};

const SAYS: Besides = {
  ...NOTHING_BESIDES,
  name: "session-step-said",
  first: `
    waiting as (
      select i.id from inbox i, session s
      where s.agent_id = $1 and s.id = $2
        and i.agent_id = s.agent_id and i.key = s.key and i.id = any ($21::text[])
      for update of i
    ),`,
  condition: "and (select count(*) from waiting) = cardinality($21::text[])",
  last: `,
    said as (
      delete from inbox i using own
      where i.agent_id = own.agent_id and i.key = own.key and i.id = any ($21::text[])
    )`,
};

/** The same where some of its bodies are elsewhere; what it says may be nothing. */
const NAMES_BLOBS: Besides = {
  ...SAYS,
  name: "session-step-blobs",
  first: `${SAYS.first}${TOUCHED("$1", "$22")},`,
  condition: `${SAYS.condition} and (select count(*) from touched) = cardinality($22::text[])`,
  bytes: "+ $25::bigint",
  entryBlob: "nullif(($23::text[])[e.n], '')",
  partBlob: "nullif(($24::text[])[p.n], '')",
};

/**
 * The row's lock lets one step through at a time; what is inserted comes from the row that was
 * changed, so that without it nothing is. A part that is there stays as it is and is locked,
 * though: whoever takes it away waits, and sees that it is named, or is waited for.
 */
const step = ({ name, first, condition, ...besides }: Besides): Statement<{ step: number }> => ({
  name,
  text: `
    with ${first} own as (
      update session set
        step = step + 1,
        last_step = $5,
        head_seq = head_seq + cardinality($6::text[]),
        last_entry = case when $18::text is null then last_entry else nullif($18::text, '') end,
        head_line = head_line + cardinality($10::text[]),
        branch = coalesce($12::jsonb, branch),
        turn = case $13::text when '' then null else coalesce(turn, $13::text) end,
        turn_tries = case $13::text when '' then 0 else turn_tries end,
        header = coalesce(header, $19::text),
        is_behind = is_behind or cardinality($6::text[]) > 0,
        bytes = bytes + coalesce((select sum(octet_length(b) + 1) from unnest($9::text[]) b), 0)
          ${besides.bytes},
        changed_at = now()
      where agent_id = $1 and id = $2 and epoch = $3 and step = $4 ${condition}
      returning agent_id, id, key, step, head_seq, head_line
    ), entries as (
      insert into entry (agent_id, session_id, seq, entry_id, role, ts, body, blob)
      select own.agent_id, own.id, own.head_seq - cardinality($6::text[]) + e.n,
        e.entry_id, e.role, e.ts, e.body, ${besides.entryBlob}
      from own, unnest($6::text[], $7::smallint[], $8::bigint[], $9::text[])
        with ordinality as e (entry_id, role, ts, body, n)
    ), deliveries as (
      insert into delivery (agent_id, session_id, line, engine_id, change)
      select own.agent_id, own.id, own.head_line - cardinality($10::text[]) + d.n,
        d.engine_id, d.change
      from own, unnest($10::text[], $11::text[]) with ordinality as d (engine_id, change, n)
    ), reports as (
      insert into report (agent_id, session_id, step, turn, body, parts, is_told)
      select own.agent_id, own.id, own.step, $14, $15, $20::text[], true from own
      where $14::text is not null
    ), parts as (
      insert into part as had (agent_id, hash, body, blob)
      select own.agent_id, p.hash, p.body, ${besides.partBlob}
      from own, unnest($16::text[], $17::text[]) with ordinality as p (hash, body, n)
      on conflict (agent_id, hash) do update set body = had.body where false
    ), uses as (
      insert into part_use (agent_id, session_id, hash)
      select own.agent_id, own.id, p.hash from own, unnest($16::text[]) as p (hash)
      on conflict do nothing
    )${besides.last}
    select step::float8 from own`,
});

const STEP = step(NOTHING_BESIDES);
const SAYING_STEP = step(SAYS);
const BLOB_STEP = step(NAMES_BLOBS);

const LAST: Statement<{ epoch: number; step: number; last_step: string | null }> = {
  name: "session-last-step",
  text: `
    select epoch::float8, step::float8, last_step from session
    where agent_id = $1 and id = $2`,
};

export interface StepRequest {
  lease: Lease;
  /** How many steps the session has. */
  at: number;
  /** Names this attempt to store something, however often it is sent. */
  token: string;
  rows: StepRows;
}

/**
 * Throws STORAGE_FAILED when nobody knows whether it was stored. Sent again after a broken
 * connection it changes nothing, as the session has one step more by then; the name of its last
 * step tells whose that was.
 */
export async function storeStep(
  database: Database,
  { lease: { agentId, sessionId, epoch }, at, token, rows }: StepRequest,
): Promise<StepOutcome> {
  const values = [...[agentId, sessionId, epoch, at, token], ...valuesOf(rows)];
  const named = namedBy(rows);
  const stored =
    named.length > 0
      ? await database.ask(BLOB_STEP, [...values, rows.said, named, ...blobsOf(rows)])
      : rows.said.length > 0
        ? await database.ask(SAYING_STEP, [...values, rows.said])
        : await database.ask(STEP, values);
  if (stored.length > 0) return "stored";
  const [now] = await database.ask(LAST, [agentId, sessionId]);
  if (now?.last_step === token) return "stored";
  if (now?.epoch !== epoch) return "fenced";
  return now.step === at && rows.said.length + named.length > 0 ? "gone" : "moved";
}

/** Hashes of what is elsewhere. */
export const namedBy = ({ entries, report }: Pick<StepRows, "entries" | "report">): string[] => {
  const all = [...entries, ...(report?.parts ?? [])].flatMap(({ blob = "" }) => blob || []);
  return [...new Set(all)];
};

/** In the order of the rows. */
const blobsOf = ({ entries, report }: StepRows): unknown[] => [
  entries.map(({ blob = "" }) => blob),
  sortedParts(report).map(({ blob = "" }) => blob),
  entries.reduce((sum, { beyond = 0 }) => sum + beyond, 0),
];

/** In one order for everybody, so that two steps never wait for each other. */
const sortedParts = (report: StepRows["report"]) =>
  (report?.parts ?? []).toSorted(({ hash: one }, { hash: other }) => (one < other ? -1 : 1));

function valuesOf({
  entries,
  deliveries,
  report,
  branch,
  leaf,
  turn,
  header,
}: StepRows): unknown[] {
  const parts = sortedParts(report);
  return [
    entries.map(({ id }) => id),
    entries.map(({ role }) => role),
    entries.map(({ ts }) => ts),
    entries.map(({ body }) => body),
    deliveries.map(({ engineId }) => engineId),
    deliveries.map(({ change }) => change),
    branch === null ? null : JSON.stringify(branch),
    turn,
    report?.turn ?? null,
    report?.body ?? null,
    parts.map(({ hash }) => hash),
    parts.map(({ body }) => body),
    leaf,
    header,
    report?.names ?? [],
  ];
}
