// Adds the words and texts of messages that searches find them by.

/** SQL: the words of a text of the index, which holds capitals, digits and ASCII signs only. */
export const WORDS = (text: string): string =>
  `array_to_tsvector(array_remove(regexp_split_to_array(${text}, '[^A-Z0-9]+'), ''))`;

/**
 * Filled behind the turns. The index of trigrams is made apart from this, as it needs an extension.
 * Its pending entries are read by every search, so there are few.
 */
export const SEARCH = `
  -- text is how the index spells what a message says. is_bulk: the text is left out, and the
  -- message is read to be searched.
  create table search (
    agent_id text not null,
    ts bigint not null,
    session_id text not null,
    seq bigint not null,
    is_bulk boolean not null,
    text text collate "C" not null,
    primary key (agent_id, ts, session_id, seq)
  );
  create index search_words on search using gin ((${WORDS("text")}))
    with (gin_pending_list_limit = 1024) where not is_bulk;
  create index search_bulk on search (agent_id, ts) where is_bulk;

  -- Up to which entry a session is in the index, and how many messages of it are.
  create table search_mark (
    agent_id text not null,
    session_id text not null,
    seq bigint not null,
    messages bigint not null,
    primary key (agent_id, session_id)
  );

  -- True: the index lacks entries. It changes at most twice in a turn, as turn does.
  alter table session add column is_behind boolean not null default false;
  update session set is_behind = true where head_seq > 0;
  create index session_behind on session (agent_id, id) where is_behind;
`;
