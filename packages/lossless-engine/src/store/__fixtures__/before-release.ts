// The databases of the time before the first release, as they were made then.

/** Each makes the next version; the first of a file without tables is version 1. */
export const VERSIONS: readonly string[] = [
  `
  CREATE TABLE conversation (
    id INTEGER PRIMARY KEY,
    turns INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE transcript (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation,
    UNIQUE (session_id, session_key)
  ) STRICT;
  CREATE INDEX transcript_key ON transcript (session_key);

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

  CREATE TABLE payload (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    text ANY NOT NULL
  ) STRICT;

  CREATE TABLE payload_use (
    message INTEGER NOT NULL REFERENCES message,
    place TEXT NOT NULL,
    payload INTEGER NOT NULL REFERENCES payload,
    PRIMARY KEY (message, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX payload_use_payload ON payload_use (payload);

  CREATE TABLE advancement (
    conversation INTEGER NOT NULL REFERENCES conversation,
    key TEXT NOT NULL,
    PRIMARY KEY (conversation, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE cursor (
    transcript INTEGER PRIMARY KEY REFERENCES transcript,
    bytes INTEGER NOT NULL,
    line_bytes INTEGER NOT NULL,
    line_hash BLOB NOT NULL,
    entry TEXT NOT NULL
  ) STRICT;

  CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'porter unicode61'
  );
  CREATE VIRTUAL TABLE trigrams USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram'
  );
  INSERT INTO words (words, rank) VALUES ('automerge', 8);
  INSERT INTO trigrams (trigrams, rank) VALUES ('automerge', 8);
  CREATE TABLE unindexed (message INTEGER PRIMARY KEY REFERENCES message) STRICT;
  CREATE TABLE watermark (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    indexed INTEGER NOT NULL
  ) STRICT;
  INSERT INTO watermark VALUES (1, 0);
  `,
  `
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
  INSERT INTO words (words) VALUES ('delete-all');
  INSERT INTO trigrams (trigrams) VALUES ('delete-all');
  DELETE FROM unindexed;
  UPDATE watermark SET indexed = 0;
  `,
  `
  ALTER TABLE cut ADD COLUMN parts TEXT;
  CREATE INDEX message_heartbeat ON message (conversation) WHERE flags & 2;
  `,
  `
  ALTER TABLE conversation ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
  UPDATE conversation SET messages =
    (SELECT count(*) FROM message WHERE message.conversation = conversation.id);

  DROP TABLE trigrams;
  CREATE TABLE trigram_leaf (first INTEGER PRIMARY KEY, postings BLOB NOT NULL) STRICT;
  CREATE TABLE trigram_group (first INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE trigram_bucket (id INTEGER PRIMARY KEY, postings BLOB NOT NULL) STRICT;

  INSERT INTO words (words) VALUES ('delete-all');
  INSERT INTO words (words, rank) VALUES ('automerge', 0);
  INSERT INTO words (words, rank) VALUES ('usermerge', 16);
  INSERT INTO words (words, rank) VALUES ('crisismerge', 1000);
  ALTER TABLE watermark ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;
  DELETE FROM unindexed;
  UPDATE watermark SET indexed = 0;
  `,
];
