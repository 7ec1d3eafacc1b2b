// Adds what is known of sessions that others started.

/** By the session's key; node is the gateway that said it last, and runs it until it is over. */
export const CHILDREN = `
  create table child (
    agent_id text not null,
    key text not null,
    node uuid not null,
    body text not null,
    primary key (agent_id, key)
  );
`;
