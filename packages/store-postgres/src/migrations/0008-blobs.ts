// Adds what is kept outside of the database, and which rows name it.

/** Rows that are there already stay as they are. */
export const BLOBS = `
  -- SHA-256, in hex, of the body as it is kept elsewhere; the row's own says only how long that is.
  alter table entry add column blob text;
  alter table part add column blob text;
  create index entry_blob on entry (agent_id, blob) where blob is not null;
  create index part_blob on part (agent_id, blob) where blob is not null;

  -- What was put there, or is about to be. uses counts who was about to name it, so that who looks
  -- for what nobody names sees when that changes. dropping: since when it is being taken away, and
  -- named by nobody any more.
  create table blob (
    agent_id text not null,
    hash text not null,
    size bigint not null,
    uses bigint not null default 0,
    at timestamptz not null default now(),
    dropping timestamptz,
    primary key (agent_id, hash)
  );
`;
