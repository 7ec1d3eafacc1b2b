// Makes the table of waiting messages anew, and counts how often a turn was gone on with.

/**
 * Messages that wait for their turn. They are a key's, whatever transcript it has, and it need not
 * have one yet. id is the sender's name for the message: under it a second delivery is the first
 * one. A row goes with the step that says its message, or when it is taken back. node is who took
 * it in, and sees to it as long as it lives. place is its order in the session.
 */
export const INBOX = `
  -- Nobody has written to it.
  drop table inbox;
  create table inbox (
    agent_id text not null,
    key text not null,
    id text not null,
    place bigint not null,
    node uuid not null,
    message_id text not null,
    body text not null,
    at timestamptz not null default now(),
    primary key (agent_id, key, id)
  );

  -- How often gateways went on with the turn that has not ended.
  alter table session add column turn_tries integer not null default 0;
`;
