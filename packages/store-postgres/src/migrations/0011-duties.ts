// Adds what one gateway does for all of a database.

/** Of a gateway that is dead, or gone, it is anybody's. */
export const DUTIES = `
  create table duty (
    name text primary key,
    owner uuid not null
  );
`;
