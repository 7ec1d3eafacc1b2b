// Adds what an engine had beside a session in files when that was copied.

/** Null: nobody looked, or there was nothing. */
export const COPIED_ROWS = `
  -- SHA-256 of the rows that the engine of the home had for the session.
  alter table copied add column engine_rows text;
`;
