// Fills a database with as many rows as plans of statements are looked at with.

/** Rows of each table that grows. */
export const MANY = 100_000;

/** Tables that are large then. */
export const LARGE = [
  ...["session", "entry", "delivery", "report", "part", "inbox_row", "kept_file", "copied"],
  ...["cron_job", "cron_state", "cron_run", "child", "cost_line", "part_use"],
];

/** SQL for tables that are there and empty. What waits is a living gateway's, and a dead one's. */
export const FILL = `
  insert into node (id, address, version, ttl_ms, seen_at)
  select ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'node ' || n, '', 86400000,
    case n when 9 then now() - interval '1 year' else now() end
  from generate_series(1, 9) n;
  insert into session (agent_id, id, key, owner, epoch, step, head_seq, last_entry, head_line, turn, label)
  select 'main', 's' || n, 'k' || n,
    case when n % 100 = 1 then ('00000000-0000-0000-0000-00000000000' || (n % 9 + 1))::uuid end,
    1, 1, 1, 'e' || n, 1, case when n % 1000 = 1 then 'e' || n end, null
  from generate_series(1, ${MANY}) n;
  insert into entry (agent_id, session_id, seq, entry_id, role, ts, body)
  select 'main', 's' || n, 1, 'e' || n, 1, 0, '{"type":"message","id":"e' || n || '"}'
  from generate_series(1, ${MANY}) n;
  insert into entry (agent_id, session_id, seq, entry_id, role, ts, body)
  select 'main', 'long', n, 'l' || n, 1, 0, '{"type":"message","id":"l' || n || '"}'
  from generate_series(1, 20000) n;
  insert into session (agent_id, id, key, step, head_seq, last_entry)
  values ('main', 'long', 'long', 20000, 20000, 'l20000');
  insert into delivery (agent_id, session_id, line, engine_id, change)
  select 'main', 's' || n, 1, 'a', '{"kind":"x"}' from generate_series(1, ${MANY}) n;
  insert into part (agent_id, hash, body)
  select 'main', 'p' || n, 'body' from generate_series(1, ${MANY}) n;
  insert into part_use (agent_id, session_id, hash)
  select 'main', 's' || n, 'p' || n from generate_series(1, ${MANY}) n;
  insert into report (agent_id, session_id, step, turn, body, parts, is_told)
  select 'main', 's' || n, 1, 't' || n, '{"turnId":"t' || n || '"}', array['p' || n], true
  from generate_series(1, ${MANY}) n;
  insert into inbox (agent_id, key, id, place, node, message_id, body)
  select 'main', 'k' || n, 'm' || n, 1,
    ('00000000-0000-0000-0000-00000000000' || case when n % 1000 = 1 then 9 else n % 8 + 1 end)::uuid,
    'm' || n, '"m"'
  from generate_series(1, ${MANY}) n;
  insert into kept_file (home, place_id, piece, place, agent_id, session_id, kind, is_own, size, sha, changed_at, body)
  select 'home', 'id' || n, 0, 'place ' || n, 'main', case when n % 1000 > 0 then 's' || n end, 0,
    false, 4, 'sha', 0, '\\x01020304'
  from generate_series(1, ${MANY}) n;
  insert into copied (home, agent_id, session_id, print, step, line, key)
  select 'home', 'main', 's' || n, 'print', 1, 1, 'k' || n from generate_series(1, ${MANY}) n;
  insert into cron_job (id, created_at, body)
  select 'j' || n, n, '{}' from generate_series(1, ${MANY}) n;
  insert into cron_state (id, settled_until, asked_until)
  select 'j' || n, n, 0 from generate_series(1, ${MANY}) n;
  insert into cron_run (id, started_at, due, body)
  select 'j' || n % 100 + 1, n, n, '{}' from generate_series(1, ${MANY}) n;
  insert into child (agent_id, key, node, body)
  select 'main', 'k' || n, '00000000-0000-0000-0000-000000000001', '{}'
  from generate_series(1, ${MANY}) n;
  insert into cost_line (home, day, start, upto, body, put_at)
  select 'h' || n % 50, 'd' || n % 500, n, n + 1, '{}', now() - n * interval '1 s' from generate_series(1, ${MANY}) n;
  analyze node, ${LARGE.join(", ")};
`;
