// Adds what was copied from files, and files that no table says more of.

/** Nothing of it is written by a gateway, but when a session is removed. */
export const KEPT_FILES = `
  -- A file of a home as it is, in pieces; the first one says what it is. place is its path below the
  -- home, place_id the SHA-256 of that. kind: 0 a file, 1 a folder, 2 a link. is_own: of use in its
  -- home alone. head: entries that its session had.
  create table kept_file (
    home text not null,
    place_id text not null,
    piece integer not null,
    place text not null,
    agent_id text not null,
    session_id text,
    kind smallint not null,
    is_own boolean not null,
    size bigint not null,
    sha text not null,
    head bigint,
    changed_at bigint not null,
    body bytea not null,
    primary key (home, place_id, piece)
  );
  create index kept_file_session on kept_file (agent_id, session_id) where session_id is not null;

  -- What both sides had when a session was copied between a home and here; print is of all its
  -- files. It outlives its session: who has one without the other knows that it was removed here.
  create table copied (
    home text not null,
    agent_id text not null,
    session_id text not null,
    print text not null,
    step bigint not null,
    line bigint not null,
    key text not null,
    label text,
    at timestamptz not null default now(),
    primary key (home, agent_id, session_id)
  );

  -- Another one for each state of the kept reports, which come before those in the table; null:
  -- there are none.
  alter table session add column base text;
`;
