// The tables of the database, and the changes by which older databases get them.
import { linkAll } from "./chain.ts";
import { bindCarried } from "./forgetting.ts";
import { sealAll } from "./seals.ts";
import type { Sql } from "./sql.ts";

/** Marks a file as ours: "clew". */
export const APPLICATION_ID = 0x636c6577;

/** A change of one version of the database into another. */
export interface Migration {
  /** Versions that it is for; 0 = a file without tables. */
  readonly from: readonly number[];
  readonly to: number;
  readonly sql: string;
  /** What follows where SQL says too little, in the same transaction. Absent: nothing. */
  readonly run?: (sql: Sql) => void;
}

const TABLES = `
  -- One history from its first message on, whatever transcripts it moved through. What it holds is
  -- counted as it comes.
  CREATE TABLE conversation (
    id INTEGER PRIMARY KEY,
    turns INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- session_key is '' as long as the host names none. owner says whose it is, see
  -- sessions/owner.ts; NULL = it was stored before that was noted, and nobody went on with it yet.
  CREATE TABLE transcript (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    owner TEXT,
    conversation INTEGER NOT NULL REFERENCES conversation,
    UNIQUE (session_id, session_key, owner)
  ) STRICT;
  CREATE INDEX transcript_key ON transcript (session_key, owner);

  -- Each message once, as its JSON: text, but for texts so long that they are payloads. seq is the
  -- order of arrival and the rowid of both indexes; time in ms.
  CREATE TABLE message (
    seq INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation,
    id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    role TEXT NOT NULL,
    time INTEGER,
    flags INTEGER NOT NULL,
    body ANY NOT NULL,
    UNIQUE (conversation, id)
  ) STRICT;
  CREATE INDEX message_conversation ON message (conversation);
  -- Few messages are said in runs that a host begins by itself.
  CREATE INDEX message_heartbeat ON message (conversation) WHERE flags & 2;

  -- hash is SHA-256 of the text.
  CREATE TABLE payload (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    text ANY NOT NULL
  ) STRICT;

  -- place is the JSON of the keys that lead to the text in its message.
  CREATE TABLE payload_use (
    message INTEGER NOT NULL REFERENCES message,
    place TEXT NOT NULL,
    payload INTEGER NOT NULL REFERENCES payload,
    PRIMARY KEY (message, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX payload_use_payload ON payload_use (payload);

  -- Turns of the durable lifecycle that are stored.
  CREATE TABLE advancement (
    conversation INTEGER NOT NULL REFERENCES conversation,
    key TEXT NOT NULL,
    PRIMARY KEY (conversation, key)
  ) STRICT, WITHOUT ROWID;

  -- Up to where a session file was read: the line that ends at bytes, and what it was.
  CREATE TABLE cursor (
    transcript INTEGER PRIMARY KEY REFERENCES transcript,
    bytes INTEGER NOT NULL,
    line_bytes INTEGER NOT NULL,
    line_hash BLOB NOT NULL,
    entry TEXT NOT NULL
  ) STRICT;

  -- Places before which a record stands for everything. first and request are names of messages; a
  -- cut without a ceiling holds under every budget. covered counts the messages the record stands
  -- for. parts is the JSON of what is shown of messages behind it that are not shown whole. ledger
  -- is what was known there, zstd of JSON; only the newest cut keeps it.
  CREATE TABLE cut (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation,
    name TEXT NOT NULL,
    first TEXT NOT NULL,
    request TEXT,
    ceiling REAL,
    estimate INTEGER NOT NULL,
    high INTEGER NOT NULL,
    time INTEGER,
    covered INTEGER NOT NULL,
    parts TEXT,
    record TEXT NOT NULL,
    ledger BLOB,
    UNIQUE (conversation, name)
  ) STRICT;

  -- Words of messages up to the watermark, without their places or texts. They are merged in slices,
  -- when there is time.
  CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'porter unicode61'
  );
  INSERT INTO words (words, rank) VALUES ('automerge', 0);
  INSERT INTO words (words, rank) VALUES ('usermerge', 16);
  INSERT INTO words (words, rank) VALUES ('crisismerge', 1000);
  -- Trigrams by hash; see store/postings.ts for what the bytes say. A leaf has 32 messages at most,
  -- from number first on. Many leaves make a group, of which bucket b has id 128 * first + b.
  CREATE TABLE trigram_leaf (first INTEGER PRIMARY KEY, postings BLOB NOT NULL) STRICT;
  CREATE TABLE trigram_group (first INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE trigram_bucket (id INTEGER PRIMARY KEY, postings BLOB NOT NULL) STRICT;
  -- Messages that the indexes hold not at all, or not to their end: they are read to be searched.
  CREATE TABLE unindexed (message INTEGER PRIMARY KEY REFERENCES message) STRICT;
  -- pieces: how often words were written since they were last merged.
  CREATE TABLE watermark (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    indexed INTEGER NOT NULL,
    pieces INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO watermark (only, indexed) VALUES (1, 0);
`;

