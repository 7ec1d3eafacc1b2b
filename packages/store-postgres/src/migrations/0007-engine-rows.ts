// Makes the table of what engines keep beside sessions, and the counters of their numbers.

/**
 * What an engine knows of a session and no entry says: places, marks and texts of its own, never a
 * message. kind and key are the engine's names for a row; body is its JSON, null = it is gone, and
 * says that to what was written before and comes late. epoch and step order the writes.
 */
export const ENGINE_ROWS = `
  create table engine_row (
    agent_id text not null,
    session_id text not null,
    engine text not null,
    kind text not null,
    key text not null,
    epoch bigint not null,
    step bigint not null,
    body text,
    primary key (agent_id, session_id, engine, kind, key)
  );

  -- Numbers up to next are somebody's, or nobody's for good.
  create table numbering (
    kind text primary key,
    next bigint not null
  );
`;
