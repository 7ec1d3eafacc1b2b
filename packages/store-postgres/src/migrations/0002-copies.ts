// Adds what lists tell of sessions, and what a file of one begins with.

/** Rows that are there already get their bytes counted once. */
export const COPIES = `
  -- header is the first line of a session file; label is what people call it; bytes are those of
  -- its entries.
  alter table session
    add column header text,
    add column label text,
    add column bytes bigint not null default 0;
  update session s set bytes = coalesce((
    select sum(octet_length(body) + 1) from entry e where e.agent_id = s.agent_id and e.session_id = s.id
  ), 0);

  -- Hashes of what a report names, so that it can be copied whole.
  alter table report add column parts text[] not null default '{}';

  -- Where a gateway runs that only one process can be at a time, such as its home.
  alter table node add column place text;

  -- Names this database, so that nothing is taken for a copy of another one's sessions.
  create table cluster (one boolean primary key default true check (one), id uuid not null);
  insert into cluster (id) values (gen_random_uuid());
`;