/**
 * What five versions before the first release kept in common goes over; what can be made again,
 * cuts and indexes, is.
 */
const BEFORE_RELEASE = `
  PRAGMA defer_foreign_keys = ON;
  DROP TABLE IF EXISTS words;
  DROP TABLE IF EXISTS trigrams;
  DROP TABLE IF EXISTS trigram_leaf;
  DROP TABLE IF EXISTS trigram_group;
  DROP TABLE IF EXISTS trigram_bucket;
  DROP TABLE IF EXISTS unindexed;
  DROP TABLE IF EXISTS watermark;
  DROP TABLE IF EXISTS cut;
  DROP INDEX transcript_key;
  DROP INDEX message_conversation;
  DROP INDEX IF EXISTS message_heartbeat;
  DROP INDEX payload_use_payload;
  ${["conversation", "transcript", "message", "payload", "payload_use", "advancement", "cursor"]
    .map((table) => `ALTER TABLE ${table} RENAME TO old_${table};`)
    .join("\n  ")}
  ${TABLES}
  INSERT INTO conversation SELECT id, turns,
    (SELECT count(*) FROM old_message WHERE conversation = old_conversation.id)
    FROM old_conversation;
  INSERT INTO transcript (id, session_id, session_key, conversation)
    SELECT id, session_id, session_key, conversation FROM old_transcript;
  INSERT INTO message SELECT * FROM old_message ORDER BY seq;
  INSERT INTO payload SELECT * FROM old_payload ORDER BY id;
  INSERT INTO payload_use SELECT * FROM old_payload_use;
  INSERT INTO advancement SELECT * FROM old_advancement;
  INSERT INTO cursor SELECT * FROM old_cursor;
  ${["cursor", "advancement", "payload_use", "payload", "message", "transcript", "conversation"]
    .map((table) => `DROP TABLE old_${table};`)
    .join("\n  ")}
`;

const CHAIN = `
  -- What binds each message to the one before it in its conversation, in the order in which they
  -- came; see store/chain.ts. It refers to nothing, so that it tells of messages that are gone.
  CREATE TABLE link (
    message INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;

  -- What binds each later change of a message to the change before it in its conversation. earlier
  -- is the change of the same message before it; 0 = it is the first. was is the hash of what the
  -- message said until then; NULL = it was damaged.
  CREATE TABLE change (
    id INTEGER PRIMARY KEY,
    message INTEGER NOT NULL,
    earlier INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    was BLOB,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE INDEX change_message ON change (message);

  -- The last hash of both; NULL = there is none.
  ALTER TABLE conversation ADD COLUMN newest BLOB;
  ALTER TABLE conversation ADD COLUMN changed BLOB;
`;

