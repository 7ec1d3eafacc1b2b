// Adds what gateways wrote down of model calls.

/** A piece of a day's file of a home: whole lines, from one byte up to another. */
export const COSTS = `
  create table cost_line (
    home text not null,
    day text not null,
    start bigint not null,
    upto bigint not null,
    body text not null,
    primary key (home, day, start)
  );
`;
