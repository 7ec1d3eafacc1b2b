// Makes the first tables, of gateways, sessions and what sessions hold.

/**
 * What an append changes of a session is in no index, so that its row stays on its page; but for
 * `turn`, by which turns are found that nobody continues.
 */
export const SESSIONS = `
  -- One row for each start of a gateway; it promises to be seen again within ttl_ms.
  create table node (
    id uuid primary key,
    address text not null,
    version text not null,
    ttl_ms integer not null,
    seen_at timestamptz not null
  );

  -- owner and epoch say who may write; step counts what was stored together, and last_step tells
  -- whose step that was. branch lists ranges of entry.seq, [[from, to], …]; to is null up to the
  -- head. turn is the first entry of a turn that has not ended.
  create table session (
    agent_id text not null,
    id text not null,
    key text not null,
    owner uuid,
    epoch bigint not null default 0,
    step bigint not null default 0,
    last_step uuid,
    head_seq bigint not null default 0,
    last_entry text,
    head_line bigint not null default 0,
    branch jsonb not null default '[[1, null]]',
    turn text,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    primary key (agent_id, id),
    unique (agent_id, key)
  ) with (fillfactor = 70);
  create index session_turn on session (agent_id, id) where turn is not null;
  create index session_owner on session (owner) where owner is not null;

  -- body is the line of a session file, byte for byte. role: 0 none, 1 user, 2 assistant,
  -- 3 toolResult, 4 another. ts in ms.
  create table entry (
    agent_id text not null,
    session_id text not null,
    seq bigint not null,
    entry_id text not null,
    role smallint not null,
    ts bigint not null,
    body text not null,
    primary key (agent_id, session_id, seq)
  );

  -- What engines acknowledged or refused, a line for each change.
  create table delivery (
    agent_id text not null,
    session_id text not null,
    line bigint not null,
    engine_id text not null,
    change text not null,
    primary key (agent_id, session_id, line)
  );

  -- step is that of the session with which the turn ended.
  create table report (
    agent_id text not null,
    session_id text not null,
    step bigint not null,
    turn text not null,
    body text not null,
    primary key (agent_id, session_id, step)
  );

  -- What reports name by its hash.
  create table part (
    agent_id text not null,
    hash text not null,
    body text not null,
    primary key (agent_id, hash)
  );

  -- Messages for a session that somebody else owns; id makes a second delivery the first one.
  create table inbox (
    agent_id text not null,
    session_id text not null,
    id text not null,
    body text not null,
    at timestamptz not null default now(),
    primary key (agent_id, session_id, id)
  );
`;