const SUMMARIES = `
  -- A text that stands for messages (depth 0), or for summaries that it is the parent of: for every
  -- message of its conversation from first to last. Those without a parent are the frontier. days
  -- is the JSON of what code knows, see summaries/facts.ts; words is what a model says, NULL where
  -- none did; asked is how often one was asked. hash binds all of it but that, and the hashes of
  -- its parts.
  CREATE TABLE summary (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversation,
    depth INTEGER NOT NULL,
    parent INTEGER REFERENCES summary,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    since INTEGER,
    until INTEGER,
    days TEXT NOT NULL,
    words TEXT,
    model TEXT,
    asked INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
  CREATE INDEX summary_frontier ON summary (conversation, first) WHERE parent IS NULL;
  CREATE INDEX summary_leaf ON summary (conversation, last) WHERE depth = 0;
  CREATE INDEX summary_parent ON summary (parent) WHERE parent IS NOT NULL;

  -- Of a conversation with summaries: the number of the last message that one stands for, and what
  -- binds its frontier.
  CREATE TABLE graph (
    conversation INTEGER PRIMARY KEY REFERENCES conversation,
    up_to INTEGER NOT NULL,
    hash BLOB NOT NULL
  ) STRICT;
`;

const FORGETTING = `
  -- What was forgotten (expired = 0), or is no longer kept (1): the number of its message, whose row
  -- says no more than that, and a hash of what it said, by which it is known when it is told again.
  CREATE TABLE forgotten (
    message INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    expired INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX forgotten_hash ON forgotten (hash);

  -- What the hashes are made with. stale > 0: pages that nothing uses may hold forgotten words, and
  -- in pages in use that many bytes but one are free since messages went.
  CREATE TABLE forgetting (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    salt BLOB NOT NULL,
    stale INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO forgetting (only, salt) VALUES (1, randomblob(32));
`;

const CARRYING = `
  -- What was forgotten in databases that this one took the place of: salt and hash as there.
  CREATE TABLE carried (
    salt BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (salt, hash)
  ) STRICT, WITHOUT ROWID;
`;

const SEALS = `
  -- What binds a row that no link binds, see store/seals.ts.
  ALTER TABLE transcript ADD COLUMN seal BLOB;
  ALTER TABLE cut ADD COLUMN seal BLOB;
  ALTER TABLE cursor ADD COLUMN seal BLOB;
  ALTER TABLE advancement ADD COLUMN seal BLOB;

  -- The number of the last message that a summary stands for, as in graph: who takes all summaries
  -- of a conversation away is found.
  ALTER TABLE conversation ADD COLUMN summarised INTEGER NOT NULL DEFAULT 0;
  UPDATE conversation SET summarised =
    coalesce((SELECT up_to FROM graph WHERE graph.conversation = conversation.id), 0);
`;

const SEALED_FORGETTING = `
  -- carried binds all rows of that table, seal this row; see store/forgetting.ts.
  ALTER TABLE forgetting ADD COLUMN carried BLOB;
  ALTER TABLE forgetting ADD COLUMN seal BLOB;
`;

/** Tables that were sealed first. */
const SEALED_FIRST = ["transcript", "cut", "cursor", "advancement"] as const;

function sealForgetting(sql: Sql): void {
  sealAll(sql, ["forgetting"]);
  bindCarried(sql);
}

/** What is here stays as it is; the next change is one more. */
export const MIGRATIONS: readonly Migration[] = [
  { from: [0], to: 6, sql: TABLES },
  { from: [1, 2, 3, 4, 5], to: 6, sql: BEFORE_RELEASE },
  { from: [6], to: 7, sql: CHAIN, run: linkAll },
  { from: [7], to: 8, sql: SUMMARIES },
  { from: [8], to: 9, sql: FORGETTING },
  { from: [9], to: 10, sql: CARRYING },
  { from: [10], to: 11, sql: SEALS, run: (sql) => sealAll(sql, SEALED_FIRST) },
  { from: [11], to: 12, sql: SEALED_FORGETTING, run: sealForgetting },
];
