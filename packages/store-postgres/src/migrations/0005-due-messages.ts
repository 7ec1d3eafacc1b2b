// Adds indexes that find due messages and kept files of no session among many others.

/** Messages by who took them in, in their order; files that are of no session, once each. */
export const DUE_MESSAGES = `
  create index inbox_node on inbox (node, at, place);
  create index kept_file_of_agents on kept_file (place) where session_id is null and piece = 0;
`;
