// Adds which sessions name a part, so that it goes with the last of them.

/**
 * Reports of a gateway of the version before are not told here: they are read when a session of the
 * agent is removed. What came with a home before may be named by reports that are kept as files,
 * which nothing here can read: it stays. What no report named is what removed sessions left.
 */
export const PART_USES = `
  alter table report add column is_told boolean not null default true;
  alter table report alter column is_told set default false;
  create index report_untold on report (agent_id) where not is_told;

  create table part_use (
    agent_id text not null,
    session_id text not null,
    hash text not null
  );
  insert into part_use
    select distinct r.agent_id, r.session_id, n.hash from report r, unnest(r.parts) as n (hash);
  insert into part_use
    select p.agent_id, '', p.hash from part p
    where p.agent_id in (
      select k.agent_id from kept_file k where k.piece = 0 and k.place like 'agents/%/reports/%'
    );
  alter table part_use add primary key (agent_id, session_id, hash);
  create index part_use_hash on part_use (agent_id, hash);
  delete from part p where not exists (
    select 1 from part_use u where u.agent_id = p.agent_id and u.hash = p.hash
  );
`;
