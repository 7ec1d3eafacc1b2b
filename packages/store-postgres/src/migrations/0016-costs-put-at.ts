// Adds when what gateways wrote down of model calls was put there.

/** Whoever reads on asks for what came since; and days are read one by one. */
export const COSTS_PUT_AT = `
  alter table cost_line add column put_at timestamptz not null default now();
  create index cost_line_put_at on cost_line (put_at);
  create index cost_line_day on cost_line (day, home, start);
`;
