// The changes that made the tables of the database, one after the other.

/** Marks a file as ours: "clew". */
export const APPLICATION_ID = 0x636c6577;

/** Each makes the next version; the first of a file without tables is version 1. */
export const MIGRATIONS: readonly string[] = [
  `
  -- One history from its first message on, whatever transcripts it moved through.
  CREATE TABLE conversation (
    id INTEGER PRIMARY KEY,
    turns INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- session_key is '' as long as the host names none.
  CREATE TABLE transcript (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation,
    UNIQUE (session_id, session_key)
  ) STRICT;
  CREATE INDEX transcript_key ON transcript (session_key);

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

  -- Words and trigrams of messages up to the watermark, without their places or texts.
  CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'porter unicode61'
  );
  CREATE VIRTUAL TABLE trigrams USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
  );
  -- They are written in small pieces: merging less often is a third faster.
  INSERT INTO words (words, rank) VALUES ('automerge', 8);
  INSERT INTO trigrams (trigrams, rank) VALUES ('automerge', 8);
  -- Messages that the indexes hold not at all, or not to their end: they are read to be searched.
  CREATE TABLE unindexed (message INTEGER PRIMARY KEY REFERENCES message) STRICT;
  CREATE TABLE watermark (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    indexed INTEGER NOT NULL
  ) STRICT;
  INSERT INTO watermark VALUES (1, 0);
  `,
  `
  -- Places before which a record stands for everything. first and request are names of messages; a
  -- cut without a ceiling holds under every budget. covered counts the messages the record stands
  -- for. ledger is what was known there, zstd of JSON; only the newest cut keeps it.
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
    record TEXT NOT NULL,
    ledger BLOB,
    UNIQUE (conversation, name)
  ) STRICT;
  `,
  `
  -- Words of scripts without spaces are cut otherwise now: both indexes are made again.
  INSERT INTO words (words) VALUES ('delete-all');
  INSERT INTO trigrams (trigrams) VALUES ('delete-all');
  DELETE FROM unindexed;
  UPDATE watermark SET indexed = 0;
  `,
  `
  -- parts is the JSON of what is shown of messages behind the record that are not shown whole.
  ALTER TABLE cut ADD COLUMN parts TEXT;
  -- Few messages are said in runs that a host begins by itself.
  CREATE INDEX message_heartbeat ON message (conversation) WHERE flags & 2;
  `,
  `
  -- Counted as they come.
  ALTER TABLE conversation ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
  UPDATE conversation SET messages =
    (SELECT count(*) FROM message WHERE message.conversation = conversation.id);

  -- Trigrams by hash; see store/postings.ts for what the bytes say. A leaf has 32 messages at most,
  -- from number first on. Many leaves make a group, of which bucket b has id 128 * first + b.
  DROP TABLE trigrams;
  CREATE TABLE trigram_leaf (first INTEGER PRIMARY KEY, postings BLOB NOT NULL) STRICT;
  CREATE TABLE trigram_group (first INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE trigram_bucket (id INTEGER PRIMARY KEY, postings BLOB NOT NULL) STRICT;

  -- Words follow again, together with the trigrams. They are merged in slices, when there is time.
  INSERT INTO words (words) VALUES ('delete-all');
  INSERT INTO words (words, rank) VALUES ('automerge', 0);
  INSERT INTO words (words, rank) VALUES ('usermerge', 16);
  INSERT INTO words (words, rank) VALUES ('crisismerge', 1000);
  -- pieces: how often words were written since they were last merged.
  ALTER TABLE watermark ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;
  DELETE FROM unindexed;
  UPDATE watermark SET indexed = 0;
  `,
];
