// Keeps the names of messages that were taken back, so that none of them comes again.

/**
 * A gateway that was not told whether a message is kept keeps it again, perhaps after somebody took
 * it back: its row stays for a day, without its text. inbox is what waits, as before, also for
 * gateways of the version before.
 */
export const TAKEN_BACK = `
  alter table inbox rename to inbox_row;
  alter table inbox_row add column taken_at timestamptz;
  create index inbox_taken on inbox_row (taken_at) where taken_at is not null;
  create view inbox as
    select agent_id, key, id, place, node, message_id, body, at from inbox_row
    where taken_at is null;
`;
